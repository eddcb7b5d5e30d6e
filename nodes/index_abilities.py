"""Looking at what an index can do for a question, before a technique is picked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime

from ragweave.models.offline.relevance import relevance
from ragweave.nodes.retrieve import query_vector, searchable_index
from ragweave.nodes.web import web_is_configured
from ragweave.state.auto import Abilities, AutoContext, AutoState
from ragweave.state.context import RagContext, context_of
from ragweave.state.errors import IndexMissing, InvalidSetting
from ragweave.stores.base import Hit, SearchSpec
from ragweave.stores.open_graph import open_graph

PASSAGES = 8
"""Passages by which the evidence is judged."""


async def inspect_index(state: AutoState, runtime: Runtime[AutoContext]) -> dict[str, Any]:
    """Look at what the index has, and search it once for the question.

    Raises:
        IndexMissing, InvalidSetting: there is neither an index nor a graph of the given name.
    """
    context = context_of(state, runtime.context, AutoContext)
    query, graph = _query(state), await has_graph(context)
    try:
        hits = await _search(query, context)
    except (IndexMissing, InvalidSetting):
        if not graph:
            raise
        hits = None
    evidence, missing = await asyncio.to_thread(_best, query, hits or [])
    return {
        "abilities": Abilities(
            documents=hits is not None,
            units=any(hit.chunk.parent_id for hit in hits or ()),
            graph=graph,
            web=context.web_search != "never" and web_is_configured(),
            evidence=evidence,
            missing=missing,
        )
    }


def _query(state: AutoState) -> str:
    """The question, behind the one before it, whose subject it may be about."""
    asked = [message.text for message in state["messages"] if isinstance(message, HumanMessage)]
    return " ".join([*asked[:-1][-1:], state["question"]])


async def has_graph(context: RagContext) -> bool:
    """Whether the context's index has a knowledge graph with something in it."""
    try:
        graph = await open_graph(context.index, tenant=context.tenant)
        return bool((await graph.tables()).entities)
    except (IndexMissing, InvalidSetting):
        return False


async def _search(query: str, context: AutoContext) -> list[Hit] | None:
    """What the index finds; None if it is the default one, and was not made yet."""
    index, spec = await searchable_index(context)
    if spec is None:
        return None
    return await index.search(
        SearchSpec(
            text=query,
            vector=await query_vector(query, spec.embeddings, context),
            mode=context.search_mode,
            k=PASSAGES,
            alpha=context.alpha,
            filters=context.filters,
        )
    )


def _best(query: str, hits: Sequence[Hit]) -> tuple[float | None, list[str]]:
    """Score of the passage that answers best, and the words of the query that it lacks."""
    if not hits:
        return None, []
    judged = relevance(query, [hit.chunk.text for hit in hits])
    best = max(judged, key=lambda one: one.score)
    return round(best.score, 3), list(best.missing)
