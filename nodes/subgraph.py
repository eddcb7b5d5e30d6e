"""Running a graph as a node of another one, with its step events shown like the outer graph's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from ragweave.nodes.node import Node
from ragweave.nodes.running import values_at_the_end
from ragweave.state.errors import RagweaveError


def as_node(
    graph: CompiledStateGraph[Any, Any, Any, Any],
    *,
    given: Callable[[Any], Any] = lambda state: state,
    context: Callable[[Any, Runtime[Any]], object] = lambda state, runtime: runtime.context,
    gives: Callable[[Any], Any] = lambda output: output,
    instead: Callable[[RagweaveError], Any] | None = None,
) -> Node:
    """A node that runs `graph` and passes its events on.

    LangGraph shows the events of a sub-graph only to those who ask for sub-graphs when they
    stream, under a name of its own. It still finds the sub-graph in this node, so that drawings
    and Studio open it.

    Args:
        graph: what to run.
        given: its input, made of the outer state; the same state by default.
        context: its context, made of the outer state and runtime; the same by default.
        gives: what changes in the outer state, made of its output; that output by default.
        instead: what changes after a known error; by default it is raised.
    """

    async def run(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        try:
            output = await values_at_the_end(
                graph,
                given(state),
                show=runtime.stream_writer,
                context=context(state, runtime),
                output_keys=graph.output_channels,
            )
        except RagweaveError as error:
            if instead is None:
                raise
            changes: dict[str, Any] = instead(error)
        else:
            changes = gives(output)
        return changes

    return run
