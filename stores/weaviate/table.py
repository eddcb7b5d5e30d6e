"""What chunks, parents and document records have in common: each kind is one collection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, Generic, TypeVar

from weaviate.classes.query import Filter

from ragweave.state.errors import IndexFailure, IndexMissing
from ragweave.stores.weaviate.access import Access
from ragweave.stores.weaviate.filters import WeaviateFilter, as_written
from ragweave.stores.weaviate.rows import Row, object_id
from ragweave.stores.weaviate.search import MAXIMUM_RESULTS
from ragweave.stores.weaviate.writes import (
    BATCH_OBJECTS,
    batches,
    in_flight,
    insert,
    slices,
)

_IDS_PER_PAGE = 1000
_NO_OBJECT = "00000000-0000-0000-0000-000000000000"

Record = TypeVar("Record")
Source = TypeVar("Source")
Prepared = tuple[list[Row], dict[str, str]]
"""Objects to write, and the reasons by id for the records that cannot be stored."""


class Table(Generic[Record]):
    """One kind of record. A collection or tenant that is not there holds nothing."""

    def __init__(
        self,
        access: Access,
        collection: str,
        *,
        key: str,
        properties: Sequence[str],
        read: Callable[[Any], Record],
        page: int,
    ) -> None:
        self.collection = collection
        self._access = access
        self._key = key
        self._properties = list(properties)
        self._read = read
        self._page = page
        """Records that are read at once: a page must fit one message."""

    async def write(
        self, records: Iterable[Source], prepare: Callable[[list[Source]], Prepared]
    ) -> tuple[int, dict[str, str]]:
        """Write records; how many are stored, and why the others are not.

        `prepare` turns some records into objects, in a thread: analysing text takes time.
        """
        stored = 0
        failed: dict[str, str] = {}

        async def write_part(part: list[Source]) -> None:
            nonlocal stored
            rows, refused = await asyncio.to_thread(prepare, part)
            failed.update(refused)
            for batch in batches(rows):
                refused = await self._insert(batch)
                failed.update(refused)
                stored += len(batch) - len(refused)

        await in_flight(slices(records, BATCH_OBJECTS), write_part)
        return stored, failed

    async def get(self, ids: Sequence[str], *, vectors: bool = False) -> list[Record]:
        """Records in the order asked for, without those that are not there."""
        objects = {id: object_id(self.collection, id) for id in ids}
        found: dict[Any, Record] = {}
        with suppress(IndexMissing):
            for part in slices(objects.values(), self._page):
                found |= await self._page_of(part, vectors)
        return [found[objects[id]] for id in ids if objects[id] in found]

    async def _page_of(self, objects: list[Any], vectors: bool) -> dict[Any, Record]:
        reply = await self._access.read(
            self.collection,
            lambda collection: collection.query.fetch_objects_by_ids(
                objects,
                limit=len(objects),
                include_vector=vectors,
                return_properties=self._properties,
            ),
        )
        return {item.uuid: self._read(item) for item in reply.objects}

    async def pages(
        self, ids: Sequence[str], *, vectors: bool = False
    ) -> AsyncIterator[list[Record]]:
        """The records of these ids, page by page."""
        for part in slices(ids, self._page):
            if page := await self.get(part, vectors=vectors):
                yield page

    async def ids(
        self, *read: str, keep: Callable[[Any], bool] = lambda properties: True
    ) -> list[str]:
        """Ids in order, of the records whose properties (`read`, and the id's) pass `keep`.

        The server goes through a collection in an order of its own, so all ids are read first.
        """
        ids: list[str] = []
        async for page in self._walk([self._key, *read], _IDS_PER_PAGE):
            ids += [
                as_written(item.properties[self._key]) for item in page if keep(item.properties)
            ]
        return sorted(ids)

    async def everything(self, *, vectors: bool = False) -> AsyncIterator[list[Record]]:
        """All records, page by page, in an order of the server's own."""
        async for page in self._walk(self._properties, self._page, vectors=vectors):
            yield [self._read(item) for item in page]

    async def ids_where(self, condition: WeaviateFilter) -> list[str] | None:
        """Ids of the records that pass a filter; None if there are more than can be found."""
        try:
            reply = await self._access.read(
                self.collection,
                lambda collection: collection.query.fetch_objects(
                    filters=condition, limit=MAXIMUM_RESULTS, return_properties=[self._key]
                ),
            )
        except IndexMissing:
            return []
        if len(reply.objects) == MAXIMUM_RESULTS:
            return None
        return [as_written(item.properties[self._key]) for item in reply.objects]

    async def delete(self, ids: Iterable[str]) -> None:
        """Delete records by id."""
        for part in slices(ids, _IDS_PER_PAGE):
            objects = [object_id(self.collection, id) for id in part]
            await self.delete_where(Filter.by_id().contains_any(objects))

    async def delete_where(self, condition: WeaviateFilter | None) -> None:
        """Delete the records that pass a filter; all of them if it is None."""
        condition = condition or Filter.by_id().not_equal(_NO_OBJECT)
        with suppress(IndexMissing):
            while True:  # a call deletes no more than a search may find
                reply = await self._access.write(
                    self.collection, lambda collection: collection.data.delete_many(where=condition)
                )
                if reply.failed:
                    raise IndexFailure(f"{reply.failed} objects were not deleted; try again.")
                if reply.matches <= reply.successful:
                    return

    async def count(self) -> int:
        """Number of records."""
        try:
            reply = await self._access.read(
                self.collection, lambda collection: collection.aggregate.over_all(total_count=True)
            )
        except IndexMissing:
            return 0
        return int(reply.total_count or 0)

    async def _walk(
        self, properties: list[str], page: int, *, vectors: bool = False
    ) -> AsyncIterator[list[Any]]:
        """The server's objects, page by page."""
        last: Any = None

        def next_page(collection: Any) -> Any:
            return collection.query.fetch_objects(
                limit=page, after=last, return_properties=properties, include_vector=vectors
            )

        with suppress(IndexMissing):
            while True:
                reply = await self._access.read(self.collection, next_page)
                if not reply.objects:  # a page that replicas disagree on may merely be short
                    return
                yield reply.objects
                last = reply.objects[-1].uuid

    async def _insert(self, batch: Sequence[Row]) -> dict[str, str]:
        return await self._access.write(
            self.collection, lambda collection: insert(collection, batch)
        )
