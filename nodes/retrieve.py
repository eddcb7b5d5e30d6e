"""Searching the index named in the context."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from ragweave.models.embedding import embed_query
from ragweave.nodes.events import emit
from ragweave.nodes.sources import source_of, traced_documents
from ragweave.nodes.tracing import traced_search
from ragweave.state import missing
from ragweave.state.base import RagState
from ragweave.state.context import DEFAULT_INDEX, RagContext, context_of
from ragweave.state.errors import IndexMissing
from ragweave.state.records import Source
from ragweave.stores import open_index
from ragweave.stores.base import Index, IndexSpec, SearchMode, SearchSpec


async def retrieve_documents(state: RagState, runtime: Runtime[Any]) -> dict[str, Any]:
    """Retrieve the chunks nearest to the question into `documents`, best first."""
    context = context_of(state, runtime.context, RagContext)
    index, spec = await searchable_index(context)
    if spec is None:
        return {"documents": [], "warnings": [no_index_yet(context)]}
    query = state["search_question"]
    documents = await search_index(query, index=index, embeddings=spec.embeddings, context=context)
    emit(state, runtime, "retrieved", query=query, ids=[source["id"] for source in documents])
    return {"documents": documents}


def no_index_yet(context: RagContext) -> str:
    """The warning for a default index that was not made yet."""
    return missing.no_index_yet(context.index, context.tenant)


async def searchable_index(context: RagContext) -> tuple[Index, IndexSpec | None]:
    """The context's index and what it was made for; None if it is the default one, not made yet.

    Raises:
        IndexMissing: an index was named, and it is not there.
        IndexSchemaMismatch: the context names other embeddings than the index was made with.
    """
    index = await open_index(context.index, tenant=context.tenant)
    spec = await index.spec()
    if spec is None and context.index != DEFAULT_INDEX:
        raise IndexMissing(missing.no_index(context.index, context.tenant))
    if spec is not None and context.embeddings:
        spec.expect_embeddings(context.embeddings, index.name)
    return index, spec


@traced_search("search_index", documents=traced_documents)
async def search_index(
    query: str,
    *,
    index: Index,
    context: RagContext,
    embeddings: str = "",
    vector: list[float] | None = None,
    mode: SearchMode | None = None,
    k: int | None = None,
) -> list[Source]:
    """The `k` (`top_k`) chunks that the context's kind of search (or `mode`) finds for one query.

    The query's `vector` is made by the named `embeddings` if it is not given.
    """
    spec = SearchSpec(
        text=query,
        vector=vector or await query_vector(query, embeddings, context),
        mode=mode or context.search_mode,
        k=k or context.top_k,
        alpha=context.alpha,
        filters=context.filters,
    )
    return [source_of(hit) for hit in await index.search(spec)]


async def query_vector(query: str, embeddings: str, context: RagContext) -> list[float] | None:
    """The query's embedding, unless the search goes by words alone."""
    if context.search_mode == "keyword" or not embeddings:
        return None
    return await embed_query(query, embeddings=embeddings)
