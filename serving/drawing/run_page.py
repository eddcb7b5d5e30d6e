"""The page that shows one run: its answer, the tree of questions, steps, cost and sources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from ragweave.nodes.citations.cited import place
from ragweave.serving.answer import cost, is_web_address
from ragweave.serving.drawing.page import page

Step = tuple[float, str, str]
"""Seconds since the start, what kind of step it was, and what happened, as text."""

_MARKER = re.compile(r"\[(\d+)\]")
_BODY = """<header>
<h1>{title}</h1>
<p>{facts}</p>
<button id="theme" type="button" title="Dark or light">◐</button>
</header>
<main class="run">
{sections}
</main>"""


def run_page(answer: Mapping[str, Any], question: str, steps: Sequence[Step] = ()) -> str:
    """The page of an answer, as `ask --json` prints it; steps where they are known."""
    sections = [
        _section("Question", f'<p class="question">{escape(question)}</p>'),
        _section("Answer", _answer(answer)),
        _section("Warnings", _list(answer["warnings"])),
        _section("Questions followed", _tree(answer.get("tree") or {})),
        _section("Steps", _steps(steps)),
        _section("Cost", _cost(answer["usage"])),
        _section("Sources", "".join(_source(answer, source) for source in answer["sources"])),
    ]
    body = _BODY.format(
        title=escape(question), facts=escape(_facts(answer)), sections="\n".join(sections)
    )
    return page(title=question, body=body, styles=["page.css", "run.css"], scripts=["page.js"])


def _section(heading: str, content: str) -> str:
    return f"<section>\n<h2>{heading}</h2>\n{content}\n</section>" if content else ""


def _facts(answer: Mapping[str, Any]) -> str:
    return " · ".join([answer["technique"], answer["status"], *cost(answer)])


def _answer(answer: Mapping[str, Any]) -> str:
    numbers = {source["number"] for source in answer["sources"]}

    def link(match: re.Match[str]) -> str:
        known = int(match[1]) in numbers
        return f'<a href="#source-{match[1]}">[{match[1]}]</a>' if known else match[0]

    text = _MARKER.sub(link, escape(answer["answer"]))
    return f'<div class="text">{text}</div>' if text else ""


def _tree(tree: Mapping[str, Any]) -> str:
    """The actions as nested lists: below each answer the questions that it suggested."""
    below: dict[str | None, list[Mapping[str, Any]]] = {}
    for node in tree.get("nodes", ()):
        below.setdefault(node["parent_id"], []).append(node)
    parts: list[str] = []
    waiting: list[Mapping[str, Any] | str] = [*reversed(below.get(None, []))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            parts.append(node)
            continue
        parts.append(f"<li>{_action(node)}")
        children = below.get(node["id"], [])
        if children:
            parts.append("<ul>")
        waiting.append("</ul></li>" if children else "</li>")
        waiting.extend(reversed(children))
    return f'<ul class="tree">{"".join(parts)}</ul>' if parts else ""


def _action(node: Mapping[str, Any]) -> str:
    status, score = escape(node["status"]), node["score"]
    meter = "" if score is None else f'<meter min="0" max="100" value="{float(score):g}"></meter>'
    shown = "" if score is None else f"{float(score):.0f}"
    lines = [_paragraph(node["reason"], "reason"), _paragraph(node["answer"], "text")]
    if usage := node.get("usage"):
        tokens = usage["input_tokens"] + usage["output_tokens"]
        cost = f"{len(node['source_ids'])} records seen · {tokens:,} tokens"
        lines.append(_paragraph(cost, "reason"))
    opened = " open" if node["parent_id"] is None else ""
    return (
        f'<details class="{status}"{opened}><summary><span class="score">{meter}{shown}</span>'
        f'<span class="query">{escape(node["query"])}</span> '
        f'<span class="status">{status}</span></summary>{"".join(lines)}</details>'
    )


def _paragraph(text: str | None, kind: str) -> str:
    return f'<p class="{kind}">{escape(text)}</p>' if text else ""


def _steps(steps: Iterable[Step]) -> str:
    rows = [
        f"<tr><td>{at:.1f} s</td><td>{escape(kind)}</td><td>{escape(text)}</td></tr>"
        for at, kind, text in steps
    ]
    return f'<table class="steps">{"".join(rows)}</table>' if rows else ""


def _cost(usage: Mapping[str, Any]) -> str:
    """Calls, tokens and seconds by stage; the seconds of calls at the same time add up."""
    rows = [
        f"<tr><td>{escape(stage)}</td><td>{cost['calls']:,}</td><td>{cost['input_tokens']:,}</td>"
        f"<td>{cost['output_tokens']:,}</td><td>{cost['seconds']:.1f}</td></tr>"
        for stage, cost in usage["stages"].items()
    ]
    head = "<tr><th>Stage</th><th>Calls</th><th>Tokens in</th><th>Tokens out</th><th>Seconds</th>"
    return f'<table class="cost">{head}</tr>{"".join(rows)}</table>' if rows else ""


def _source(answer: Mapping[str, Any], source: Mapping[str, Any]) -> str:
    name = escape(place(source))  # type: ignore[arg-type]
    address = ""
    if is_web_address(source["url"]):
        href = escape(source["url"])
        address = f'<p><a href="{href}" rel="noopener noreferrer">{href}</a></p>'
    quotes = {
        citation["quote"]: None
        for citation in answer["citations"]
        if citation["source_id"] == source["id"] and citation["quote"]
    }
    marked = "".join(f"<blockquote>{escape(quote)}</blockquote>" for quote in quotes)
    return (
        f'<details id="source-{int(source["number"])}"{" open" if quotes else ""}>'
        f"<summary>[{int(source['number'])}] {name}</summary>{address}{marked}"
        f'<details><summary class="reason">whole text</summary>'
        f'<p class="text">{escape(source["text"])}</p></details></details>'
    )


def _list(texts: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in texts)}</ul>" if texts else ""
