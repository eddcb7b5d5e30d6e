"""The embedded index: LanceDB tables in a folder, no server.

Three tables hold an index: `NAME_chunks` with vectors, terms and filter fields, `NAME_parents` and
`NAME_documents`. What it was made for is kept in the chunk table's schema, so that it comes and
goes with it. A tenant has a folder of its own, which nobody else opens.

Importing this module imports LanceDB, which takes a second or two: `open_index` does it off the
event loop, and only when a `lance:` index is opened.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import lancedb
import pyarrow as pa
from lancedb.table import AsyncTable

from ragweave.state.errors import IndexMissing, IndexSchemaMismatch, InvalidSetting
from ragweave.state.missing import no_index
from ragweave.stores.analysis import ANALYSIS_VERSION, query_terms
from ragweave.stores.base import (
    Chunk,
    DocumentRecord,
    Filters,
    Hit,
    IndexSpec,
    Parent,
    SearchSpec,
    WriteReport,
)
from ragweave.stores.checks import (
    check_chunks,
    check_fields,
    check_query_vector,
    check_record,
    check_spec,
    report_write,
    to_json,
)
from ragweave.stores.filters import parse_filters
from ragweave.stores.lance.folder import LanceFolder
from ragweave.stores.lance.rows import (
    CHUNK_COLUMNS,
    DOCUMENT_SCHEMA,
    PARENT_SCHEMA,
    VECTOR,
    Row,
    at_or_below,
    batches,
    chunk_rows,
    chunk_schema,
    document_row,
    groups_of,
    one_of,
    parent_row,
    read_spec,
    to_chunk,
    to_document,
    to_parent,
    where,
)
from ragweave.stores.lance.search import Query, search_table
from ragweave.stores.lance.table import WRITE_SECONDS, LanceTable
from ragweave.stores.lance.upkeep import create_keyword_index, optimize_chunks, optimize_table

RecordT = TypeVar("RecordT", Parent, DocumentRecord)

READ_SECONDS = 30.0
OPTIMIZE_SECONDS = 4 * 3600.0
"""Longest for building indexes: a million chunks take minutes, more on a busy machine."""

_ROWS_PER_PAGE = {"chunks": 500, "parents": 20, "documents": 500}  # a parent may be a whole book
_ROWS_AT_ONCE = 1_000
_BYTES_AT_ONCE = 32 * 1024 * 1024
_DOCUMENTS_AT_ONCE = 100
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class _Made:
    """The chunk table and what it was made for."""

    table: AsyncTable
    spec: IndexSpec
    analysis: int


class LanceIndex:
    """An index in a folder; see `ragweave.stores.base.Index` for what its calls do.

    Several processes may read and write it at once: each read sees what was written before it.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        name: str = "docs",
        tenant: str | None = None,
        timeout: float = READ_SECONDS,
    ) -> None:
        """Name an index; the first call opens it.

        Args:
            path: folder, made when the index is.
            name: of the index within the folder.
            tenant: whose index this is, if it is divided between tenants.
            timeout: longest that a read may take, in seconds.

        Raises:
            InvalidSetting: name, tenant or timeout does not fit.
        """
        for value in (name, tenant):
            if value is not None and not _NAME.fullmatch(value):
                raise InvalidSetting(
                    f"{value!r}: names and tenants are 1 to 64 letters, digits, - and _."
                )
        if not timeout > 0:
            raise InvalidSetting(f"timeout={timeout:g}: must be more than 0 seconds.")
        self.name = f"lance:{path}" + (f"?name={name}" if name != "docs" else "")
        self._timeout = timeout
        self._folder = LanceFolder(Path(path), name=name, tenant=tenant, label=self.name)
        self._chunks, self._parents, self._documents = (
            LanceTable(self._folder, kind, page=page, timeout=timeout)
            for kind, page in _ROWS_PER_PAGE.items()
        )

    @classmethod
    def from_url(cls, url: str, *, tenant: str | None = None) -> LanceIndex:
        """The index that `lance:PATH?name=docs&timeout=30` names.

        Raises:
            InvalidSetting: the URL has no path, or an unknown or unfit setting.
        """
        path, _, query = url.removeprefix("lance:").partition("?")
        settings = dict(parse_qsl(query, keep_blank_values=True))
        if not path or settings.keys() - {"name", "timeout"}:
            raise InvalidSetting(f"{url!r}: write lance:PATH?name=docs&timeout=30.")
        try:
            timeout = float(settings.get("timeout", READ_SECONDS))
        except ValueError as error:
            raise InvalidSetting(f"{url!r}: timeout takes a number of seconds.") from error
        return cls(path, name=settings.get("name", "docs"), tenant=tenant, timeout=timeout)

    # --- what it is made for ------------------------------------------------------------------

    async def ensure(self, spec: IndexSpec) -> None:
        """Create the index if it is not there, and check that it fits."""
        check_fields(spec.fields)
        if spec.dimension < 1:
            raise InvalidSetting(f"An index of {spec.dimension} dimensions: use at least 1.")
        async with self._folder.guard("be created", WRITE_SECONDS):
            if await self._folder.open("chunks") is None:
                await self._folder.prepare()
                # The chunk table comes last: where it is, the index is whole.
                await self._folder.create("parents", PARENT_SCHEMA)
                await self._folder.create("documents", DOCUMENT_SCHEMA)
                await self._folder.create("chunks", chunk_schema(spec))
            made = await self._existing()
            check_spec(self.name, spec, made.spec)
            self._check_analysis(made)
            await create_keyword_index(made.table)

    async def spec(self) -> IndexSpec | None:
        """What the index was made for; None if it does not exist."""
        made = await self._open()
        return made.spec if made else None

    # --- searching ----------------------------------------------------------------------------

    async def search(self, spec: SearchSpec) -> list[Hit]:
        """Search; an index that is empty or not there finds nothing."""
        made = await self._open()
        if made is None or spec.k < 1:
            return []
        self._check_analysis(made)
        async with self._folder.guard("search", self._timeout):
            return await search_table(made.table, await self._query(spec, made.spec))

    async def search_many(self, specs: Sequence[SearchSpec]) -> list[list[Hit]]:
        """Several searches at the same time."""
        return list(await asyncio.gather(*map(self.search, specs)))

    # --- writing ------------------------------------------------------------------------------

    async def upsert(self, chunks: Sequence[Chunk]) -> WriteReport:
        """Write chunks, replacing those of the same id, in batches of bounded size."""
        made = await self._existing()
        self._check_analysis(made)
        checked, failed = await asyncio.to_thread(check_chunks, chunks, made.spec)
        for batch in batches(
            checked,
            lambda item: 4 * len(item.vector) + len(item.chunk.text) + len(item.meta_json),
            most=_ROWS_AT_ONCE,
            largest=_BYTES_AT_ONCE,
        ):
            await self._chunks.merge(await asyncio.to_thread(chunk_rows, batch, made.spec))
        return report_write(self.name, len(checked), failed)

    async def upsert_parents(self, parents: Sequence[Parent]) -> WriteReport:
        """Write parents, replacing those of the same id."""

        def row(parent: Parent) -> Row:
            check_record(parent, ("id", "text"), ("title",))
            parts = to_json([dict(part) for part in parent.parts], "parts")
            return parent_row(parent, parts, to_json(dict(parent.metadata)))

        return await self._upsert_rows(self._parents, PARENT_SCHEMA, parents, row)

    async def upsert_documents(self, documents: Sequence[DocumentRecord]) -> WriteReport:
        """Write document records, replacing those of the same id."""

        def row(document: DocumentRecord) -> Row:
            check_record(document, ("id", "content_hash"), ("path", "title", "url"))
            return document_row(document, to_json(dict(document.metadata)))

        return await self._upsert_rows(self._documents, DOCUMENT_SCHEMA, documents, row)

    async def delete(
        self, *, ids: Sequence[str] | None = None, filters: Filters | None = None
    ) -> None:
        """Delete chunks by id or by filter."""
        if ids is None and filters is None:
            raise InvalidSetting("Say what to delete: ids, or filters ({} for every chunk).")
        if ids is not None:
            await self._chunks.delete_of("id", ids)
        if filters is not None and (made := await self._open()):
            conditions = parse_filters(filters, made.spec.fields)
            await self._chunks.delete(where(conditions, made.spec.fields) or "true")

    async def delete_documents(self, ids: Sequence[str]) -> None:
        """Delete documents with all their chunks."""
        # The records go last: while one is there, its deletion can be repeated.
        await self._chunks.delete_of("document_id", ids)
        await self._documents.delete_of("id", ids)

    async def delete_parents(self, ids: Sequence[str] | None = None) -> None:
        """Delete parents by id, or all of them."""
        if ids is None:
            await self._parents.delete("true")
        else:
            await self._parents.delete_of("id", ids)

    # --- reading ------------------------------------------------------------------------------

    async def get(self, ids: Sequence[str], *, vectors: bool = False) -> list[Chunk]:
        """Chunks by id, in the order asked for."""
        return [to_chunk(row) for row in await self._chunks.by_id(_columns(vectors), ids)]

    async def parents(self, ids: Sequence[str]) -> list[Parent]:
        """Parents by id, in the order asked for."""
        return [to_parent(row) for row in await self._parents.by_id(None, ids)]

    async def get_documents(self, ids: Sequence[str]) -> list[DocumentRecord]:
        """Document records by id, in the order asked for."""
        return [to_document(row) for row in await self._documents.by_id(None, ids)]

    async def chunks_of(self, document_ids: Sequence[str]) -> AsyncIterator[Chunk]:
        """All chunks of some documents, with vectors."""
        for group in groups_of(document_ids, _DOCUMENTS_AT_ONCE):
            async for rows in self._chunks.pages(_columns(True), one_of("document_id", group)):
                for row in rows:
                    yield to_chunk(row)

    async def documents(self, path: str | None = None) -> AsyncIterator[DocumentRecord]:
        """Document records by id; only those at or below `path` if given."""
        below = None if path is None else at_or_below(path)
        async for rows in self._documents.pages(where=below):
            for row in rows:
                yield to_document(row)

    async def scan(self, *, vectors: bool = True) -> AsyncIterator[list[Chunk]]:
        """Every chunk, in pages, by id."""
        async for rows in self._chunks.pages(_columns(vectors)):
            yield [to_chunk(row) for row in rows]

    async def scan_parents(self) -> AsyncIterator[list[Parent]]:
        """Every parent, in pages, by id."""
        async for rows in self._parents.pages():
            yield [to_parent(row) for row in rows]

    async def count(self) -> int:
        """Number of chunks; 0 if the index does not exist."""
        async with self._folder.guard("count", self._timeout):
            table = await self._folder.open("chunks")
            return await table.count_rows() if table else 0

    # --- upkeep -------------------------------------------------------------------------------

    async def optimize(self) -> None:
        """Build what searches a large index, refresh it, and drop old versions."""
        async with self._folder.guard("be optimized", OPTIMIZE_SECONDS):
            if chunks := await self._folder.open("chunks"):
                await optimize_chunks(chunks, self._timeout)
            for kind in ("parents", "documents"):
                if table := await self._folder.open(kind):
                    await optimize_table(table, self._timeout)

    async def ping(self) -> str:
        """Open the index and return LanceDB's version and the folder."""
        await self._open()
        return f"LanceDB {lancedb.__version__} at {self._folder.path}"

    async def aclose(self) -> None:
        """Let go of the tables; the next call opens them again."""
        self._folder.close()

    # --- within -------------------------------------------------------------------------------

    async def _open(self) -> _Made | None:
        async with self._folder.guard("be opened", self._timeout):
            table = await self._folder.open("chunks")
            if table is None:
                return None
            # Read each time: the folder may have been deleted and the index made again.
            spec, analysis = read_spec(await table.schema(), self.name)
            return _Made(table, spec, analysis)

    async def _existing(self) -> _Made:
        if made := await self._open():
            return made
        raise IndexMissing(no_index(self.name, self._folder.tenant))

    def _check_analysis(self, made: _Made) -> None:
        if made.analysis != ANALYSIS_VERSION:
            raise IndexSchemaMismatch(
                f"{self.name} was made with version {made.analysis} of the text analysis, this is "
                f"{ANALYSIS_VERSION}. Ingest into another index."
            )

    async def _query(self, spec: SearchSpec, made: IndexSpec) -> Query:
        by_vector, by_text = spec.mode != "keyword", spec.mode != "vector"
        if by_text and spec.text is None:
            raise InvalidSetting(f"A {spec.mode} search needs a text.")
        return Query(
            spec=spec,
            terms=await query_terms(spec.text) if by_text and spec.text else (),
            vector=check_query_vector(spec.vector, made.dimension, self.name)
            if by_vector
            else None,
            where=where(parse_filters(spec.filters, made.fields), made.fields),
        )

    async def _upsert_rows(
        self,
        table: LanceTable,
        schema: pa.Schema,
        records: Sequence[RecordT],
        row: Callable[[RecordT], Row],
    ) -> WriteReport:
        await self._existing()
        rows: list[Row] = []
        failed: dict[str, str] = {}
        for record in {record.id: record for record in records}.values():
            try:
                rows.append(row(record))
            except ValueError as error:
                failed[str(record.id)] = str(error)
        for batch in batches(rows, _length, most=_ROWS_AT_ONCE, largest=_BYTES_AT_ONCE):
            await table.merge(pa.Table.from_pylist(batch, schema=schema))
        return report_write(self.name, len(rows), failed)


def _columns(vectors: bool) -> tuple[str, ...]:
    return (*CHUNK_COLUMNS, VECTOR) if vectors else CHUNK_COLUMNS


def _length(row: Mapping[str, Any]) -> int:
    return sum(len(value) for value in row.values() if isinstance(value, str))
