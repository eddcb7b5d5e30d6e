"""Opening the knowledge graph named in the context, ready to be searched with a question."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from ragweave.indexing.graph.vectors import EmbeddedGraph
from ragweave.models.loops import PerLoop
from ragweave.models.tokens import token_counter
from ragweave.nodes.graph_search.local_context import (
    OVERSAMPLING,
    local_context,
    sources_of_context,
)
from ragweave.nodes.graph_search.row_sizes import RowSizes
from ragweave.nodes.query_vectors import query_vector
from ragweave.nodes.sources import traced_documents
from ragweave.nodes.tracing import traced_search
from ragweave.state import missing
from ragweave.state.context import DEFAULT_EMBEDDINGS, DEFAULT_INDEX, IndexContext
from ragweave.state.errors import IndexMissing
from ragweave.state.local_search import GraphContext
from ragweave.state.records import Source
from ragweave.stores.graph import GraphReader, GraphTables
from ragweave.stores.open_graph import open_graph

_embedded: PerLoop[dict[tuple[str, str | None, str], EmbeddedGraph]] = PerLoop(dict)
_sizes: WeakKeyDictionary[GraphTables, RowSizes] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class SearchableGraph:
    """A graph with the embeddings that its vectors were made with."""

    index: GraphReader
    tables: GraphTables
    embeddings: str
    warnings: list[str]

    async def vector(self, query: str) -> list[float]:
        """The vector of a query in the graph's space."""
        return await query_vector(query, embeddings=self.embeddings)


async def searchable_graph(context: GraphContext, question: str) -> SearchableGraph | None:
    """The context's graph; None if it is that of the default index, and was not made yet.

    Where the graph does not say which embeddings made its vectors, they are used if they have as
    many dimensions as the question's; else its entities and reports are embedded anew, in memory.

    Raises:
        IndexMissing: an index was named, and it holds no graph.
        IndexSchemaMismatch: the context names other embeddings than the graph was made with.
    """
    index = await open_graph(context.index, tenant=context.tenant)
    try:
        tables = await index.tables()
    except IndexMissing:
        if context.index == DEFAULT_INDEX:
            return None
        raise
    spec = await index.spec()
    if spec is not None and spec.embeddings:
        if context.embeddings:
            spec.expect_embeddings(context.embeddings, index.name)
        return SearchableGraph(index, tables, spec.embeddings, [])
    embeddings = context.embeddings or DEFAULT_EMBEDDINGS
    dimension = len(await query_vector(question, embeddings=embeddings))
    if spec is not None and spec.dimension == dimension:
        return SearchableGraph(index, tables, embeddings, [])
    key = (context.index, context.tenant, embeddings)
    embedded = _embedded.get().setdefault(key, EmbeddedGraph(index, embeddings))
    warnings = [] if spec is None else [_other_space(index.name, spec.dimension, embeddings)]
    return SearchableGraph(embedded, tables, embeddings, warnings)


def no_graph_yet(context: IndexContext) -> str:
    """The warning for a default index that has no graph yet."""
    return missing.no_graph_yet(context.index, context.tenant)


@traced_search(
    "search_records", documents=lambda found: traced_documents(found[0] if found else None)
)
async def search_records(
    query: str, graph: SearchableGraph, context: GraphContext
) -> tuple[list[Source], dict[str, str]]:
    """The records that a local search shows for a query, as numbered sources.

    With them come the excerpts, by source id, of those that are not shown in full.
    """
    limits = context.limits
    vector = await graph.vector(query)
    nearest = await graph.index.nearest_entities(vector, limits.top_k_entities * OVERSAMPLING)
    count = await token_counter()
    tables = graph.tables

    def build() -> tuple[list[Source], dict[str, str]]:
        sizes = _sizes.setdefault(tables, RowSizes(tables, count))
        shown = local_context(tables, nearest, limits, count, context.context_mode, sizes=sizes)
        return sources_of_context(tables, shown)

    return await asyncio.to_thread(build)


def _other_space(name: str, dimension: int, embeddings: str) -> str:
    return (
        f"The vectors of {name} have {dimension} dimensions, which {embeddings} does not give: its "
        "entities and reports were embedded anew, in memory. Name the `embeddings` they were made "
        "with to use those."
    )
