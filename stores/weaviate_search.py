"""The three kinds of search, and the best chunk of each parent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weaviate.classes.query import HybridFusion, MetadataQuery

from ragweave.state.records import ScoreKind
from ragweave.stores.analysis import terms
from ragweave.stores.base import Hit, IndexSpec, SearchSpec
from ragweave.stores.checks import check_query_vector
from ragweave.stores.weaviate_filters import translate
from ragweave.stores.weaviate_rows import CHUNK_PROPERTIES, read_chunk
from ragweave.stores.weaviate_schema import TERMS

MAXIMUM_RESULTS = 10_000
"""What a server finds at once, unless its operator allows more."""

_FUSIONS = {"relative": HybridFusion.RELATIVE_SCORE, "rrf": HybridFusion.RANKED}
_GROUPED_DEPTH = 10


class Searcher:
    """One search on one collection: translated once, asked for as many results as are needed."""

    def __init__(
        self, collection: Any, wanted: SearchSpec, made: IndexSpec, vector: str, name: str
    ) -> None:
        self._query = collection.query
        self._wanted = wanted
        self._vector_name = vector
        self._filter, self._possible = translate(wanted.filters, made.fields)
        self._terms = "" if wanted.mode == "vector" else " ".join(terms(wanted.text or ""))
        self._vector: list[float] = []
        if wanted.mode != "keyword":
            self._vector = check_query_vector(wanted.vector, made.dimension, name).tolist()

    async def hits(self) -> list[Hit]:
        """The best `k` chunks, or the best chunk of each of the best `k` parents."""
        limit = min(self._wanted.k, MAXIMUM_RESULTS)
        if limit < 1 or not self._possible or (self._wanted.mode == "keyword" and not self._terms):
            return []
        find = self._best_of_each_parent if self._wanted.group_by_parent else self._find
        found = await find(limit)
        return [self._hit(item, rank) for rank, item in enumerate(found, start=1)]

    async def _best_of_each_parent(self, parents: int) -> list[Any]:
        """Search flat and group here: the server cuts its pages before it groups them."""
        limit = max(100, parents * _GROUPED_DEPTH)
        while True:
            limit = min(limit, MAXIMUM_RESULTS)
            found = await self._find(limit)
            best = _first_of_each(found)
            if len(best) >= parents or len(found) < limit or limit == MAXIMUM_RESULTS:
                return best[:parents]
            limit *= _GROUPED_DEPTH

    async def _find(self, limit: int) -> list[Any]:
        common: dict[str, Any] = {
            "limit": limit,
            "filters": self._filter,
            "return_properties": CHUNK_PROPERTIES,
        }
        if self._wanted.mode == "vector":
            reply = await self._query.near_vector(
                self._vector,
                target_vector=self._vector_name,
                return_metadata=MetadataQuery(distance=True),
                **common,
            )
        elif self._wanted.mode == "keyword":
            reply = await self._query.bm25(
                self._terms,
                query_properties=[TERMS],
                return_metadata=MetadataQuery(score=True),
                **common,
            )
        else:
            reply = await self._query.hybrid(
                self._terms,
                vector=self._vector,
                target_vector=self._vector_name,
                alpha=self._wanted.alpha,
                fusion_type=_FUSIONS[self._wanted.fusion],
                query_properties=[TERMS],
                return_metadata=MetadataQuery(score=True),
                **common,
            )
        return list(reply.objects)

    def _hit(self, item: Any, rank: int) -> Hit:
        kind: ScoreKind
        if self._wanted.mode == "vector":
            kind, score = "cosine", 1 - item.metadata.distance
        else:
            kind = "bm25" if self._wanted.mode == "keyword" else self._wanted.fusion
            score = item.metadata.score
        return Hit(chunk=read_chunk(item, self._vector_name), score=score, kind=kind, rank=rank)


def _first_of_each(found: Sequence[Any]) -> list[Any]:
    """The first of each parent; a chunk without one stands for itself."""
    best: dict[tuple[str, str], Any] = {}
    for item in found:
        parent = item.properties["parent_id"]
        key = ("parent", parent) if parent else ("chunk", item.properties["chunk_id"])
        best.setdefault(key, item)
    return list(best.values())
