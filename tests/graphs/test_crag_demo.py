"""CRAG with the offline defaults over the demo corpus: it searches the web when it should."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from ragweave.graphs.crag import graph
from ragweave.state.crag import CragContext
from tests.servers import TavilyStub

AT_ONCE = 4


@pytest.fixture(scope="module")
def questions(data: Path) -> list[dict[str, Any]]:
    lines = (data / "demo" / "questions.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture
def recorded_web(tavily_stub: TavilyStub, data: Path) -> TavilyStub:
    """A web that knows the recorded answers."""
    tavily_stub.serve_fixtures(data / "demo" / "web_fixture.jsonl")
    return tavily_stub


async def answers(questions: list[dict[str, Any]], **context: Any) -> dict[str, dict[str, Any]]:
    """CRAG's output by question id."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def answer(question: str) -> dict[str, Any]:
        async with slots:
            return dict(await graph.ainvoke({"question": question}, context=CragContext(**context)))

    outputs = await asyncio.gather(*(answer(question["question"]) for question in questions))
    return dict(zip((question["id"] for question in questions), outputs, strict=True))


def on_peps_and_statutes(question: dict[str, Any]) -> bool:
    return question["type"] in ("single", "multi") and any(
        document.startswith(("peps/", "law_zh/")) for document in question["gold_docs"]
    )


async def test_what_the_corpus_answers_is_not_searched_for(
    demo_index: str, questions: list[dict[str, Any]], recorded_web: TavilyStub
) -> None:
    answerable = [question for question in questions if on_peps_and_statutes(question)]
    outputs = await answers(answerable, index=demo_index)
    assert len(answerable) == 27
    assert len(recorded_web.queries) <= 3, recorded_web.queries
    grounded = [
        id
        for id, output in outputs.items()
        if any(citation["status"] == "grounded" for citation in output["citations"])
    ]
    assert len(grounded) >= 24


async def test_what_it_does_not_answer_is_answered_from_the_web(
    demo_index: str, questions: list[dict[str, Any]], recorded_web: TavilyStub
) -> None:
    unanswerable = [question for question in questions if not question["answerable"]]
    outputs = await answers(unanswerable, index=demo_index)
    assert len(unanswerable) == 6
    assert len(recorded_web.queries) >= 5
    from_the_web = [
        id
        for id, output in outputs.items()
        if output["status"] == "answered"
        and {s["score_kind"] for s in output["sources"] if s["number"] in cited(output)} == {"web"}
    ]
    assert len(from_the_web) >= 5, {id: outputs[id]["answer"] for id in outputs}


async def test_without_the_web_it_says_that_there_is_no_evidence(
    demo_index: str, questions: list[dict[str, Any]]
) -> None:
    unanswerable = [question for question in questions if not question["answerable"]]
    outputs = await answers(unanswerable, index=demo_index, web_search="never")
    honest = [id for id, output in outputs.items() if output["status"] == "no_evidence"]
    assert len(honest) >= 5, {id: outputs[id]["answer"] for id in outputs}


def cited(output: dict[str, Any]) -> set[int | None]:
    return {citation["number"] for citation in output["citations"]}
