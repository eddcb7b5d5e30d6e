"""A knowledge graph embedded anew, in memory, where its own vectors cannot be searched."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragweave.models.embedding import embed_texts
from ragweave.stores.base import IndexSpec
from ragweave.stores.graph import Embedded, GraphReader, GraphTables, Neighbour

if TYPE_CHECKING:
    from ragweave.stores.vector_table import VectorTable


class EmbeddedGraph:
    """The tables of one graph with vectors of other embeddings, made when they are first needed.

    Texts that a graph `before` has vectors of, made by the same embeddings, are not embedded again.
    """

    def __init__(
        self, graph: GraphReader, embeddings: str, *, before: GraphReader | None = None
    ) -> None:
        self.name = graph.name
        self._graph = graph
        self._before = before
        self._embeddings = embeddings
        self._embedding = asyncio.Lock()
        self._tables: GraphTables | None = None
        self._vectors: dict[Embedded, VectorTable] = {}

    async def spec(self) -> IndexSpec | None:
        """What the vectors were made with here."""
        vectors = await self._table("entities")
        return IndexSpec(dimension=vectors.dimension, embeddings=self._embeddings)

    async def tables(self) -> GraphTables:
        """See `GraphReader.tables`."""
        return await self._graph.tables()

    async def nearest_entities(self, vector: Sequence[float], k: int) -> list[Neighbour]:
        """See `GraphReader.nearest_entities`."""
        return (await self._table("entities")).nearest_by_distance(vector, k)

    async def nearest_reports(
        self, vector: Sequence[float], k: int, *, max_level: int | None = None
    ) -> list[Neighbour]:
        """See `GraphReader.nearest_reports`."""
        vectors = await self._table("reports")
        among = (await self.tables()).reports_up_to(max_level, vectors.ids)
        return vectors.nearest_by_cosine(vector, k, among=among)

    async def vectors(self, table: Embedded) -> dict[str, list[float]]:
        """See `GraphReader.vectors`."""
        return (await self._table(table)).as_lists()

    async def ping(self) -> str:
        """See `GraphReader.ping`."""
        return await self._graph.ping()

    async def aclose(self) -> None:
        """Forget the vectors."""
        self._vectors = {}

    async def _table(self, name: Embedded) -> VectorTable:
        async with self._embedding:
            tables = await self.tables()
            if tables is not self._tables:
                self._tables, self._vectors = tables, {}
            if name not in self._vectors:
                self._vectors[name] = await self._embedded(tables, name)
            return self._vectors[name]

    async def _embedded(self, tables: GraphTables, name: Embedded) -> VectorTable:
        texts, known = embedded_texts(tables, name), await self._known(name)
        new = [text for text in dict.fromkeys(texts.values()) if text not in known]
        vectors = await embed_texts(new, embeddings=self._embeddings)
        known |= dict(zip(new, vectors, strict=True))
        module = await asyncio.to_thread(importlib.import_module, "ragweave.stores.vector_table")
        table: VectorTable = module.VectorTable.of({id: known[text] for id, text in texts.items()})
        return table

    async def _known(self, name: Embedded) -> dict[str, list[float]]:
        """By text, the vectors of the graph before."""
        made = await self._before.spec() if self._before else None
        if self._before is None or made is None or made.embeddings != self._embeddings:
            return {}
        texts = embedded_texts(await self._before.tables(), name)
        vectors = await self._before.vectors(name)
        return {texts[id]: vector for id, vector in vectors.items() if id in texts}


def embedded_texts(tables: GraphTables, name: Embedded) -> dict[str, str]:
    """By record id, the text that a record's vector is made from."""
    if name == "entities":
        return {entity.id: entity.embedded_text for entity in tables.entities}
    return {report.id: report.full_content for report in tables.reports}
