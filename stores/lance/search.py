"""One search of a LanceDB chunk table: two legs, their fusion, and grouping by parent.

The legs bring ids alone; the rows of the few hits that are kept are read afterwards, by id, which
costs less than reading a hundred texts for each leg.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lancedb.table import AsyncTable

from ragweave.state.records import ScoreKind
from ragweave.stores.base import Chunk, Hit, SearchSpec
from ragweave.stores.fusion import LEG_DEPTH, fuse
from ragweave.stores.lance.rows import CHUNK_COLUMNS, TERMS, one_of, to_chunk


@dataclass(frozen=True, slots=True)
class Query:
    """A search made ready: analysed, checked and translated."""

    spec: SearchSpec
    terms: Sequence[str]
    """Different terms of the text; empty for a search by vector alone."""
    vector: list[float] | None
    """None for a search by keywords alone."""
    where: str | None

    @property
    def kind(self) -> ScoreKind:
        """What the scores of this search are."""
        if self.spec.mode == "hybrid":
            return self.spec.fusion
        return "cosine" if self.spec.mode == "vector" else "bm25"


@dataclass(frozen=True, slots=True)
class _Found:
    """A ranking: scores by chunk id, best first, and the group that each chunk belongs to."""

    scores: dict[str, float]
    groups: dict[str, str]


async def search_table(table: AsyncTable, query: Query) -> list[Hit]:
    """The best chunks, or the best chunk of each of the best parents."""
    best = _grouped if query.spec.group_by_parent else _flat
    scores = await best(table, query)
    chunks = await fetch(table, list(scores))
    found = [(chunk, scores[chunk.id]) for chunk in chunks]
    return [
        Hit(chunk=chunk, score=score, kind=query.kind, rank=rank)
        for rank, (chunk, score) in enumerate(found, start=1)
    ]


async def fetch(table: AsyncTable, ids: Sequence[str], *extra: str) -> list[Chunk]:
    """Chunks by id, in the order asked for, with `extra` columns such as the vector."""
    if not ids:
        return []
    query = table.query().where(one_of("id", ids)).select([*CHUNK_COLUMNS, *extra])
    rows = {row["id"]: row for row in (await query.to_arrow()).to_pylist()}
    return [to_chunk(rows[id]) for id in ids if id in rows]


async def _flat(table: AsyncTable, query: Query) -> dict[str, float]:
    found = await _rank(table, query, query.where)
    return dict(list(found.scores.items())[: query.spec.k])


async def _grouped(table: AsyncTable, query: Query) -> dict[str, float]:
    """Scores of the best chunk of each of the `k` best groups.

    One group may own all of the best chunks. So what was found is excluded and the search
    repeated until there are `k` groups; each round finds a new one or is the last.
    """
    best: dict[str, float] = {}
    groups: dict[str, str] = {}
    while len(groups) < query.spec.k:
        found = await _rank(table, query, _excluding(query.where, groups))
        if not found.scores:
            break
        # What a later round finds lies below all that came before. Fusion gives it no score, and
        # BM25 may count rarity anew among the chunks that are left.
        ceiling = min(best.values(), default=math.inf)
        if groups and query.spec.mode == "hybrid":
            ceiling = 0.0
        for id, score in found.scores.items():
            if found.groups[id] not in groups:
                groups[found.groups[id]] = id
                best[id] = min(score, ceiling)
    return dict(list(best.items())[: query.spec.k])


def _excluding(where: str | None, groups: dict[str, str]) -> str | None:
    if not groups:
        return where
    alone = [id for group, id in groups.items() if group == _alone(id)]
    parents = [group for group, id in groups.items() if group != _alone(id)]
    parts = [
        f"({where})" if where else "true",
        f"NOT ({one_of('id', alone)})",
        f"(parent_id IS NULL OR NOT ({one_of('parent_id', parents)}))",
    ]
    return " AND ".join(parts)


def _alone(id: str) -> str:
    """Group of a chunk without a parent: itself."""
    return f"\0{id}"


async def _rank(table: AsyncTable, query: Query, where: str | None) -> _Found:
    spec = query.spec
    # Deep even for a small k: a quantized index finds the best 10 surely only among the best 100.
    limit = max(spec.k, LEG_DEPTH)
    vector, keyword = await asyncio.gather(
        _vector_leg(table, query, where, limit), _keyword_leg(table, query, where, limit)
    )
    if spec.mode == "hybrid":
        scores = fuse(vector.scores, keyword.scores, alpha=spec.alpha, fusion=spec.fusion)
    else:
        scores = vector.scores or keyword.scores
    return _Found(scores, vector.groups | keyword.groups)


async def _vector_leg(table: AsyncTable, query: Query, where: str | None, limit: int) -> _Found:
    if query.vector is None:
        return _Found({}, {})
    nearest = table.query().nearest_to(query.vector).distance_type("cosine").limit(limit)
    # Distances of a quantized index are approximate: take them from the vectors themselves.
    rows = await _rows(nearest.refine_factor(1), where, "_distance")
    return _found((row["id"], 1 - row["_distance"], row["parent_id"]) for row in rows)


async def _keyword_leg(table: AsyncTable, query: Query, where: str | None, limit: int) -> _Found:
    if not query.terms:
        return _Found({}, {})
    words = " ".join(query.terms)
    matching = table.query().nearest_to_text(words, columns=[TERMS]).limit(limit)
    rows = await _rows(matching, where, "_score")
    return _found((row["id"], row["_score"], row["parent_id"]) for row in rows)


async def _rows(search: Any, where: str | None, score: str) -> list[dict[str, Any]]:
    search = search.select(["id", "parent_id", score])
    found = await (search.where(where) if where else search).to_arrow()
    return list(found.to_pylist())


def _found(rows: Any) -> _Found:
    ordered = sorted(rows, key=lambda row: (-row[1], row[0]))
    scores = {id: score for id, score, _ in ordered}
    return _Found(scores, {id: parent or _alone(id) for id, _, parent in ordered})
