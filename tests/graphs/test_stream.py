"""A question as a stream of steps, tokens and the answer, with and without `await`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from ragweave.serving import Answer, aask, astream, blocking, stream
from ragweave.serving.techniques import load
from ragweave.state.errors import InvalidSetting
from ragweave.state.events import StepEvent
from tests.graphs.conftest import Library
from tests.graphs.techniques import QUESTION, THOROUGH, script
from tests.servers import OpenAIStub, schema_of

LAMPS = ["The brass lamp weighs 3 kg.", "The iron lamp weighs 9 kg."]
WEIGHT = "What does the brass lamp weigh?"
TECHNIQUES = ["crag", "rag_fusion", "longrag", "citation", "auto"]
SAID = "It weighs 3 kg [1], [Source 1]. No doubt [99]."


@pytest.fixture(scope="module", autouse=True)
def imported() -> None:
    for technique in (*TECHNIQUES, "local_search", "drift"):
        load(technique)


@pytest.fixture
def model(openai_stub: OpenAIStub) -> str:
    """A model that cites in several forms, and once a source that there is not."""

    def script(request: dict[str, Any]) -> Any:
        match schema_of(request):
            case "DocumentGrade":
                return {"reason": "so", "verdict": "relevant"}
            case "SearchQueries":
                return {"reason": "", "kind": "paraphrase", "queries": ["brass lamp"]}
        return SAID

    openai_stub.script = script
    return "openai:stub"


def shown(parts: Iterable[StepEvent | Answer]) -> tuple[str, Answer]:
    """What a reader sees at the end, and the answer, which comes last and once."""
    *events, answer = parts
    assert isinstance(answer, Answer)
    text = ""
    for event in events:
        assert not isinstance(event, Answer)
        if event["type"] == "token":
            text += event["text"]
        elif event["type"] == "revised":
            text = event["answer"]
    return text.strip(), answer


@pytest.mark.parametrize("technique", TECHNIQUES)
async def test_the_stream_says_what_the_answer_says(
    library: Library, model: str, technique: str
) -> None:
    index = await library(LAMPS)
    asked = astream(WEIGHT, technique=technique, index=index, model=model)
    parts = [part async for part in asked]
    text, answer = shown(parts)
    assert text == answer["answer"]
    assert answer["invalid_markers"]
    assert "[99]" not in text
    assert "It weighs 3 kg [1]" in text


@pytest.mark.parametrize("technique", ["local_search", "drift"])
async def test_the_stream_of_a_graph_search_says_what_the_answer_says(
    town: str, openai_stub: OpenAIStub, technique: str
) -> None:
    openai_stub.script = lambda request: script(request) if schema_of(request) else SAID
    settings = {"index": town, "model": "openai:stub", **THOROUGH[technique]}
    parts = [part async for part in astream(QUESTION, technique=technique, **settings)]
    text, answer = shown(parts)
    assert text == answer["answer"]
    assert answer["invalid_markers"] == ["[99]"]
    assert answer["status"] == "answered"
    assert "It weighs 3 kg [1]" in text


def blocking_parts(settings: dict[str, Any]) -> list[StepEvent | Answer]:
    return list(stream(WEIGHT, **settings))


async def test_the_same_without_await(library: Library, model: str) -> None:
    settings = {"technique": "citation", "index": await library(LAMPS), "model": model}
    text, answer = shown(await asyncio.to_thread(blocking_parts, settings))
    assert text == answer["answer"]
    assert "It weighs 3 kg [1]" in text
    with pytest.raises(InvalidSetting, match="no technique"):
        await asyncio.to_thread(blocking_parts, {"technique": "crga"})


async def test_who_leaves_a_stream_ends_it() -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def endless() -> Any:
        number = 0
        try:
            while True:
                yield number
                number += 1
                await asyncio.sleep(0)
        finally:
            loop.call_soon_threadsafe(ended.set)

    def first() -> int:
        for number in blocking.iterate(endless()):
            return int(number)
        raise AssertionError("nothing came")

    assert await asyncio.to_thread(first) == 0
    async with asyncio.timeout(10):
        await ended.wait()


async def test_a_question_within_a_graph_leaves_nothing_in_its_thread(library: Library) -> None:
    """One that is asked by `aask` in a node is a part of that run."""
    index = await library(LAMPS)

    class Outer(TypedDict):
        answer: str

    async def ask_documents(state: Outer) -> Outer:
        answer = await aask(WEIGHT, technique="citation", index=index)
        return {"answer": answer["answer"]}

    builder = StateGraph(Outer)
    builder.add_node("ask_documents", ask_documents)
    builder.add_edge(START, "ask_documents")
    saver = InMemorySaver()
    outer = builder.compile(checkpointer=saver)
    config = RunnableConfig(configurable={"thread_id": "outer"})
    assert "3 kg [1]" in (await outer.ainvoke({"answer": ""}, config))["answer"]
    kept: AsyncIterator[Any] = saver.alist(None)
    assert {entry.config["configurable"]["thread_id"] async for entry in kept} == {"outer"}
