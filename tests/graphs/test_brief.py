"""The graph that agents ask by a protocol: the answer in few words, of whatever technique."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragweave.graphs.ask_documents import graph
from ragweave.state.auto import TECHNIQUE_NAMES, AutoContext
from ragweave.state.brief import BriefAnswer
from tests.graphs.techniques import ANSWER, QUESTION, script
from tests.servers import OpenAIStub

ASKED: Any = {"question": QUESTION}


@pytest.mark.parametrize("technique", TECHNIQUE_NAMES)
async def test_an_agent_is_given_what_is_cited_and_no_more(
    technique: Any, town: str, openai_stub: OpenAIStub
) -> None:
    openai_stub.script = script
    context = AutoContext(index=town, model="openai:stub", techniques=[technique])
    events: list[Any] = []
    answer: Any = {}
    parts: Any = graph.astream(
        ASKED,
        context=context,
        stream_mode=["custom", "values"],
        output_keys=graph.output_channels,
    )
    async for mode, part in parts:
        if mode == "custom":
            events.append(part)
        else:
            answer = part
    assert set(answer) == set(BriefAnswer.__annotations__)
    assert answer["status"] == "answered"
    assert {"routed", "cited", "token"} <= {event["type"] for event in events}
    said = "".join(event["text"] for event in events if event["type"] == "token")
    assert answer["answer"] == said or "revised" in {event["type"] for event in events}
    numbers = [source["number"] for source in answer["sources"]]
    assert numbers == sorted(set(numbers))
    assert all(f"[{number}]" in answer["answer"] for number in numbers)
    assert all(source["place"] for source in answer["sources"])
    assert len(json.dumps(answer)) < 2_000
    if technique in ("crag", "rag_fusion", "citation"):
        assert answer["answer"].startswith(ANSWER.split(".")[0])


async def test_an_agent_is_told_what_goes_wrong_and_what_to_do(tmp_path: Path) -> None:
    answer = await graph.ainvoke(ASKED, context=AutoContext(index=f"lance:{tmp_path}/nowhere"))
    assert (answer["status"], answer["sources"]) == ("failed", [])
    assert answer["answer"].startswith("There is no index at")


def test_studio_can_open_the_router_within() -> None:
    assert [name for name, _ in graph.get_subgraphs()] == ["answer_briefly"]
