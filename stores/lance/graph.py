"""A knowledge graph beside the chunks of a LanceDB index: `lance:PATH?name=docs`.

Seven tables `NAME_graph_TABLE` hold it, each record as JSON, with a vector where it has one. What
the vectors were made with is kept in the entity table's schema.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pyarrow as pa

from ragweave.state.errors import IndexMissing, IndexSchemaMismatch, InvalidSetting
from ragweave.state.missing import no_graph
from ragweave.stores.base import IndexSpec
from ragweave.stores.graph import (
    EMBEDDED,
    TABLES,
    Embedded,
    GraphChanges,
    GraphTables,
    Neighbour,
    TableName,
    check_dimension,
)
from ragweave.stores.graph_json import from_json, to_json
from ragweave.stores.lance.folder import LanceFolder
from ragweave.stores.lance.rows import Row
from ragweave.stores.lance.table import LanceTable

READ_SECONDS = 60.0
_ROWS_AT_ONCE = 1_000
_PAGE = 500
_SPEC = b"ragweave.graph"


class LanceGraph:
    """See `ragweave.stores.graph.GraphIndex` for what its calls do."""

    def __init__(self, path: str | Path, *, name: str = "docs", tenant: str | None = None) -> None:
        self.name = f"lance:{path}" + (f"?name={name}" if name != "docs" else "")
        self._folder = LanceFolder(Path(path), name=name, tenant=tenant, label=self.name)
        self._rows = {
            table: LanceTable(self._folder, _kind(table), page=_PAGE, timeout=READ_SECONDS)
            for table in TABLES
        }
        self._versions: dict[TableName, int] = {}
        self._read = GraphTables()

    @classmethod
    def from_url(cls, url: str, *, tenant: str | None = None) -> LanceGraph:
        """The graph of the index that `lance:PATH?name=docs` names.

        Raises:
            InvalidSetting: the URL has no path.
        """
        path, _, query = url.removeprefix("lance:").partition("?")
        if not path:
            raise InvalidSetting(f"{url!r}: write lance:PATH?name=docs.")
        return cls(path, name=dict(parse_qsl(query)).get("name", "docs"), tenant=tenant)

    async def spec(self) -> IndexSpec | None:
        """What the vectors were made with; None if there is no graph."""
        table = await self._rows["entities"].open()
        if table is None:
            return None
        async with self._folder.guard("read", READ_SECONDS):
            metadata = (await table.schema()).metadata or {}
        made = json.loads(metadata.get(_SPEC, b"{}"))
        return IndexSpec(dimension=made.get("dimension", 0), embeddings=made.get("embeddings", ""))

    async def ensure(self, spec: IndexSpec) -> None:
        """Create the tables if they are not there, and check that the vectors fit."""
        if made := await self.spec():
            made.expect_embeddings(spec.embeddings, self.name)
            if made.dimension != spec.dimension:
                raise IndexSchemaMismatch(
                    f"The graph of {self.name} has vectors of {made.dimension} dimensions, not "
                    f"{spec.dimension}."
                )
        async with self._folder.guard("be created", READ_SECONDS):
            await self._folder.prepare()
            for table in TABLES:
                await self._folder.create(_kind(table), _schema(table, spec))

    async def tables(self) -> GraphTables:
        """All tables, by number; one is read again only when it was written."""
        versions, before, read = await self._current_versions(), self._versions, self._read
        if versions != before:
            found: dict[str, Any] = {}
            for table in TABLES:
                kept = table in before and before[table] == versions.get(table)
                found[table] = getattr(read, table) if kept else await self._records(table)
            self._read, self._versions = GraphTables(**found), versions
        return self._read

    async def nearest_entities(self, vector: Sequence[float], k: int) -> list[Neighbour]:
        """See `GraphReader.nearest_entities`."""
        found = await self._nearest("entities", vector, k, distance="l2", where=None)
        return [Neighbour(row["id"], 1 - row["_distance"]) for row in found]

    async def nearest_reports(
        self, vector: Sequence[float], k: int, *, max_level: int | None = None
    ) -> list[Neighbour]:
        """See `GraphReader.nearest_reports`."""
        where = None if max_level is None else f"level <= {int(max_level)}"
        found = await self._nearest("reports", vector, k, distance="cosine", where=where)
        return [Neighbour(row["id"], 1 - row["_distance"]) for row in found]

    async def vectors(self, table: Embedded) -> dict[str, list[float]]:
        """See `GraphReader.vectors`."""
        rows = await self._rows[table].read(["id", "vector"], "vector IS NOT NULL")
        return {row["id"]: row["vector"] for row in rows}

    async def write(self, changes: GraphChanges) -> None:
        """Write records, those first that others refer to, then delete, in the other order."""
        for table in TABLES:
            records = getattr(changes.upsert, table)
            for first in range(0, len(records), _ROWS_AT_ONCE):
                await self._upsert(table, records[first : first + _ROWS_AT_ONCE], changes)
        for table in reversed(TABLES):
            if ids := sorted(changes.delete.get(table, ())):
                await self._rows[table].delete_of("id", ids)

    async def ping(self) -> str:
        """Read the tables and say what they hold."""
        tables = await self.tables()
        return f"graph: {len(tables.entities):,} entities, {len(tables.reports):,} reports"

    async def aclose(self) -> None:
        """Let go of the folder and of what was read."""
        self._folder.close()
        self._versions, self._read = {}, GraphTables()

    async def _current_versions(self) -> dict[TableName, int]:
        opened = {table: await self._rows[table].open() for table in TABLES}
        if opened["entities"] is None:
            raise IndexMissing(no_graph(self.name, self._folder.tenant))
        async with self._folder.guard("read", READ_SECONDS):
            return {name: await table.version() for name, table in opened.items() if table}

    async def _records(self, table: TableName) -> tuple[Any, ...]:
        rows = await self._rows[table].read(["number", "record"], "true")
        return await asyncio.to_thread(_parsed, table, rows)

    async def _nearest(
        self, table: Embedded, vector: Sequence[float], k: int, *, distance: Any, where: str | None
    ) -> list[dict[str, Any]]:
        made = await self.spec()
        opened = await self._rows[table].open()
        if made is None or opened is None:
            return []
        check_dimension(vector, made.dimension)
        async with self._folder.guard("be searched", READ_SECONDS):
            query = opened.query().nearest_to(list(vector)).distance_type(distance).limit(k)
            query = query.where("vector IS NOT NULL" + (f" AND {where}" if where else ""))
            rows: list[dict[str, Any]] = (
                await query.select(["id", "_distance"]).to_arrow()
            ).to_pylist()
        return sorted(rows, key=lambda row: (row["_distance"], row["id"]))

    async def _upsert(
        self, table: TableName, records: Sequence[Any], changes: GraphChanges
    ) -> None:
        if not records:
            return
        vectors = await self._vectors_for(table, records, changes) if table in EMBEDDED else None
        spec = await self.spec() or IndexSpec(dimension=0, embeddings="")
        rows = await asyncio.to_thread(_as_rows, table, records, vectors, spec)
        await self._rows[table].merge(rows)

    async def _vectors_for(
        self, table: Embedded, records: Sequence[Any], changes: GraphChanges
    ) -> list[Sequence[float] | None]:
        """New vectors, and for records without one the vector that is stored."""
        new: Mapping[str, Sequence[float]] = changes.vectors.get(table, {})
        old_ids = [record.id for record in records if record.id not in new]
        rows = await self._rows[table].by_id(["id", "vector"], old_ids)
        stored = {row["id"]: row["vector"] for row in rows}
        return [new.get(record.id, stored.get(record.id)) for record in records]


def _kind(table: TableName) -> str:
    return f"graph_{table}"


def _parsed(table: TableName, rows: list[Row]) -> tuple[Any, ...]:
    """The records that rows hold, by number."""
    rows.sort(key=lambda row: row["number"])
    return tuple(from_json(table, row["record"]) for row in rows)


def _as_rows(
    table: TableName,
    records: Sequence[Any],
    vectors: Sequence[Sequence[float] | None] | None,
    spec: IndexSpec,
) -> pa.Table:
    columns: dict[str, Any] = {
        "id": [record.id for record in records],
        "number": [record.number for record in records],
        "record": [to_json(record) for record in records],
    }
    if table == "reports":
        columns["level"] = [record.level for record in records]
    if table in EMBEDDED:
        columns["vector"] = vectors
    return pa.table(columns, schema=_schema(table, spec))


def _schema(table: TableName, spec: IndexSpec) -> pa.Schema:
    columns = [("id", pa.string()), ("number", pa.int64()), ("record", pa.string())]
    if table == "reports":
        columns.append(("level", pa.int64()))
    if table in EMBEDDED:
        columns.append(("vector", pa.list_(pa.float32(), spec.dimension)))
    made = {"dimension": spec.dimension, "embeddings": spec.embeddings}
    return pa.schema(columns, metadata={_SPEC: json.dumps(made).encode()})
