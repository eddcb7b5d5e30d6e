"""What a local search shows the model: reports, entities, relationships, claims and text units.

There are two ways to choose them. `graphrag` (in `graphrag_context.py`) is exactly what
GraphRAG 3.3.0 builds. `shared` (in `shared_context.py`), the default, takes records in the same
order, but gives every table a share of the tokens, hands on what a table leaves over, and does not
leave out entities that belong to no community.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ragweave.nodes.graph_search.candidates import mapped_entities
from ragweave.nodes.graph_search.context_records import (
    CONTEXT_TABLES,
    CountTokens,
    LocalContext,
)
from ragweave.nodes.graph_search.graph_sources import source_of_record
from ragweave.nodes.graph_search.graphrag_context import graphrag_context
from ragweave.nodes.graph_search.row_sizes import RowSizes
from ragweave.nodes.graph_search.shared_context import shared_context
from ragweave.nodes.sources import numbered
from ragweave.state.local_search import ContextLimits
from ragweave.state.records import Source
from ragweave.stores.graph import GraphTables, Neighbour

ContextMode = Literal["shared", "graphrag"]

OVERSAMPLING = 2
"""Entities searched for each one asked for, since some belong to no community. As GraphRAG."""


def local_context(
    graph: GraphTables,
    nearest: Sequence[Neighbour],
    limits: ContextLimits,
    count: CountTokens,
    mode: ContextMode = "shared",
    *,
    sizes: RowSizes | None = None,
) -> LocalContext:
    """The context for the entities `nearest` to a question. It computes for some milliseconds.

    Args:
        graph: the tables to choose from.
        nearest: entities found by their vectors, best first.
        limits: how much to choose.
        count: counts tokens.
        mode: how to choose.
        sizes: what was counted of the graph before, to choose faster in mode `shared`.
    """
    if mode == "graphrag":
        entities = mapped_entities(graph, nearest, limits.community_level)
        return graphrag_context(graph, entities, limits, count)
    found = [graph.entity_by_id[hit.id] for hit in nearest if hit.id in graph.entity_by_id]
    return shared_context(graph, found, limits, sizes or RowSizes(graph, count))


def sources_of_context(
    graph: GraphTables, context: LocalContext
) -> tuple[list[Source], dict[str, str]]:
    """A context's records as numbered sources, and their excerpts by source id."""
    records = [record for table in CONTEXT_TABLES for record in context.records.get(table, ())]
    sources = numbered(source_of_record(graph, record) for record in records)
    excerpts = {
        source["id"]: context.excerpts[record.id]
        for source, record in zip(sources, records, strict=True)
        if record.id in context.excerpts
    }
    return sources, excerpts
