"""A technique within a graph of your own that has another state and another context.

ragweave ingest README.md docs  # make demo has done it
python examples/within_a_graph.py "cited answers" "budgets"
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from ragweave.graphs.rag_fusion import graph as rag_fusion
from ragweave.nodes.subgraph import as_node
from ragweave.state.rag_fusion import RagFusionContext


class Review(TypedDict, total=False):
    """The state of the outer graph."""

    topic: str
    answer: str
    status: str
    note: str


@dataclass
class Desk:
    """The context of the outer graph."""

    library: str
    reader: str = "offline"


def given(state: Review) -> dict[str, Any]:
    """What the technique is asked, made of the outer state."""
    return {"question": f"What do the documents say about {state['topic']}?"}


def context(state: Review, runtime: Runtime[Desk]) -> RagFusionContext:
    """With which settings, made of the outer context."""
    return RagFusionContext(index=runtime.context.library, model=runtime.context.reader, top_k=4)


async def write_note(state: Review) -> Review:
    """A node of one's own, after it: `answer` and `status` came by their names."""
    return {"note": f"{state['topic']} ({state['status']}): {state['answer']}"}


builder = StateGraph(Review, context_schema=Desk)
builder.add_node("ask_documents", as_node(rag_fusion, given=given, context=context))
builder.add_node("write_note", write_note)
builder.add_edge(START, "ask_documents")
builder.add_edge("ask_documents", "write_note")
builder.add_edge("write_note", END)
graph = builder.compile(name="review")


async def main(topics: list[str]) -> None:
    """Review every topic; the technique's steps are seen like the outer graph's own."""
    desk = Desk(library="lance:.ragweave/index")
    for topic in topics:
        async for mode, part in graph.astream(
            {"topic": topic}, context=desk, stream_mode=["custom", "updates"]
        ):
            if mode == "custom" and part["type"] == "fused":
                print(f"{part['at']:.2f} s: {part['technique']} fused by {part['method']}")
            elif mode == "updates" and "write_note" in part:
                print(part["write_note"]["note"])


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or ["cited answers", "budgets"]))
