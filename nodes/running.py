"""Running a graph to its end with its step events shown. It imports no LangGraph of its own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph


async def values_at_the_end(
    graph: CompiledStateGraph[Any, Any, Any, Any],
    given: Any,
    *,
    show: Callable[[Any], None],
    **options: Any,
) -> dict[str, Any]:
    """Run `graph` and return its last values; each of its step events is given to `show`.

    `options` are those of `astream`, such as `context`.
    """
    values: dict[str, Any] = {}
    parts: Any = graph.astream(given, stream_mode=["custom", "values"], **options)
    async with aclosing(parts) as stream:
        async for mode, part in stream:
            if mode == "custom":
                show(part)
            else:
                values = part
    return values
