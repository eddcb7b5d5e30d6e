"""The steps of a graph build that decide what is to be asked next."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from ragweave.indexing.graph.reports import by_level
from ragweave.nodes.graph_build.answers import descriptions_to_summarize, reports_to_write
from ragweave.nodes.graph_build.documents import units_to_extract
from ragweave.nodes.graph_build.plan import build_of, planned_graph
from ragweave.state.context import context_of
from ragweave.state.graph_index import GraphIndexContext, GraphIndexState

DONE = -1
"""Level when all reports are there."""


async def plan_extraction(state: GraphIndexState, runtime: Runtime[Any]) -> dict[str, Any]:
    """Find the text units of which nothing was extracted yet."""
    context = context_of(state, None, GraphIndexContext)
    ask = not (context.offline or context.dry_run)
    return {"to_extract": await units_to_extract(state) if ask else []}


async def plan_summaries(state: GraphIndexState, runtime: Runtime[Any]) -> dict[str, Any]:
    """Merge what was extracted, and find the descriptions that have become too long."""
    context = context_of(state, None, GraphIndexContext)
    return {"to_summarize": [] if context.offline else await descriptions_to_summarize(state)}


async def plan_reports(state: GraphIndexState, runtime: Runtime[Any]) -> dict[str, Any]:
    """Find the communities, and those of the state's level whose report is not there yet."""
    context = context_of(state, None, GraphIndexContext)
    planned = await planned_graph(state, await build_of(context))
    if context.offline or state["level"] >= len(by_level(planned.communities)):
        return {"level": DONE, "to_report": []}
    return {"to_report": await reports_to_write(state)}


async def next_level(state: GraphIndexState, runtime: Runtime[Any]) -> dict[str, Any]:
    """Go on to the next coarser level."""
    return {"level": state["level"] + 1}
