"""Running a graph as a node of another one, with its step events shown like the outer graph's."""

from __future__ import annotations

from typing import Any

from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from ragweave.nodes.node import Node


def as_node(graph: CompiledStateGraph[Any, Any, Any, Any]) -> Node:
    """A node that runs `graph` and passes its events on.

    LangGraph shows the events of a sub-graph only to those who ask for sub-graphs when they
    stream, under a name of its own. It still finds the sub-graph in this node, so that drawings
    and Studio open it.
    """

    async def run(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        stream: Any = graph.astream(
            state,
            context=runtime.context,
            stream_mode=["custom", "values"],
            output_keys=graph.output_channels,
        )
        async for mode, part in stream:
            if mode == "custom":
                runtime.stream_writer(part)
            else:
                result = part
        return result

    return run
