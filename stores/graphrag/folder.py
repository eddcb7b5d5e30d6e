"""A GraphRAG 3.x output folder, read and written where it lies: `graphrag:PATH`.

`PATH` is the folder with `entities.parquet`, or the project's root with `output` in it.
"""

from __future__ import annotations

import asyncio
import importlib
import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragweave.state.errors import (
    IndexMissing,
    IndexSchemaMismatch,
    IndexTimeout,
    InvalidSetting,
)
from ragweave.stores.base import IndexSpec
from ragweave.stores.graph import (
    EMBEDDED,
    TABLES,
    Embedded,
    GraphChanges,
    GraphTables,
    Neighbour,
)

if TYPE_CHECKING:
    from ragweave.stores.vector_table import VectorTable

PREFIX = "graphrag:"
READ_SECONDS = 120.0
RECHECK_SECONDS = 1.0
"""How long tables are taken to be unchanged before the files are looked at again."""


class GraphRagFolder:
    """The tables and vectors of one output folder, read once, and again when its files change."""

    @classmethod
    def from_url(cls, url: str, *, tenant: str | None = None) -> GraphRagFolder:
        """The folder that `graphrag:PATH` names.

        Raises:
            InvalidSetting: there is no path, or a tenant is given: such a folder has none.
        """
        if tenant is not None or not url.removeprefix(PREFIX):
            raise InvalidSetting(f"{url!r}: write graphrag:PATH, without a tenant.")
        return cls(url)

    def __init__(self, name: str) -> None:
        self.name = name
        self._path = Path(name.removeprefix(PREFIX)).expanduser()
        self._reading = asyncio.Lock()
        self._stamp: object = None
        self._looked = -math.inf
        self._spec: IndexSpec | None = None
        self._tables = GraphTables()
        self._vectors: dict[Embedded, VectorTable | None] = {}

    async def spec(self) -> IndexSpec | None:
        """Dimension of the vectors, and their embeddings where ragweave wrote the folder."""
        try:
            await self.tables()
        except IndexMissing:
            return None
        if self._spec is None:
            found = await self._read_vectors("entities")
            self._spec = IndexSpec(dimension=found.dimension, embeddings="") if found else None
        return self._spec

    async def ensure(self, spec: IndexSpec) -> None:
        """Make the folder, if it is not there, with empty tables.

        Raises:
            IndexSchemaMismatch: it is there, for other embeddings or by GraphRAG itself.
        """
        writer, reader = await _module("write"), await _module("read")
        made: IndexSpec | None = await _in_thread(writer.read_spec, self._path)
        if made is None and await _in_thread(reader.holds_tables, self._path):
            raise IndexSchemaMismatch(
                f"{self.name} was written by GraphRAG. It can be read, and copied, but not changed."
            )
        if made is not None and made != spec:
            raise IndexSchemaMismatch(
                f"{self.name} has vectors of {made.dimension} dimensions by {made.embeddings!r}, "
                f"not of {spec.dimension} by {spec.embeddings!r}."
            )
        if made is None:
            await _in_thread(writer.write_tables, self._path, GraphTables())
            await _in_thread(writer.write_spec, self._path, spec)
            self._looked = -math.inf

    async def tables(self) -> GraphTables:
        """All tables.

        Raises:
            IndexMissing: the folder is not there.
            IndexSchemaMismatch: it is no GraphRAG output of version 3.
        """
        async with self._reading:
            if time.monotonic() - self._looked > RECHECK_SECONDS:
                await self._look()
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

    async def write(self, changes: GraphChanges) -> None:
        """Write the tables and vectors that change, each file in one step."""
        writer = await _module("write")
        before = await self.tables()
        vectors = {table: await self.vectors(table) for table in EMBEDDED}
        async with self._reading:
            await _in_thread(_write, writer, self._path, before, changes, vectors)
            self._stamp, self._looked = None, -math.inf

    async def ping(self) -> str:
        """Read the tables and say what they hold."""
        tables = await self.tables()
        return (
            f"GraphRAG output: {len(tables.entities):,} entities, {len(tables.reports):,} reports"
        )

    async def aclose(self) -> None:
        """Forget what was read."""
        self._stamp, self._looked, self._spec = None, -math.inf, None
        self._tables, self._vectors = GraphTables(), {}

    async def _look(self) -> None:
        """Read the tables if a file has changed since they were read."""
        reader = await _module("read")
        stamp = await _in_thread(reader.stamp, self._path)
        if stamp != self._stamp:
            writer = await _module("write")
            self._tables = await _in_thread(reader.read_tables, self._path)
            self._spec = await _in_thread(writer.read_spec, self._path)
            self._stamp, self._vectors = stamp, {}
        self._looked = time.monotonic()

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
        async with self._reading:
            if table not in self._vectors:
                reader = await _module("vectors")
                ids = {record.id for record in records}
                self._vectors[table] = await _in_thread(reader.read_vectors, self._path, table, ids)
        return self._vectors[table]


async def _module(name: str) -> Any:
    # pyarrow and numpy are read from disk when they are first imported: not on the event loop.
    return await asyncio.to_thread(importlib.import_module, f"ragweave.stores.graphrag.{name}")


async def _in_thread(function: Any, *arguments: object) -> Any:
    try:
        async with asyncio.timeout(READ_SECONDS):
            return await asyncio.to_thread(function, *arguments)
    except TimeoutError as error:
        raise IndexTimeout(f"Reading took longer than {READ_SECONDS:g} seconds.") from error


def _write(
    writer: Any,
    path: Path,
    before: GraphTables,
    changes: GraphChanges,
    vectors: Mapping[Embedded, Mapping[str, Sequence[float]]],
) -> None:
    after = changes.applied_to(before)
    changed = [table for table in TABLES if getattr(after, table) != getattr(before, table)]
    writer.write_tables(path, after, changed)
    for table in EMBEDDED:
        ids = {record.id for record in getattr(after, table)}
        new = {**vectors[table], **changes.vectors.get(table, {})}
        kept = {record: vector for record, vector in new.items() if record in ids}
        if kept != vectors[table]:
            writer.write_vectors(path, table, kept)
