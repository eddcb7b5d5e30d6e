"""How steps, answer and sources look on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ragweave.nodes.citations.cited import place
from ragweave.serving.answer import cost
from ragweave.serving.cli.screen import clean, err, one_line, out, warn
from ragweave.serving.cli.tree import ActionTree

if TYPE_CHECKING:
    from ragweave.serving.answer import Answer
    from ragweave.serving.streaming import Approve
    from ragweave.state.events import StepEvent
    from ragweave.state.records import Citation

QUERY, TITLE, REASON, QUOTE = 100, 40, 120, 200
"""Characters shown of a query, of a title, of a reason and of a quote."""

STEPS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "routed": lambda e: f"{e['choice']}: {one_line(e['reason'], REASON)}",
    "retrieved": lambda e: f"{len(e['ids'])} chunks for {one_line(e['query'], QUERY)}",
    "graded": lambda e: (
        f"{e['grade']}: {one_line(e['title'] or e['id'], TITLE)}: {one_line(e['reason'], REASON)}"
    ),
    "rewrote": lambda e: one_line(e["query"], QUERY),
    "searched_web": lambda e: f"{e['count']} results for {one_line(e['query'], QUERY)}",
    "expanded": lambda e: f"{e['kind']}: {one_line(' | '.join(e['queries']), QUERY)}",
    "fused": lambda e: f"{len(e['ids'])} chunks by {e['method']}",
    "hypothesized": lambda e: one_line(e["text"], QUERY),
    "primed": lambda e: f"fold {e['fold']}, {len(e['follow_ups'])} follow-up questions",
    "follow_up": lambda e: f"{e['status']}: {one_line(e['query'], QUERY)}",
    "reduced": lambda e: f"{e['count']} partial answers merged",
    "cited": lambda e: (
        ", ".join(
            f"{e[status]} {status}"
            for status in ("grounded", "ungrounded", "missing", "invalid")
            if e[status]
        )
        or "no citations"
    ),
    "budget": lambda e: f"{e['limit']} reached ({e['used']:g})",
}

LABELS = {
    "grounded": "quote",
    "ungrounded": "not supported by this source",
    "missing": "Without a citation",
}
STYLES = {"grounded": "green", "ungrounded": "yellow", "missing": "yellow"}


class Page:
    """What is on the screen while an answer is being made."""

    def __init__(self, *, steps: bool, text: bool) -> None:
        self._steps = steps
        self._text = text
        self._written = ""
        self._tree = ActionTree(err)

    def show(self, event: StepEvent) -> None:
        """Show one event as it happens."""
        if event["type"] == "token":
            self._write(event["text"])
        elif event["type"] == "revised":
            self._revise(event["answer"], event["reason"])
        elif self._steps:
            self._step(event)

    def end(self, answer: Answer) -> None:
        """Finish the answer's text, which a technique may not have streamed."""
        self._tree.end()
        if self._written.strip() != answer["answer"].strip():
            self._revise(answer["answer"], "")
        if self._text:
            out.print()

    def asking(self, approve: Approve) -> Approve:
        """`approve`, asked below what is on the screen."""

        async def asked(question: Mapping[str, Any]) -> object:
            self._tree.pause()
            return await approve(question)

        return asked

    def _step(self, event: StepEvent) -> None:
        if self._written:
            return
        if event["type"] == "follow_up":
            self._tree.show(event)
            return
        if event["type"] == "reduced":
            self._tree.end()
        describe = STEPS.get(event["type"])
        if describe is not None:
            text = describe(event)
            err.print(
                f"{event['at']:6.1f}s  {event['type'].replace('_', ' '):<12} {text}", style="dim"
            )

    def _write(self, text: str) -> None:
        if self._text:
            if not self._written:
                self._tree.end()
                out.print()
            out.out(clean(text), end="", highlight=False)
            out.file.flush()
        self._written += text

    def _revise(self, answer: str, reason: str) -> None:
        if self._text and self._written:
            out.print(f"\n\nRevised. {one_line(reason)}", style="bold")
        self._written = ""
        self._write(answer)
        self._written = answer


def show_answer(answer: Answer) -> None:
    """Who wrote it, sources with what they support, warnings, and what the answer cost."""
    if answer.quoted:
        err.print(f"\n{answer.quoted}", style="dim")
    if answer.cited:
        out.print("\nSources", style="bold")
    for source in answer.cited:
        out.print(f"[{source['number']}] {one_line(place(source))}")
        for citation in answer.quotes(source):
            _show_citation(citation)
    for citation in answer["citations"]:
        if citation["status"] == "missing":
            _show_citation(citation, indent="")
    if answer["invalid_markers"]:
        removed = one_line(" ".join(answer["invalid_markers"]), QUOTE)
        out.print(f"Removed, since they name no source: {removed}", style="yellow")
    for warning in answer["warnings"]:
        warn(warning)
    err.print(
        f"\n{answer['technique']}: {answer['status']}; {', '.join(cost(answer))}", style="dim"
    )


def _show_citation(citation: Citation, indent: str = "    ") -> None:
    status = citation["status"]
    said = citation["quote"] if status == "grounded" else citation["sentence"]
    line = f"{indent}{LABELS[status]}: {one_line(said or '', QUOTE)}"
    out.print(line, style=STYLES[status])
