"""The router: which technique it picks, and that it runs it as if it had been asked itself."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from ragweave.graphs.auto import build, graph
from ragweave.models.embedding import embed_query
from ragweave.nodes.group_units import build_units
from ragweave.state.auto import AutoContext, AutoOutput
from ragweave.state.errors import IndexMissing, InvalidQuestion
from ragweave.state.units import UnitsContext
from ragweave.stores import open_index
from ragweave.stores.base import IndexSpec
from ragweave.stores.graph import Entity, GraphChanges, GraphTables
from ragweave.stores.lance.graph import LanceGraph
from tests.graphs.conftest import Library
from tests.graphs.running import run
from tests.servers import OpenAIStub, TavilyStub, schema_of, web_result

LAMPS = ["The brass lamp weighs 3 kg.", "The iron lamp weighs 9 kg.", "The owner is Ada Quill."]
WEIGHT = "What does the brass lamp weigh?"
THREAD = RunnableConfig(configurable={"thread_id": "1"})


async def test_it_runs_the_technique_that_it_picked(library: Library) -> None:
    index = await library(LAMPS)
    asked = "What does the brass lamp weigh, and who is the owner?"
    result = await run(build(), asked, {"index": index})
    assert set(AutoOutput.__annotations__) <= set(result.output)
    assert result.output["technique"] == "rag_fusion"
    assert result.output["reason"] == (
        "The question has several sides (and who); each side is searched for."
    )
    assert result.state["abilities"]["units"] is result.state["abilities"]["graph"] is False
    assert "3 kg" in result.output["answer"]
    assert result.output["status"] == "answered"
    assert [message.type for message in result.output["messages"]] == ["human", "ai"]
    first, *others = result.events
    assert (first["type"], first["technique"], first["choice"]) == ("routed", "auto", "rag_fusion")
    assert {event["technique"] for event in others} == {"rag_fusion"}
    assert result.streamed.strip() == result.output["answer"]


async def test_the_technique_gets_settings_and_budget(
    library: Library, openai_stub: OpenAIStub
) -> None:
    openai_stub.script = lambda request: (
        {"reason": "so", "verdict": "relevant"}
        if schema_of(request) == "DocumentGrade"
        else "It weighs 3 kg [1]."
    )
    settings = {"index": await library(LAMPS), "model": "openai:stub", "techniques": ["crag"]}
    result = await run(build(), WEIGHT, {**settings, "top_k": 2, "web_search": "never"})
    assert result.output["usage"]["calls"] == len(openai_stub.chats) == 3
    assert set(result.output["usage"]["stages"]) == {"grade", "answer"}
    none = await run(build(), WEIGHT, {**settings, "max_model_calls": 0})
    assert len(openai_stub.chats) == 3
    assert none.output["status"] == "partial"
    assert "max_model_calls is 0" in none.output["warnings"][0]


async def test_a_follow_up_is_routed_anew_and_condensed_once(
    library: Library, openai_stub: OpenAIStub
) -> None:
    def script(request: dict[str, Any]) -> Any:
        match schema_of(request):
            case "StandaloneQuestion":
                return {"question": "What does the iron lamp weigh?"}
            case "SearchQueries":
                return {"reason": "", "kind": "decompose", "queries": ["lamp weight", "owner"]}
        return "The lamp weighs 3 kg [1]."

    openai_stub.script = script
    routed = build().compile(checkpointer=InMemorySaver())
    context = AutoContext(index=await library(LAMPS), model="openai:stub")
    first = await routed.ainvoke(
        {"question": "What does the brass lamp weigh, and who is the owner?"},
        THREAD,
        context=context,
    )
    second = await routed.ainvoke({"question": "And the iron lamp?"}, THREAD, context=context)
    assert (first["technique"], second["technique"]) == ("rag_fusion", "citation")
    assert second["usage"]["stages"]["condense"]["calls"] == 1
    assert second["usage"]["calls"] == len(openai_stub.chats) - first["usage"]["calls"]
    assert [m.type for m in second["messages"]] == ["human", "ai", "human", "ai"]
    state = (await routed.aget_state(THREAD)).values
    assert len(state["decisions"]) == 1


async def test_a_pause_within_the_technique_goes_on_without_a_context(
    library: Library, tavily_stub: TavilyStub
) -> None:
    """The context is not in a checkpoint; the index comes from the state."""
    tavily_stub.search = lambda request: [web_result("Madrid is the capital of Spain.")]
    routed = build().compile(checkpointer=InMemorySaver())
    context = AutoContext(index=await library(LAMPS), web_search="ask")
    asked = "What is the capital of Spain?"
    paused = await routed.ainvoke({"question": asked}, THREAD, context=context)
    assert paused["__interrupt__"][0].value["query"]
    answer = await routed.ainvoke(Command(resume=True), THREAD)
    assert answer["technique"] == "crag"
    assert "Madrid" in answer["answer"]
    assert tavily_stub.queries


async def test_a_person_picks_the_sources_of_what_was_picked(library: Library) -> None:
    routed = build().compile(checkpointer=InMemorySaver())
    context = AutoContext(index=await library(LAMPS), pick_sources=True)
    await routed.ainvoke({"question": WEIGHT}, THREAD, context=context)
    answer = await routed.ainvoke(Command(resume=[1]), THREAD)
    assert (answer["technique"], len(answer["sources"])) == ("citation", 1)


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, without an index."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def test_what_is_not_there(empty_folder: Path) -> None:
    with pytest.raises(InvalidQuestion):
        await graph.ainvoke({"question": " "})
    with pytest.raises(IndexMissing, match="nowhere"):
        await graph.ainvoke({"question": WEIGHT}, context=AutoContext(index="lance:nowhere"))
    output = await graph.ainvoke({"question": WEIGHT})
    assert (output["technique"], output["status"]) == ("crag", "no_evidence")
    assert "ragweave ingest" in " ".join(output["warnings"])


async def test_a_graph_without_documents_is_searched_locally(data: Path) -> None:
    context = AutoContext(index=f"graphrag:{data / 'graphrag/dulce'}", embeddings="offline")
    output = await graph.ainvoke({"question": "Who leads the squad?"}, context=context)
    assert output["technique"] == "local_search"
    assert output["sources"]


@pytest.fixture(scope="module")
def everything(demo_index: str) -> str:
    """The demo corpus with retrieval units and, for what it says of itself, a knowledge graph."""

    async def add() -> None:
        await build_units(await open_index(demo_index), UnitsContext())
        knowledge = LanceGraph.from_url(demo_index)
        await knowledge.ensure(IndexSpec(dimension=256, embeddings="offline"))
        scrooge = Entity(id="e1", number=0, title="SCROOGE", type="PERSON", description="A miser")
        vectors = {"e1": await embed_query(scrooge.embedded_text, embeddings="offline")}
        tables = GraphTables(entities=(scrooge,))
        await knowledge.write(GraphChanges(tables, vectors={"entities": vectors}))

    asyncio.run(add())
    return demo_index


@pytest.fixture(scope="module")
def questions(data: Path) -> list[dict[str, Any]]:
    """The demo questions, each with the techniques that suit it."""
    lines = (data / "demo/questions.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.slow
async def test_most_picks_suit_the_question(
    everything: str, questions: list[dict[str, Any]]
) -> None:
    choosing = build().compile(checkpointer=InMemorySaver(), interrupt_after=["choose_technique"])
    context = AutoContext(index=everything)
    picked: dict[str, str] = {}
    for question in questions:
        config = RunnableConfig(configurable={"thread_id": question["id"]})
        await choosing.ainvoke({"question": question["question"]}, config, context=context)
        state = (await choosing.aget_state(config)).values
        assert state["abilities"]["units"]
        assert state["abilities"]["graph"]
        picked[question["id"]] = state["technique"].removeprefix("rag_")
    wrong = {q["id"]: picked[q["id"]] for q in questions if picked[q["id"]] not in q["techniques"]}
    assert len(wrong) <= 0.2 * len(questions), wrong
