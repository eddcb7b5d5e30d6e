"""The three kinds of search, and the best chunk of each parent."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from weaviate.classes.query import Filter, HybridFusion, MetadataQuery

from ragweave.state.errors import InvalidSetting
from ragweave.state.records import ScoreKind
from ragweave.stores.analysis import query_terms
from ragweave.stores.base import Hit, IndexSpec, SearchSpec
from ragweave.stores.checks import check_query_vector
from ragweave.stores.fusion import LEG_DEPTH, fuse
from ragweave.stores.weaviate.filters import WeaviateFilter, translate
from ragweave.stores.weaviate.rows import CHUNK_PROPERTIES, read_chunk
from ragweave.stores.weaviate.schema import TERMS

MAXIMUM_RESULTS = 10_000
"""What a server finds at once, unless its operator allows more."""

Scored = list[tuple[Any, float]]
"""Objects of the client with their scores, best first."""


@dataclass(frozen=True, slots=True)
class Query:
    """A search made ready: analysed, checked and translated."""

    spec: SearchSpec
    terms: str
    """The text's different terms; empty for a search by vector alone."""
    vector: list[float]
    """Empty for a search by keywords alone."""
    vector_name: str
    condition: WeaviateFilter | None
    possible: bool
    """Whether any chunk can pass the filters."""

    @property
    def kind(self) -> ScoreKind:
        """What the scores of this search are."""
        if self.spec.mode == "hybrid":
            return self.spec.fusion
        return "cosine" if self.spec.mode == "vector" else "bm25"


async def prepare(spec: SearchSpec, made: IndexSpec, *, vector_name: str, index: str) -> Query:
    """Make a search ready.

    Raises:
        InvalidSetting: a text is needed and missing.
        IndexSchemaMismatch: vector or filters do not fit the index.
    """
    by_text, by_vector = spec.mode != "vector", spec.mode != "keyword"
    if by_text and spec.text is None:
        raise InvalidSetting(f"A {spec.mode} search needs a text.")
    condition, possible = translate(spec.filters, made.fields)
    return Query(
        spec=spec,
        terms=" ".join(await query_terms(spec.text)) if by_text and spec.text else "",
        vector=check_query_vector(spec.vector, made.dimension, index) if by_vector else [],
        vector_name=vector_name,
        condition=condition,
        possible=possible,
    )


async def search_collection(collection: Any, query: Query) -> list[Hit]:
    """The best chunks, or the best chunk of each of the best parents."""
    if query.spec.k < 1 or not query.possible or not (query.terms or query.vector):
        return []
    found = await (_grouped if query.spec.group_by_parent else _flat)(collection, query)
    return [
        Hit(chunk=read_chunk(item, query.vector_name), score=score, kind=query.kind, rank=rank)
        for rank, (item, score) in enumerate(found, start=1)
    ]


async def _flat(collection: Any, query: Query) -> Scored:
    limit = min(query.spec.k, MAXIMUM_RESULTS)
    return (await _rank(collection, query, query.condition, limit))[:limit]


async def _grouped(collection: Any, query: Query) -> Scored:
    """The best of each parent. The server cuts its pages before it groups them, so it is done here.

    One parent may own all of the best chunks. So what was found is excluded and the search
    repeated until there are `k` parents; each round finds a new one or is the last.
    """
    best: dict[tuple[str, str], tuple[Any, float]] = {}
    condition = query.condition
    limit = min(max(query.spec.k, LEG_DEPTH), MAXIMUM_RESULTS)
    while len(best) < query.spec.k:
        found = await _rank(collection, query, condition, limit)
        if not found:
            break
        # Later rounds are below the depth of both legs, so below all that fusion scores.
        unscored = bool(best) and query.spec.mode == "hybrid"
        for item, score in found:
            best.setdefault(_parent(item), (item, 0.0 if unscored else score))
        condition = _excluding(query.condition, best)
    return list(best.values())[: query.spec.k]


def _parent(item: Any) -> tuple[str, str]:
    """Property and value that chunks of one parent share; without one, a chunk is its own."""
    parent = item.properties["parent_id"]
    return ("parent_id", parent) if parent else ("chunk_id", item.properties["chunk_id"])


def _excluding(
    condition: WeaviateFilter | None, parents: dict[tuple[str, str], Any]
) -> WeaviateFilter:
    others = [Filter.by_property(name).not_equal(value) for name, value in parents]
    return Filter.all_of([*([condition] if condition is not None else []), *others])


async def _rank(
    collection: Any, query: Query, condition: WeaviateFilter | None, limit: int
) -> Scored:
    if query.spec.mode == "vector":
        return await _vector_leg(collection, query, condition, limit)
    if query.spec.mode == "keyword":
        return await _keyword_leg(collection, query, condition, limit)
    if query.spec.fusion == "relative":
        return await _hybrid(collection, query, condition, limit)
    return await _fused_by_rank(collection, query, condition, limit)


async def _vector_leg(
    collection: Any, query: Query, condition: WeaviateFilter | None, limit: int
) -> Scored:
    reply = await collection.query.near_vector(
        query.vector,
        target_vector=query.vector_name,
        limit=limit,
        filters=condition,
        return_metadata=MetadataQuery(distance=True),
        return_properties=CHUNK_PROPERTIES,
    )
    return [(item, 1 - item.metadata.distance) for item in reply.objects]


async def _keyword_leg(
    collection: Any, query: Query, condition: WeaviateFilter | None, limit: int
) -> Scored:
    if not query.terms:  # the server refuses an empty query
        return []
    reply = await collection.query.bm25(
        query.terms,
        query_properties=[TERMS],
        limit=limit,
        filters=condition,
        return_metadata=MetadataQuery(score=True),
        return_properties=CHUNK_PROPERTIES,
    )
    return [(item, item.metadata.score) for item in reply.objects]


async def _hybrid(
    collection: Any, query: Query, condition: WeaviateFilter | None, limit: int
) -> Scored:
    """The server's relative-score fusion, which scales each leg's best 100 as `fuse` does."""
    reply = await collection.query.hybrid(
        query.terms,
        vector=query.vector,
        target_vector=query.vector_name,
        alpha=query.spec.alpha,
        fusion_type=HybridFusion.RELATIVE_SCORE,
        query_properties=[TERMS],
        limit=limit,
        filters=condition,
        return_metadata=MetadataQuery(score=True),
        return_properties=CHUNK_PROPERTIES,
    )
    return [(item, item.metadata.score) for item in reply.objects]


async def _fused_by_rank(
    collection: Any, query: Query, condition: WeaviateFilter | None, limit: int
) -> Scored:
    """Both legs fused here: the server's ranked fusion counts from 0, where others count from 1."""
    depth = max(limit, LEG_DEPTH)
    vector, keyword = await asyncio.gather(
        _vector_leg(collection, query, condition, depth),
        _keyword_leg(collection, query, condition, depth),
    )
    items = {_id(item): item for item, _ in (*vector, *keyword)}
    scores = fuse(_by_id(vector), _by_id(keyword), alpha=query.spec.alpha, fusion="rrf")
    return [(items[id], score) for id, score in scores.items()]


def _id(item: Any) -> str:
    return str(item.properties["chunk_id"])


def _by_id(found: Scored) -> dict[str, float]:
    return {_id(item): score for item, score in found}
