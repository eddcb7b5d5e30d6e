"""A knowledge graph in Weaviate, beside the chunks of the index of the same name."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weaviate.classes.query import Filter, MetadataQuery

from ragweave.state.errors import IndexMissing
from ragweave.state.missing import no_graph
from ragweave.stores.base import IndexSpec
from ragweave.stores.checks import check_vector, report_write
from ragweave.stores.graph import (
    EMBEDDED,
    TABLES,
    Embedded,
    GraphChanges,
    GraphTables,
    Neighbour,
    Report,
    TableName,
    check_dimension,
)
from ragweave.stores.graph_json import from_json, to_json
from ragweave.stores.weaviate.access import Access
from ragweave.stores.weaviate.address import check_tenant, parse_address
from ragweave.stores.weaviate.filters import WeaviateFilter, as_written, kept_whole
from ragweave.stores.weaviate.graph_schema import (
    LEVEL,
    RECORD_PROPERTIES,
    STATE_PROPERTIES,
    graph_collections,
    graph_of,
    table_of,
)
from ragweave.stores.weaviate.layout import Layout
from ragweave.stores.weaviate.rows import Row, make_row
from ragweave.stores.weaviate.search import MAXIMUM_RESULTS
from ragweave.stores.weaviate.table import Prepared, Table
from ragweave.stores.weaviate.writes import BATCH_OBJECTS, slices

_LAST_WRITE = "last_write"


@dataclass(frozen=True, slots=True)
class _Kept:
    """A record as it lies in its collection."""

    id: str
    number: int
    record: Any
    vector: list[float] | None


class WeaviateGraph:
    """See `ragweave.stores.graph.GraphIndex` for what its calls do."""

    def __init__(self, name: str, access: Access) -> None:
        self.name = name
        self._access = access
        self._vector = access.address.vector
        main = graph_of(access.address.collection)
        self._layout = Layout(
            access,
            main,
            graph_collections,
            missing=no_graph(name, access.tenant),
        )
        self._rows = {table: self._table(table) for table in TABLES}
        self._state = Table(
            access,
            main,
            key="state_id",
            properties=STATE_PROPERTIES,
            read=lambda found: str(found.properties["value"]),
            page=1,
        )
        self._reading = asyncio.Lock()
        self._read: GraphTables | None = None
        self._read_after: list[str] = []
        """The last write before the tables were read."""

    @classmethod
    def from_url(cls, name: str, *, tenant: str | None = None) -> WeaviateGraph:
        """The graph of an index string. Nothing is reached before the first call.

        Raises:
            InvalidSetting: the string or the tenant's name is not valid.
        """
        return cls(name, Access(parse_address(name), check_tenant(tenant)))

    async def spec(self) -> IndexSpec | None:
        """What the vectors were made with; None if there is no graph."""
        return await self._layout.spec()

    async def ensure(self, spec: IndexSpec) -> None:
        """Create the collections, and the tenant, if they are not there."""
        await self._layout.ensure(spec)

    async def tables(self) -> GraphTables:
        """All tables, by number; read again only when something was written."""
        async with self._reading:
            await self._expect_graph()
            last_write = await self._state.get([_LAST_WRITE])
            if self._read is None or last_write != self._read_after:
                found: dict[str, Any] = {table: await self._records(table) for table in TABLES}
                self._read, self._read_after = GraphTables(**found), last_write
            return self._read

    async def nearest_entities(self, vector: Sequence[float], k: int) -> list[Neighbour]:
        """See `GraphReader.nearest_entities`."""
        return await self._nearest("entities", vector, k, None)

    async def nearest_reports(
        self, vector: Sequence[float], k: int, *, max_level: int | None = None
    ) -> list[Neighbour]:
        """See `GraphReader.nearest_reports`."""
        bound = None if max_level is None else Filter.by_property(LEVEL).less_or_equal(max_level)
        return await self._nearest("reports", vector, k, bound)

    async def vectors(self, table: Embedded) -> dict[str, list[float]]:
        """See `GraphReader.vectors`."""
        pages = self._rows[table].everything(vectors=True)
        return {kept.id: kept.vector async for page in pages for kept in page if kept.vector}

    async def write(self, changes: GraphChanges) -> None:
        """Write records, those first that others refer to, then delete, in the other order.

        Readers are told before and after: one that reads in between reads again.
        """
        spec = await self._layout.written_spec()
        await self._tell_readers()
        for table in TABLES:
            await self._upsert(table, changes, spec)
        for table in reversed(TABLES):
            await self._rows[table].delete(sorted(changes.delete.get(table, ())))
        await self._tell_readers()

    async def ping(self) -> str:
        """Read the tables and say what they hold."""
        tables = await self.tables()
        return f"graph: {len(tables.entities):,} entities, {len(tables.reports):,} reports"

    async def aclose(self) -> None:
        """Let go of the running event loop's connection and of what was read."""
        await self._access.aclose()
        self._read, self._read_after = None, []

    def _table(self, table: TableName) -> Table[_Kept]:
        def read(found: Any) -> _Kept:
            kept = found.properties
            return _Kept(
                id=as_written(kept["record_id"]),
                number=kept["number"],
                record=from_json(table, kept["record"]),
                vector=found.vector.get(self._vector),
            )

        return Table(
            self._access,
            table_of(self._access.address.collection, table),
            key="record_id",
            properties=RECORD_PROPERTIES,
            read=read,
            page=20 if table == "documents" else BATCH_OBJECTS,  # a document may be a whole book
        )

    async def _expect_graph(self) -> IndexSpec:
        spec = await self._layout.spec()
        if spec is None:
            raise IndexMissing(no_graph(self.name, self._access.tenant))
        return spec

    async def _tell_readers(self) -> None:
        def prepare(ids: list[str]) -> Prepared:
            value = {"state_id": _LAST_WRITE, "value": uuid.uuid4().hex}
            return [make_row(id, self._state.collection, value) for id in ids], {}

        report_write(self.name, *await self._state.write([_LAST_WRITE], prepare))

    async def _records(self, table: TableName) -> tuple[Any, ...]:
        found = [kept async for page in self._rows[table].everything() for kept in page]
        found.sort(key=lambda kept: (kept.number, kept.id))
        return tuple(kept.record for kept in found)

    async def _nearest(
        self, table: Embedded, vector: Sequence[float], k: int, bound: WeaviateFilter | None
    ) -> list[Neighbour]:
        made = await self._layout.spec()
        if made is None or k < 1:
            return []
        check_dimension(vector, made.dimension)
        reply = await self._access.read(
            self._rows[table].collection,
            lambda collection: collection.query.near_vector(
                [float(number) for number in vector],
                target_vector=self._vector,
                limit=min(k, MAXIMUM_RESULTS),
                filters=bound,
                return_metadata=MetadataQuery(distance=True),
                return_properties=["record_id"],
            ),
        )
        found = [
            Neighbour(as_written(item.properties["record_id"]), 1 - item.metadata.distance)
            for item in reply.objects
        ]
        return sorted(found, key=lambda hit: (-hit.score, hit.id))

    async def _upsert(self, table: TableName, changes: GraphChanges, spec: IndexSpec) -> None:
        rows = self._rows[table]
        for part in slices(getattr(changes.upsert, table), BATCH_OBJECTS):
            vectors = await self._vectors_for(table, part, changes) if table in EMBEDDED else {}

            def prepare(
                records: list[Any], vectors: Mapping[str, Sequence[float]] = vectors
            ) -> Prepared:
                made: list[Row] = []
                failed: dict[str, str] = {}
                for record in records:
                    try:
                        made.append(self._row(record, rows.collection, vectors, spec.dimension))
                    except ValueError as error:
                        failed[record.id] = str(error)
                return made, failed

            report_write(self.name, *await rows.write(part, prepare))

    async def _vectors_for(
        self, table: Any, records: Sequence[Any], changes: GraphChanges
    ) -> dict[str, Sequence[float]]:
        """New vectors, and for records without one the vector that is stored."""
        new = changes.vectors.get(table, {})
        old_ids = [record.id for record in records if record.id not in new]
        stored = await self._rows[table].get(old_ids, vectors=True)
        return {**{kept.id: kept.vector for kept in stored if kept.vector}, **new}

    def _row(
        self, record: Any, collection: str, vectors: Mapping[str, Sequence[float]], dimension: int
    ) -> Row:
        """A record as an object.

        Raises:
            ValueError: its vector is not usable, or its text is none.
        """
        properties = {
            "record_id": kept_whole(record.id),
            "number": record.number,
            "record": to_json(record),
            LEVEL: record.level if isinstance(record, Report) else None,
        }
        vector = vectors.get(record.id)
        given = {self._vector: check_vector(vector, dimension)} if vector else None
        return make_row(record.id, collection, properties, given)
