"""What a trace keeps of a run: every step, but of long texts only the beginning, and no vectors.

Tracers send each node's input and output, and with them the same documents at every step. The
model's calls and the graph's own output are traced whole.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, TypeVar, cast

from langchain_core.messages import BaseMessage
from langchain_core.tracers.langchain import LangChainTracer
from langgraph.config import get_config
from langgraph.graph import StateGraph
from langgraph.types import Command, Overwrite, Send, TracePolicy
from langsmith import get_current_run_tree, traceable
from langsmith.run_trees import RunTree
from langsmith.utils import tracing_is_enabled

from ragweave.state.context import RagContext

TRACED_CHARACTERS = 1_000
TRACED_NUMBERS = 16

GraphT = TypeVar("GraphT", bound="StateGraph[Any, Any, Any, Any]")
SearchT = TypeVar("SearchT", bound=Callable[..., Awaitable[Any]])


def brief(value: Any) -> Any:
    """A copy of a node's input or output with long texts cut, and vectors counted."""
    match value:
        case str():
            return value if len(value) <= TRACED_CHARACTERS else _cut(value)
        case int() | float() | None:
            return value
        case dict():
            return {key: brief(item) for key, item in value.items()}
        case list() | tuple():
            if len(value) > TRACED_NUMBERS and all(isinstance(item, float) for item in value):
                return f"({len(value):,} numbers)"
            return [brief(item) for item in value]
        case BaseMessage():
            return value.model_copy(update={"content": brief(value.content)})
        case Overwrite():
            return brief(value.value)
        case Command():
            return {"goto": brief(value.goto), "update": brief(value.update)}
        case Send():
            return {"node": value.node, "arg": brief(value.arg)}
    return value


def is_traced() -> bool:
    """Whether LangSmith follows this run: by LANGSMITH_TRACING or within a `tracing_context`."""
    return bool(tracing_is_enabled()) or get_current_run_tree() is not None


def traced_search(
    name: str, *, documents: Callable[[Any], list[dict[str, Any]]]
) -> Callable[[SearchT], SearchT]:
    """Have an async search shown as a retriever's run, with its `query` and its `documents`.

    Where nobody traces the search is called as it is: `traceable` would start two threads for it.
    """

    def decorate(search: SearchT) -> SearchT:
        traced = traceable(
            run_type="retriever",
            name=name,
            process_inputs=lambda inputs: {"query": inputs["query"]},
            process_outputs=lambda found: {"documents": documents(found)},
        )(search)

        @wraps(search)
        async def run(*args: Any, **kwargs: Any) -> Any:
            return await (traced if is_traced() else search)(*args, **kwargs)

        return cast("SearchT", run)

    return decorate


def traced_briefly(builder: GraphT) -> GraphT:
    """Have every node of a graph traced briefly, and its routing functions not at all.

    What a routing function would show, the whole state, is what its node gave; where it led, the
    next node shows.
    """
    for node in builder.nodes.values():
        node.trace_policy = TracePolicy(process_inputs=_traced, process_outputs=_traced)
    for branches in builder.branches.values():
        for branch in branches.values():
            if hasattr(branch.path, "trace"):
                branch.path.trace = False
    return builder


def describe_run(technique: str, context: RagContext) -> None:
    """Tag the graph's run, if it is traced, and note as metadata what it works with.

    To be called in a node.
    """
    run = _run_of_the_graph()
    if run is None:
        return
    run.add_tags(["ragweave", technique])
    run.add_metadata(
        {
            "technique": technique,
            "model": context.model,
            "fast_model": context.hidden_model,
            "index": context.index,
            "tenant": context.tenant,
        }
    )


def _traced(value: Any) -> Any:
    return brief(value) if is_traced() else value


def _run_of_the_graph() -> RunTree | None:
    node = get_current_run_tree()
    if node is None:
        return None
    handlers = getattr(get_config().get("callbacks"), "handlers", [])
    tracers = (handler for handler in handlers if isinstance(handler, LangChainTracer))
    runs = (tracer.run_map.get(str(node.parent_run_id)) for tracer in tracers)
    return next((run for run in runs if run is not None), None)


def _cut(text: str) -> str:
    return f"{text[:TRACED_CHARACTERS]}... ({len(text):,} characters)"
