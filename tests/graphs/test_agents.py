"""Techniques as tools of agents and as sub-agents, in agents that run."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest
from deepagents import CompiledSubAgent, create_deep_agent
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from ragweave.serving import agents, aingest, as_subagent, as_tool
from ragweave.serving.agents import CitedAnswer, SubAgent
from ragweave.serving.searchable import expect_searchable
from ragweave.serving.techniques import TECHNIQUES, load
from ragweave.state.base import Output
from ragweave.state.errors import InvalidSetting
from tests.graphs.agent_script import ScriptedAgentModel
from tests.graphs.conftest import Library
from tests.servers import TavilyStub, web_result

LAMPS = ["The brass lamp weighs 3 kg.", "The iron lamp weighs 9 kg."]
CHINESE = ["灯塔每十二秒闪光一次。", "守塔人每天清晨五点熄灯。"]
WEIGHT = "What does the brass lamp weigh?"
IRON = "What does the iron lamp weigh?"
ASKED: Any = {"messages": [HumanMessage("Tell me about lamps.")]}
THREAD = RunnableConfig(configurable={"thread_id": "1"})


@pytest.fixture(scope="module", autouse=True)
def imported() -> None:
    """The graphs, as an application that makes its tools at the start has them."""
    for technique in TECHNIQUES:
        load(technique)


def agent_asking(*questions: str, tool: Any, **settings: Any) -> Any:
    """An agent that asks a tool these questions, all at once."""
    calls = [(tool.name, {"question": question}) for question in questions]
    return create_agent(ScriptedAgentModel(calls=calls), [tool], **settings)


def results(state: Any) -> list[ToolMessage]:
    return [message for message in state["messages"] if isinstance(message, ToolMessage)]


# --- tools -----------------------------------------------------------------------------------


async def test_a_tool_says_what_it_is_for(library: Library) -> None:
    tool = as_tool("citation", about="old lamps", index=await library(LAMPS))
    model = ScriptedAgentModel(calls=[])
    await create_agent(model, [tool]).ainvoke(ASKED)
    told = model.tools["ask_citation"]
    assert told["description"].startswith("Answers a question about old lamps.")
    assert "sentence" in told["description"]
    question = told["parameters"]["properties"]["question"]
    assert "complete question" in question["description"]
    assert told["parameters"]["required"] == ["question"]


async def test_a_tool_gives_text_to_the_agent_and_the_output_to_the_program(
    library: Library,
) -> None:
    tool = as_tool("crag", index=await library(LAMPS), web_search="never")
    message = results(await agent_asking(WEIGHT, tool=tool).ainvoke(ASKED))[0]
    assert message.text == "The brass lamp weighs 3 kg [1].\n\nSources:\n[1] Document 1, d1.txt"
    artifact = message.artifact
    assert set(artifact) == {*Output.__annotations__, "technique"} - {
        "messages",
        "structured_response",
    }
    assert artifact["citations"][0]["quote"] == "The brass lamp weighs 3 kg."


@pytest.mark.parametrize("checkpointer", ["none", "memory", "sqlite"])
async def test_a_tool_serves_an_agent_without_await(
    library: Library, tmp_path: Path, checkpointer: str
) -> None:
    tool = as_tool("auto", index=await library(LAMPS))

    def invoke() -> Any:
        with closing(sqlite3.connect(tmp_path / "agent.db", check_same_thread=False)) as opened:
            savers = {"none": None, "memory": InMemorySaver(), "sqlite": SqliteSaver(opened)}
            agent = agent_asking(WEIGHT, IRON, tool=tool, checkpointer=savers[checkpointer])
            return agent.invoke(ASKED, THREAD)

    brass, iron = results(await asyncio.to_thread(invoke))
    assert "3 kg [1]" in brass.text
    assert "9 kg [1]" in iron.text


async def test_two_calls_at_once_are_kept_apart_and_shown(library: Library) -> None:
    tool = as_tool("rag_fusion", index=await library(LAMPS))
    agent = agent_asking(WEIGHT, IRON, tool=tool, checkpointer=InMemorySaver())
    shown: list[dict[str, Any]] = []
    state: Any = {}
    async for mode, part in agent.astream(ASKED, THREAD, stream_mode=["custom", "values"]):
        if mode == "custom":
            shown.append(part)
        else:
            state = part
    brass, iron = results(state)
    assert "3 kg [1]" in brass.text
    assert "9 kg [1]" in iron.text
    assert [event["type"] for event in shown].count("fused") == 2
    kept = (await agent.aget_state(THREAD)).values
    assert results(kept)[0].artifact == brass.artifact


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("empty_folder")
async def test_an_agent_is_told_that_there_is_no_index_yet() -> None:
    agent = create_agent(
        ScriptedAgentModel(calls=[("ask_crag", {"question": WEIGHT})]), [as_tool()]
    )
    (missing,) = results(await agent.ainvoke(ASKED))
    assert missing.status == "error"
    assert "`ragweave ingest PATH` makes one" in missing.text


@pytest.mark.usefixtures("empty_folder")
async def test_a_missing_index_is_looked_for_only_where_nothing_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    async def looking(technique: str, settings: Any) -> None:
        looked.append(technique)
        await expect_searchable(technique, settings)

    monkeypatch.setattr(agents, "expect_searchable", looking)
    tool = as_tool("rag_fusion")

    async def ask(question: str) -> ToolMessage:
        call = {"name": tool.name, "args": {"question": question}, "id": "1", "type": "tool_call"}
        message: ToolMessage = await tool.ainvoke(call)
        return message

    for _ in range(2):  # made, and made again where it was deleted
        missing = await ask(WEIGHT)
        assert (missing.status, len(looked)) == ("error", 1)
        assert "`ragweave ingest PATH` makes one" in missing.text
        looked.clear()
        await aingest(documents=[Document(LAMPS[0], id="lamp")])
        assert "3 kg [1]" in (await ask(WEIGHT)).text
        assert looked == []
        await asyncio.to_thread(shutil.rmtree, tmp_path / ".ragweave")


async def test_what_goes_wrong_is_told_to_the_agent(library: Library, tmp_path: Path) -> None:
    nowhere = as_tool("crag", index=f"lance:{tmp_path}/nowhere")
    there = as_tool("crag", name="ask", index=await library(LAMPS))
    calls = [("ask_crag", {"question": WEIGHT}), ("ask", {"question": " "}), ("ask", {"q": "?"})]
    agent = create_agent(ScriptedAgentModel(calls=calls), [nowhere, there])
    missing, empty, wrong = results(await agent.ainvoke(ASKED))
    assert {missing.status, empty.status, wrong.status} == {"error"}
    assert "There is no index" in missing.text
    assert "The question is empty" in empty.text
    assert "question: Field required" in wrong.text


def test_mistakes_are_noticed_when_the_tool_is_made() -> None:
    with pytest.raises(InvalidSetting, match='no technique "crga"'):
        as_tool("crga")
    with pytest.raises(InvalidSetting, match='no setting of crag "topk"'):
        as_tool("crag", topk=3)
    with pytest.raises(InvalidSetting, match="top_k"):
        as_subagent("crag", top_k=0)


async def test_a_tool_can_pause_its_agent(library: Library, tavily_stub: TavilyStub) -> None:
    tavily_stub.search = lambda request: [web_result("Madrid is the capital of Spain.")]
    tool = as_tool("crag", index=await library(LAMPS), web_search="ask", max_rewrites=1)
    spain = "What is the capital of Spain?"
    agent = agent_asking(spain, tool=tool, checkpointer=InMemorySaver())
    paused = await agent.ainvoke(ASKED, THREAD)
    assert paused["__interrupt__"][0].value["question"] == spain
    assert tavily_stub.queries == []
    state = await agent.ainvoke(Command(resume="Spain capital"), THREAD)
    assert tavily_stub.queries == ["Spain capital"]
    assert "Madrid" in results(state)[0].text


# --- sub-agents ------------------------------------------------------------------------------


def deep_agent(task: str, subagent: SubAgent) -> Any:
    """A deep agent that hands one task to a sub-agent."""
    calls = [("task", {"description": task, "subagent_type": subagent["name"]})]
    model = ScriptedAgentModel(calls=calls)
    compiled = cast("CompiledSubAgent", subagent)
    return create_deep_agent(model=model, subagents=[compiled]), model


@pytest.mark.parametrize("awaited", [True, False])
async def test_a_deep_agent_is_handed_a_cited_answer(library: Library, awaited: bool) -> None:
    subagent = as_subagent("citation", about="lighthouses", index=await library(CHINESE))
    agent, model = await asyncio.to_thread(deep_agent, "灯塔多久闪光一次？", subagent)
    state = await (agent.ainvoke(ASKED) if awaited else asyncio.to_thread(agent.invoke, ASKED))
    assert "Answers a question about lighthouses." in json.dumps(dict(model.tools["task"]))
    text = results(state)[0].text
    assert "十二秒" in text
    answer = CitedAnswer.model_validate_json(text)
    assert (answer.status, answer.sources[0].place) == ("answered", "Document 1, d1.txt")
    assert answer.sources[0].quotes == [CHINESE[0]]


async def test_a_deep_agent_is_told_what_goes_wrong(tmp_path: Path) -> None:
    subagent = as_subagent("crag", index=f"lance:{tmp_path}/nowhere")
    agent, _ = await asyncio.to_thread(deep_agent, WEIGHT, subagent)
    assert "There is no index" in results(await agent.ainvoke(ASKED))[0].text


async def test_a_subagent_answers_the_last_message(library: Library) -> None:
    subagent = as_subagent("crag", name="lamps", index=await library(LAMPS), web_search="never")
    assert subagent["name"] == "lamps"
    talk = [HumanMessage("Hello"), AIMessage("Hello!"), HumanMessage(WEIGHT)]
    state = await subagent["runnable"].ainvoke({"messages": talk, "files": {}})
    assert set(state) == {"messages", "structured_response"}
    assert state["messages"][-1].text == state["structured_response"].answer
    assert "3 kg" in state["messages"][-1].text
