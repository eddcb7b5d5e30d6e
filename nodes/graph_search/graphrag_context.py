"""Local search's mixed context exactly as GraphRAG 3.3.0 builds it, to compare with.

Source: `graphrag/query/structured_search/local_search/mixed_context.py` and the context builders
beside it. Each table has a fixed share of the tokens and nothing is handed on: with the shares
that DRIFT has there by default, 0.9 and 0.1, none is left for entities and relationships.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragweave.nodes.graph_search.candidates import (
    claims_about,
    ranked_relationships,
    ranked_reports,
    ranked_units,
)
from ragweave.nodes.graph_search.context_records import CountTokens, LocalContext
from ragweave.nodes.graph_search.graphrag_tables import (
    CLAIMS,
    ENTITIES,
    RELATIONSHIPS,
    REPORTS,
    SOURCES,
    Table,
    with_links,
)
from ragweave.state.local_search import ContextLimits
from ragweave.stores.graph import Entity, GraphTables

NO_REPORTS = "[]"
"""What GraphRAG shows where no report fits: an empty Python list, formatted."""
Part = tuple[Table, str]
"""A table, and how it stands in the text: empty where it has no candidates."""


def graphrag_context(
    graph: GraphTables, entities: Sequence[Entity], limits: ContextLimits, count: CountTokens
) -> LocalContext:
    """The context for `entities` (see `mapped_entities`), with GraphRAG's shares and text."""
    parts = [
        *_reports(graph, entities, limits, count),
        *_local_tables(graph, entities, limits, count),
        *_sources(graph, entities, limits, count),
    ]
    shown = [(table.name, text) for table, text in parts if text]
    tokens = count([text for _, text in shown])
    return LocalContext(
        records={table.name: table.records for table, _ in parts},
        text="\n\n".join(text for _, text in parts),
        tokens={name: cost for (name, _), cost in zip(shown, tokens, strict=True)},
    )


def _reports(
    graph: GraphTables, entities: Sequence[Entity], limits: ContextLimits, count: CountTokens
) -> list[Part]:
    if not entities or not graph.reports:
        return []
    budget = int(limits.max_context_tokens * limits.community_prop)
    ranked = ranked_reports(graph, entities, limits.community_level)
    table = REPORTS.fitted(ranked, budget, count)
    return [(table, table.render() if table.records else NO_REPORTS)]


def _sources(
    graph: GraphTables, entities: Sequence[Entity], limits: ContextLimits, count: CountTokens
) -> list[Part]:
    units = ranked_units(graph, entities)
    budget = int(limits.max_context_tokens * limits.text_unit_prop)
    table = SOURCES.fitted(units, budget, count)
    return [(table, table.render())] if units else []


def _local_tables(
    graph: GraphTables, entities: Sequence[Entity], limits: ContextLimits, count: CountTokens
) -> list[Part]:
    """Entities; then relationships and claims of as many of them as fit into the same budget."""
    if not entities:
        return []
    share = 1 - limits.community_prop - limits.text_unit_prop
    budget = max(int(limits.max_context_tokens * share), 0)
    table = ENTITIES.fitted(entities, budget, count)
    shown = (table, table.render())
    left = budget - count([shown[1]])[0]
    best: list[Part] = [(RELATIONSHIPS, "")]
    links: dict[str, int] = {}
    for size in range(1, len(entities) + 1):
        added = [_relationships(graph, entities[:size], limits, budget, links, count)]
        if limits.claims and graph.claims:
            claims = CLAIMS.fitted(claims_about(graph, entities[:size]), budget, count)
            added.append((claims, claims.render()))
        if sum(count([text for _, text in added])) > left:
            break
        best = added
    return [shown, *best]


def _relationships(
    graph: GraphTables,
    entities: Sequence[Entity],
    limits: ContextLimits,
    budget: int,
    links: dict[str, int],
    count: CountTokens,
) -> Part:
    edges = ranked_relationships(graph, entities, limits.top_k_relationships, links)
    if not edges:
        return RELATIONSHIPS, ""
    # GraphRAG keeps `links` on the relationships themselves: a figure from fewer entities stays,
    # and there is a column for it if the first row has one.
    table = with_links(links) if edges[0].id in links else RELATIONSHIPS
    table = table.fitted(edges, budget, count)
    return table, table.render()
