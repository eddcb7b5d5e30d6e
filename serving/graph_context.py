"""What a search over a knowledge graph would show the model, without calling one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

from typing_extensions import TypedDict

from ragweave.models.o200k import o200k_counter
from ragweave.models.tokens import token_counter
from ragweave.nodes.graph_search.access import SearchableGraph, no_graph_yet, searchable_graph
from ragweave.nodes.graph_search.context_records import CONTEXT_TABLES, LocalContext
from ragweave.nodes.graph_search.local_context import OVERSAMPLING, local_context
from ragweave.serving.techniques import settled
from ragweave.state.drift import DriftContext
from ragweave.state.errors import IndexMissing, InvalidSetting
from ragweave.state.local_search import GraphContext, LocalSearchContext
from ragweave.stores.open_graph import open_graph

GraphTechnique = Literal["local_search", "drift"]

_FIELDS: dict[str, tuple[type[GraphContext], dict[str, str]]] = {
    "local_search": (LocalSearchContext, {}),
    "drift": (
        DriftContext,
        {
            "max_context_tokens": "local_search_max_data_tokens",
            "text_unit_prop": "local_search_text_unit_prop",
            "community_prop": "local_search_community_prop",
            "top_k_entities": "local_search_top_k_mapped_entities",
            "top_k_relationships": "local_search_top_k_relationships",
        },
    ),
}
"""By technique its context, and its names for the settings of a local search."""

GRAPHRAG_DEFAULTS: dict[str, dict[str, Any]] = {
    "local_search": {"max_context_tokens": 12_000, "text_unit_prop": 0.5, "community_prop": 0.15},
    "drift": {"max_context_tokens": 12_000, "text_unit_prop": 0.9, "community_prop": 0.1},
}
"""What GraphRAG 3.3.0 takes where nothing is set, for the mode that builds its contexts."""


class ShownContext(TypedDict):
    """The context of one question. Ids are the numbers that GraphRAG shows, in order."""

    question: str
    technique: str
    reason: str | None
    """Why `auto` picked the technique; null where it was named."""
    mode: str
    entities: list[str]
    relationships: list[str]
    reports: list[str]
    sources: list[str]
    claims: list[str]
    tokens: dict[str, int]
    """Tokens of each table that is shown."""
    total_tokens: int
    text: str
    warnings: list[str]


async def show_context(
    question: str,
    *,
    technique: GraphTechnique = "local_search",
    query_vector: Sequence[float] | None = None,
    **settings: Any,
) -> ShownContext:
    """The context that a local search for `question` would show the model.

    For `drift` it is that of one of its local searches. In mode `graphrag` the records and the
    text are GraphRAG's own, tokens are those of o200k_base, and what is not set is as there.

    Args:
        question: what to search for.
        technique: whose settings apply where none are given.
        query_vector: the question's vector, for a graph whose embeddings are not at hand.
        **settings: fields of `LocalSearchContext`, such as `index`, `embeddings`, `context_mode`,
            `max_context_tokens`, `text_unit_prop`, `community_prop`, `community_level`.

    Raises:
        InvalidSetting: a setting does not exist or does not fit.
        IndexMissing: there is no graph.
        IndexSchemaMismatch: the vector does not fit the graph's.
    """
    context = _context(technique, settings)
    graph = await _opened(context, question, query_vector)
    vector = query_vector if query_vector is not None else await graph.vector(question)
    limits = context.limits
    nearest = await graph.index.nearest_entities(vector, limits.top_k_entities * OVERSAMPLING)
    exact = context.context_mode == "graphrag"
    count = await (o200k_counter() if exact else token_counter())
    shown = await asyncio.to_thread(
        local_context, graph.tables, nearest, limits, count, context.context_mode
    )
    return _result(question, technique, context, shown, graph.warnings)


def _context(technique: str, settings: dict[str, Any]) -> GraphContext:
    if technique not in _FIELDS:
        raise InvalidSetting(f"{technique} shows no graph context. Known: {', '.join(_FIELDS)}.")
    schema, names = _FIELDS[technique]
    if settings.get("context_mode") == "graphrag":
        settings = {**GRAPHRAG_DEFAULTS[technique], **settings}
    renamed = {names.get(name, name): value for name, value in settings.items()}
    return settled(schema, renamed, f"setting of {technique}")


async def _opened(
    context: GraphContext, question: str, vector: Sequence[float] | None
) -> SearchableGraph:
    if vector is not None:
        index = await open_graph(context.index, tenant=context.tenant)
        return SearchableGraph(index, await index.tables(), "", [])
    graph = await searchable_graph(context, question)
    if graph is None:
        raise IndexMissing(no_graph_yet(context))
    return graph


def _result(
    question: str,
    technique: str,
    context: GraphContext,
    shown: LocalContext,
    warnings: list[str],
) -> ShownContext:
    ids = {table: shown.numbers(table) for table in CONTEXT_TABLES}
    return ShownContext(
        question=question,
        technique=technique,
        reason=None,
        mode=context.context_mode,
        entities=ids["entities"],
        relationships=ids["relationships"],
        reports=ids["reports"],
        sources=ids["sources"],
        claims=ids["claims"],
        tokens={str(table): tokens for table, tokens in shown.tokens.items()},
        total_tokens=sum(shown.tokens.values()),
        text=shown.text,
        warnings=warnings,
    )
