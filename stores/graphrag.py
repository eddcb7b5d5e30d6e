"""A GraphRAG 3.x output folder, read where it lies: `graphrag:PATH`.

`PATH` is the folder with `entities.parquet`, or the project's root with `output` in it.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragweave.state.errors import IndexSchemaMismatch, IndexTimeout
from ragweave.stores.base import IndexSpec
from ragweave.stores.graph import Embedded, GraphTables, Neighbour

if TYPE_CHECKING:
    from ragweave.stores.vector_table import VectorTable

PREFIX = "graphrag:"
READ_SECONDS = 120.0


class GraphRagFolder:
    """The tables and vectors of one output folder, read once, and again when its files change."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._path = Path(name.removeprefix(PREFIX)).expanduser()
        self._reading = asyncio.Lock()
        self._stamp: object = None
        self._tables = GraphTables()
        self._vectors: dict[Embedded, VectorTable | None] = {}

    async def spec(self) -> IndexSpec | None:
        """Dimension of the vectors; GraphRAG does not write down which embeddings made them."""
        found = await self._read_vectors("entities")
        return IndexSpec(dimension=found.dimension, embeddings="") if found else None

    async def tables(self) -> GraphTables:
        """All tables.

        Raises:
            IndexMissing: the folder is not there.
            IndexSchemaMismatch: it is no GraphRAG output of version 3.
        """
        reader = await _module("graphrag_read")
        async with self._reading:
            stamp = await _in_thread(reader.stamp, self._path)
            if stamp != self._stamp:
                self._tables = await _in_thread(reader.read_tables, self._path)
                self._stamp, self._vectors = stamp, {}
        return self._tables

    async def nearest_entities(self, vector: Sequence[float], k: int) -> list[Neighbour]:
        """See `GraphReader.nearest_entities`."""
        return (await self._needed_vectors("entities")).nearest_by_distance(vector, k)

    async def nearest_reports(
        self, vector: Sequence[float], k: int, *, max_level: int | None = None
    ) -> list[Neighbour]:
        """See `GraphReader.nearest_reports`."""
        found = await self._needed_vectors("reports")
        among = self._tables.reports_up_to(max_level, found.ids)
        return found.nearest_by_cosine(vector, k, among=among)

    async def vectors(self, table: Embedded) -> dict[str, list[float]]:
        """See `GraphReader.vectors`."""
        found = await self._read_vectors(table)
        return found.as_lists() if found else {}

    async def ping(self) -> str:
        """Read the tables and say what they hold."""
        tables = await self.tables()
        return (
            f"GraphRAG output: {len(tables.entities):,} entities, {len(tables.reports):,} reports"
        )

    async def aclose(self) -> None:
        """Forget what was read."""
        self._stamp, self._tables, self._vectors = None, GraphTables(), {}

    async def _needed_vectors(self, table: Embedded) -> VectorTable:
        found = await self._read_vectors(table)
        if found is None:
            raise IndexSchemaMismatch(
                f"{self.name} has no vector for each of its {table}. Name the `embeddings` to "
                "make them with."
            )
        return found

    async def _read_vectors(self, table: Embedded) -> VectorTable | None:
        tables = await self.tables()
        records = tables.entities if table == "entities" else tables.reports
        reader = await _module("graphrag_vectors")
        async with self._reading:
            if table not in self._vectors:
                ids = {record.id for record in records}
                self._vectors[table] = await _in_thread(reader.read_vectors, self._path, table, ids)
        return self._vectors[table]


async def _module(name: str) -> Any:
    # pyarrow and numpy are read from disk when they are first imported: not on the event loop.
    return await asyncio.to_thread(importlib.import_module, f"ragweave.stores.{name}")


async def _in_thread(function: Any, *arguments: object) -> Any:
    try:
        async with asyncio.timeout(READ_SECONDS):
            return await asyncio.to_thread(function, *arguments)
    except TimeoutError as error:
        raise IndexTimeout(f"Reading took longer than {READ_SECONDS:g} seconds.") from error
