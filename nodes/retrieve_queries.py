"""Searching the index for several queries at once: one embedding call, one worker a query."""

from __future__ import annotations

from typing import Any, Literal

from langgraph.runtime import Runtime
from langgraph.types import Command, Send

from ragweave.models.embedding import embed_texts
from ragweave.nodes.events import emit
from ragweave.nodes.retrieve import no_index_yet, search_index, searchable_index
from ragweave.state.base import carried
from ragweave.state.context import context_of
from ragweave.state.rag_fusion import (
    Leg,
    QueryTask,
    RagFusionContext,
    RagFusionState,
    ResultList,
)


async def embed_queries(
    state: RagFusionState, runtime: Runtime[RagFusionContext]
) -> Command[Literal["retrieve_query", "fuse_results"]]:
    """Embed all queries in one call and send each to a worker.

    A `Command`, since the vectors travel in the tasks and never stand in the state.
    """
    context = context_of(state, runtime.context, RagFusionContext)
    _, spec = await searchable_index(context)
    if spec is None:
        return Command(goto="fuse_results", update={"warnings": [no_index_yet(context)]})
    queries = state["search_queries"]
    vectors: list[Any] = [None] * len(queries)
    if spec.embeddings and context.search_mode != "keyword":
        vectors = await embed_texts(queries, embeddings=spec.embeddings)
    shared = carried(state)
    return Command(
        goto=[
            Send("retrieve_query", QueryTask(**shared, query=query, vector=vector))
            for query, vector in zip(queries, vectors, strict=True)
        ]
    )


async def retrieve_query(state: QueryTask, runtime: Runtime[RagFusionContext]) -> dict[str, Any]:
    """Retrieve the lists of one query: one by the context's kind of search, or one for each leg."""
    context = context_of(state, runtime.context, RagFusionContext)
    index, _ = await searchable_index(context)
    query, vector = state["query"], state["vector"]
    results = []
    for leg in _legs(context, vector):
        sources = await search_index(
            query, index=index, context=context, vector=vector, mode=leg, k=context.list_size
        )
        emit(state, runtime, "retrieved", query=query, ids=[source["id"] for source in sources])
        results.append(ResultList(query=query, leg=leg, sources=sources))
    return {"results": results}


def _legs(context: RagFusionContext, vector: list[float] | None) -> list[Leg]:
    separate = context.legs == "separate" and context.search_mode == "hybrid" and vector
    return ["vector", "keyword"] if separate else [context.search_mode]
