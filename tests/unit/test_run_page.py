"""The picture of a run: its tree as nested lists, and every text as text."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from ragweave.serving.drawing.run_page import run_page
from ragweave.state.records import no_usage

EVIL = '</p><script>alert(1)</script> "x" <b>'
VOID = {"meta", "meter", "br", "img", "input"}


def action(place: str, query: str, status: str = "answered", **more: Any) -> dict[str, Any]:
    parent = place.rpartition(".")[0] or None
    empty: dict[str, Any] = {
        "answer": None,
        "score": None,
        "reason": "",
        "source_ids": [],
        "usage": None,
    }
    return {"id": place, "parent_id": parent, "query": query, "status": status, **empty, **more}


def saved(**more: Any) -> dict[str, Any]:
    source = {"number": 1, "id": "s", "title": "T", "text": "words", "url": None, "path": "a.md"}
    answer = {
        "technique": "drift",
        "status": "answered",
        "answer": "It is so [1], and so [7].",
        "citations": [{"source_id": "s", "quote": "words"}],
        "sources": [{**source, "page": None}],
        "usage": no_usage(),
        "warnings": [],
    }
    return {**answer, **more}


class Outline(HTMLParser):
    """Tags in balance, and the questions with how deep they are nested in lists."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.questions: list[tuple[int, str]] = []
        self.scripts = 0
        self._open: list[str] = []
        self._asking = False
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID - {"meter"}:
            self._open.append(tag)
        self.scripts += tag == "script"
        self._asking = ("class", "query") in attrs

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        self._asking = False

    def handle_data(self, data: str) -> None:
        if self._asking:
            self.questions.append((self._open.count("ul"), data))


def test_questions_stand_below_the_answer_that_suggested_them() -> None:
    nodes = [
        action("0", "root", answer="wide", score=40.0),
        action("0.0", "first", answer="one", score=80.0),
        action("0.1", "second", "failed", reason="no answer"),
        action("0.0.0", "deeper", "dropped", reason="asked before"),
    ]

    html = run_page(saved(tree={"nodes": nodes, "edges": []}), "root")

    outline = [(1, "root"), (2, "first"), (3, "deeper"), (2, "second")]
    assert Outline(html).questions == outline
    assert '<meter min="0" max="100" value="80"></meter>80' in html
    assert '<details class="failed">' in html
    assert "asked before" in html


def test_citations_lead_to_their_sources() -> None:
    html = run_page(saved(), "Is it so?")

    assert '<a href="#source-1">[1]</a>, and so [7]' in html
    assert '<details id="source-1" open><summary>[1] T, a.md</summary>' in html
    assert "<blockquote>words</blockquote>" in html


def test_steps_and_cost_are_tables() -> None:
    stage = {"calls": 2, "input_tokens": 1500, "output_tokens": 3, "seconds": 0.25}
    usage = {**no_usage(), **stage, "stages": {"answer": stage}}

    html = run_page(saved(usage=usage), "q", [(0.0, "retrieved", "3 chunks")])

    assert "<td>0.0 s</td><td>retrieved</td><td>3 chunks</td>" in html
    assert "<td>answer</td><td>2</td><td>1,500</td><td>3</td><td>0.2</td>" in html
    assert "drift · answered · 2 model calls · 1,503 tokens" in html


def test_whatever_was_said_is_text() -> None:
    nodes = [action("0", EVIL, EVIL, answer=EVIL, reason=EVIL)]
    source = {**saved()["sources"][0], "title": EVIL, "text": EVIL, "url": "javascript:alert(1)"}
    said = saved(answer=EVIL, warnings=[EVIL], sources=[source], tree={"nodes": nodes, "edges": []})

    html = run_page(said, EVIL, [(0.0, EVIL, EVIL)])

    assert Outline(html).scripts == 2
    assert "<b>" not in html
    assert "alert(1)</script>" not in html
    assert 'href="javascript' not in html


def test_a_tree_of_many_levels_is_drawn() -> None:
    nodes = [action("0" + ".0" * depth, f"level {depth}") for depth in range(2_000)]

    assert len(Outline(run_page(saved(tree={"nodes": nodes}), "q")).questions) == 2_000
