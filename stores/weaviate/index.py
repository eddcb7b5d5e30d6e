"""An index in Weaviate, over its asynchronous client.

Importing this module imports the client, which takes a second: do it off the event loop, once.
The parts: where an index lies (`weaviate_address`), connections (`weaviate_connection`), deadlines
and errors (`weaviate_errors`), the collections (`weaviate_schema`), records as objects
(`weaviate_rows`), reading and writing one kind of record (`weaviate_table`), and search
(`weaviate_search`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Container, Sequence
from typing import Any, TypeVar

from weaviate.classes.query import Filter

from ragweave.state.errors import IndexMissing, InvalidSetting
from ragweave.state.missing import no_index
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
from ragweave.stores.checks import check_chunks, check_fields, check_record, report_write
from ragweave.stores.weaviate.access import Access
from ragweave.stores.weaviate.address import check_tenant, parse_address
from ragweave.stores.weaviate.filters import WeaviateFilter, kept_whole, translate
from ragweave.stores.weaviate.layout import Layout
from ragweave.stores.weaviate.rows import (
    CHUNK_PROPERTIES,
    DOCUMENT_PROPERTIES,
    PARENT_PROPERTIES,
    Row,
    chunk_row,
    document_row,
    parent_row,
    read_chunk,
    read_document,
    read_parent,
)
from ragweave.stores.weaviate.schema import documents_of, parents_of
from ragweave.stores.weaviate.search import prepare, search_collection
from ragweave.stores.weaviate.table import Prepared, Table
from ragweave.stores.weaviate.writes import slices

_CHUNKS_PER_PAGE, _DOCUMENTS_PER_PAGE = 200, 500
_PARENTS_PER_PAGE = 20
"""A parent may be a whole book."""

_DOCUMENTS_PER_FILTER = 50

Record = TypeVar("Record", Parent, DocumentRecord)


class WeaviateIndex:
    """Chunks, parents and document records of one tenant in three collections."""

    def __init__(self, name: str, access: Access) -> None:
        self.name = name
        address = access.address
        self._access = access
        self._vector = address.vector
        self._layout = Layout(access, address.collection, missing=no_index(name, access.tenant))
        self._chunks = Table(
            access,
            address.collection,
            key="chunk_id",
            properties=CHUNK_PROPERTIES,
            read=lambda found: read_chunk(found, address.vector),
            page=_CHUNKS_PER_PAGE,
        )
        self._parents = Table(
            access,
            parents_of(address.collection),
            key="parent_id",
            properties=PARENT_PROPERTIES,
            read=read_parent,
            page=_PARENTS_PER_PAGE,
        )
        self._documents = Table(
            access,
            documents_of(address.collection),
            key="document_id",
            properties=DOCUMENT_PROPERTIES,
            read=read_document,
            page=_DOCUMENTS_PER_PAGE,
        )

    @classmethod
    def from_url(cls, name: str, *, tenant: str | None = None) -> WeaviateIndex:
        """The index of an index string. Nothing is reached before the first call.

        Raises:
            InvalidSetting: the string or the tenant's name is not valid.
        """
        return cls(name, Access(parse_address(name), check_tenant(tenant)))

    async def ensure(self, spec: IndexSpec) -> None:
        """Create the collections, and the tenant, if they are not there."""
        check_fields(spec.fields)
        if spec.dimension < 1:
            raise InvalidSetting(f"An index of {spec.dimension} dimensions: use at least 1.")
        await self._layout.ensure(spec)

    async def spec(self) -> IndexSpec | None:
        """What the index was made for; None if the collection or the tenant does not exist."""
        return await self._layout.spec()

    async def upsert(self, chunks: Sequence[Chunk]) -> WriteReport:
        """Write chunks, replacing those of the same id."""
        spec = await self._layout.written_spec()

        def prepare(part: list[Chunk]) -> Prepared:
            checked, failed = check_chunks(part, spec)
            name = self._chunks.collection
            return [chunk_row(item, name, self._vector) for item in checked], failed

        last_of_each = {chunk.id: chunk for chunk in chunks}.values()
        return report_write(self.name, *await self._chunks.write(last_of_each, prepare))

    async def upsert_parents(self, parents: Sequence[Parent]) -> WriteReport:
        """Write parents, replacing those of the same id."""
        return await self._upsert(self._parents, parents, parent_row, ("id", "text"), ("title",))

    async def upsert_documents(self, documents: Sequence[DocumentRecord]) -> WriteReport:
        """Write document records, replacing those of the same id."""
        return await self._upsert(
            self._documents,
            documents,
            document_row,
            ("id", "content_hash"),
            ("path", "title", "url"),
        )

    async def search(self, spec: SearchSpec) -> list[Hit]:
        """Search; no more than 10,000 results are found at once."""
        made = await self._layout.searched_spec()
        if made is None:
            return []
        query = await prepare(spec, made, vector_name=self._vector, index=self.name)
        try:
            return await self._access.read(
                self._chunks.collection, lambda collection: search_collection(collection, query)
            )
        except IndexMissing:  # others have deleted it
            self._layout.forget()
            return []

    async def search_many(self, specs: Sequence[SearchSpec]) -> list[list[Hit]]:
        """Several searches at once, over one connection."""
        return list(await asyncio.gather(*(self.search(spec) for spec in specs)))

    async def get(self, ids: Sequence[str], *, vectors: bool = False) -> list[Chunk]:
        """Chunks by id, in the order asked for."""
        return await self._chunks.get(ids, vectors=vectors)

    async def parents(self, ids: Sequence[str]) -> list[Parent]:
        """Parents by id, in the order asked for."""
        return await self._parents.get(ids)

    async def get_documents(self, ids: Sequence[str]) -> list[DocumentRecord]:
        """Document records by id, in the order asked for."""
        return await self._documents.get(ids)

    async def chunks_of(self, document_ids: Sequence[str]) -> AsyncIterator[Chunk]:
        """All chunks of some documents, with vectors."""
        for part in slices(dict.fromkeys(document_ids), _DOCUMENTS_PER_FILTER):
            ids = await self._chunks.ids_where(_of_documents(part))
            if ids is None:
                kept = {kept_whole(id) for id in part}
                ids = await self._chunks.ids("document_id", keep=_has("document_id", kept))
            async for page in self._chunks.pages(ids, vectors=True):
                for chunk in page:
                    yield chunk

    async def documents(self, path: str | None = None) -> AsyncIterator[DocumentRecord]:
        """Document records, ordered by id; only those at or below `path` if given."""
        ids = await self._documents.ids("path", keep=lambda kept: _is_below(kept["path"], path))
        async for page in self._documents.pages(ids):
            for document in page:
                yield document

    async def scan(self, *, vectors: bool = True) -> AsyncIterator[list[Chunk]]:
        """Every chunk, in pages, ordered by id; ids are read first, and kept in memory."""
        async for page in self._chunks.pages(await self._chunks.ids(), vectors=vectors):
            yield page

    async def scan_parents(self) -> AsyncIterator[list[Parent]]:
        """Every parent, in pages, ordered by id."""
        async for page in self._parents.pages(await self._parents.ids()):
            yield page

    async def delete(
        self, *, ids: Sequence[str] | None = None, filters: Filters | None = None
    ) -> None:
        """Delete chunks by id or by filter."""
        if ids is None and filters is None:
            raise InvalidSetting("Say what to delete: ids, or filters ({} for every chunk).")
        if ids is not None:
            await self._chunks.delete(ids)
        if filters is not None and (spec := await self._layout.spec()):
            condition, possible = translate(filters, spec.fields)
            if possible:
                await self._chunks.delete_where(condition)

    async def delete_documents(self, ids: Sequence[str]) -> None:
        """Delete documents with all their chunks: the records last, so that it can be repeated."""
        for part in slices(ids, _DOCUMENTS_PER_FILTER):
            await self._chunks.delete_where(_of_documents(part))
        await self._documents.delete(ids)

    async def delete_parents(self, ids: Sequence[str] | None = None) -> None:
        """Delete parents by id, or all of them."""
        if ids is None:
            await self._parents.delete_where(None)
        else:
            await self._parents.delete(ids)

    async def count(self) -> int:
        """Number of chunks; 0 if the index does not exist."""
        return await self._chunks.count()

    async def optimize(self) -> None:
        """Nothing to do: the server indexes as it writes."""

    async def ping(self) -> str:
        """Reach the server by REST and by gRPC; its name and version."""
        return await self._layout.ping()

    async def aclose(self) -> None:
        """Let go of the running event loop's connection. Safe to call twice."""
        await self._access.aclose()

    async def _upsert(
        self,
        table: Table[Any],
        records: Sequence[Record],
        row: Callable[[Record, str], Row],
        texts: Sequence[str],
        optional_texts: Sequence[str],
    ) -> WriteReport:
        await self._layout.written_spec()

        def prepare(part: list[Record]) -> Prepared:
            rows: list[Row] = []
            failed: dict[str, str] = {}
            for record in part:
                try:
                    check_record(record, texts, optional_texts)
                    rows.append(row(record, table.collection))
                except ValueError as error:
                    failed[str(record.id)] = str(error)
            return rows, failed

        last_of_each = {record.id: record for record in records}.values()
        return report_write(self.name, *await table.write(last_of_each, prepare))


def _of_documents(ids: Sequence[str]) -> WeaviateFilter:
    return Filter.by_property("document_id").contains_any([kept_whole(id) for id in ids])


def _has(name: str, values: Container[Any]) -> Callable[[Any], bool]:
    return lambda properties: properties[name] in values


def _is_below(kept: str | None, path: str | None) -> bool:
    """Whether a document's path is `path` or lies in it, with either kind of slash."""
    if path is None:
        return True
    bare = path.rstrip("/\\")
    return kept is not None and (kept in (path, bare) or kept.startswith((f"{bare}/", f"{bare}\\")))
