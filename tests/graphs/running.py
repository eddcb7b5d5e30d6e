"""Running a graph as an application does, and keeping all that it showed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import StateGraph

from ragweave.state.context import RagContext


@dataclass
class Run:
    """A finished run: its output, its whole state, and its events in order."""

    output: dict[str, Any]
    state: dict[str, Any]
    events: list[dict[str, Any]]

    @property
    def streamed(self) -> str:
        """The answer as it was seen being written."""
        return "".join(event["text"] for event in self.of_type("token"))

    def of_type(self, event_type: str) -> list[dict[str, Any]]:
        """Events of one type."""
        return [event for event in self.events if event["type"] == event_type]


async def run(
    builder: StateGraph[Any, Any, Any, Any], question: str, context: RagContext | Mapping[str, Any]
) -> Run:
    """Run a graph under an in-memory checkpointer, listening to its custom stream."""
    graph = builder.compile(checkpointer=InMemorySaver())
    config = RunnableConfig(configurable={"thread_id": "1"})
    events: list[dict[str, Any]] = []
    output: dict[str, Any] = {}
    stream: Any = graph.astream(
        {"question": question}, config, context=context, stream_mode=["custom", "values"]
    )
    async for mode, part in stream:
        if mode == "custom":
            events.append(part)
        else:
            output = part
    snapshot = await graph.aget_state(config)
    return Run(output, snapshot.values, events)
