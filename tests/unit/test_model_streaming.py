"""What an application sees of model calls in LangGraph's own streams and in traces."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import AIMessageChunk, HumanMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

from ragweave.models.calls import ask_structured, ask_text, stream_text
from ragweave.models.prompt import document_section, prompt, question_section, sources_section
from ragweave.models.schemas import DocumentGrade
from ragweave.state.context import RagContext
from ragweave.state.records import Source
from tests.servers import OpenAIStub, by_schema

SOURCE = Source(
    number=1,
    id="a",
    document_id="a",
    text="PEP 612 adds ParamSpec.",
    title=None,
    url=None,
    path=None,
    page=None,
    start=None,
    end=None,
    score=None,
    score_kind=None,
    metadata={},
)
QUESTION = question_section("What does PEP 612 add?")


class State(TypedDict, total=False):
    model: str
    message_id: str | None


async def call_in_three_ways(state: State) -> State:
    how: dict[str, Any] = {"model": state["model"], "state": {}, "context": RagContext()}
    grade_prompt = prompt("Grade.", document_section(SOURCE), QUESTION)
    await ask_structured(DocumentGrade, grade_prompt, stage="grade", **how)
    await ask_text([HumanMessage("Note.")], stage="note", **how)
    answer_prompt = prompt("Answer.", sources_section([SOURCE]), QUESTION)
    reply = await stream_text(answer_prompt, stage="answer", on_text=lambda text: None, **how)
    return {"message_id": reply.message.id}


@pytest.fixture
def graph() -> CompiledStateGraph[State]:
    builder = StateGraph(State)
    builder.add_node(call_in_three_ways)
    builder.add_edge(START, "call_in_three_ways")
    builder.add_edge("call_in_three_ways", END)
    return builder.compile()


@pytest.mark.parametrize("model", ["offline", "openai:stub"])
async def test_only_the_answer_is_streamed_under_the_id_that_it_keeps(
    graph: CompiledStateGraph[State], openai_stub: OpenAIStub, model: str
) -> None:
    openai_stub.script = by_schema(
        "PEP 612 adds ParamSpec [1].", DocumentGrade={"reason": "so", "verdict": "relevant"}
    )
    pieces: list[str] = []
    ids: set[str | None] = set()
    final: Any = None
    stream = graph.astream({"model": model}, stream_mode=["messages", "values"])
    async for mode, item in stream:
        if mode == "values":
            final = item
        elif isinstance(item[0], AIMessageChunk):
            pieces.append(item[0].text)
            ids.add(item[0].id)
    assert "".join(pieces) == "PEP 612 adds ParamSpec [1]."
    assert len([piece for piece in pieces if piece]) == 5
    assert ids == {final["message_id"]}


async def test_hidden_calls_are_not_streamed_over_the_wire_either(
    graph: CompiledStateGraph[State], openai_stub: OpenAIStub
) -> None:
    openai_stub.script = by_schema("OK", DocumentGrade={"reason": "so", "verdict": "relevant"})
    async for _ in graph.astream({"model": "openai:stub"}, stream_mode="messages"):
        pass
    assert [bool(request.get("stream")) for request in openai_stub.chats] == [False, False, True]


async def test_runs_are_named_after_their_stage(
    graph: CompiledStateGraph[State], openai_stub: OpenAIStub
) -> None:
    names: list[str | None] = []

    class Names(AsyncCallbackHandler):
        async def on_chat_model_start(
            self, serialized: Any, messages: Any, *, run_id: UUID, **kwargs: Any
        ) -> None:
            names.append(kwargs.get("name"))

    openai_stub.script = by_schema("OK", DocumentGrade={"reason": "so", "verdict": "relevant"})
    await graph.ainvoke({"model": "openai:stub"}, {"callbacks": [Names()]})
    assert names == ["grade", "note", "answer"]
