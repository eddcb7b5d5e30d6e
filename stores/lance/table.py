"""Records of one kind in a LanceDB folder: written by id, read by id or in pages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from weakref import WeakKeyDictionary

import pyarrow as pa
from lancedb.query import ColumnOrdering
from lancedb.table import AsyncTable

from ragweave.stores.lance.folder import LanceFolder
from ragweave.stores.lance.rows import Row, groups_of, literal, one_of

WRITE_SECONDS = 120.0
"""Longest for one batch of a write."""

_IDS_AT_ONCE = 20_000


class LanceTable:
    """One table of a folder, which may not exist yet: then it is empty."""

    def __init__(self, folder: LanceFolder, kind: str, *, page: int, timeout: float) -> None:
        """Rows are read `page` at once; one such read may take `timeout` seconds."""
        self._folder = folder
        self._kind = kind
        self._page = page
        self._timeout = timeout
        self._locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = (
            WeakKeyDictionary()
        )

    async def open(self) -> AsyncTable | None:
        """The table, if it exists."""
        async with self._folder.guard("be opened", self._timeout):
            return await self._folder.open(self._kind)

    async def merge(self, rows: pa.Table) -> None:
        """Write rows into the table, which must exist, replacing those of the same id.

        LanceDB lets one of two writers of the same id repeat its work; within a process they
        had better wait for each other.
        """
        async with self._lock(), self._folder.guard("be written to", WRITE_SECONDS):
            table = await self._folder.open(self._kind)
            if table is None:
                raise FileNotFoundError("it is not there any more")
            merge = table.merge_insert("id").when_matched_update_all()
            await merge.when_not_matched_insert_all().execute(rows)

    async def delete(self, where: str) -> None:
        """Delete the rows that match."""
        async with self._lock(), self._folder.guard("be written to", WRITE_SECONDS):
            if table := await self._folder.open(self._kind):
                await table.delete(where)

    async def delete_of(self, column: str, values: Sequence[str]) -> None:
        """Delete the rows that have one of the values in `column`."""
        for group in groups_of(values, self._page):
            await self.delete(one_of(column, group))

    async def read(self, columns: Sequence[str] | None, where: str) -> list[Row]:
        """Rows that match, in no particular order; all columns if None are named."""
        async with self._folder.guard("read", self._timeout):
            table = await self._folder.open(self._kind)
            if table is None:
                return []
            query = table.query().where(where)
            found = await (query.select([*columns]) if columns else query).to_arrow()
            return list(found.to_pylist())

    async def by_id(self, columns: Sequence[str] | None, ids: Sequence[str]) -> list[Row]:
        """Rows by id, in the order asked for; unknown ids are left out."""
        rows: dict[str, Row] = {}
        for group in groups_of(ids, self._page):
            found = await self.read(columns, one_of("id", group))
            rows.update((row["id"], row) for row in found)
        return [rows[id] for id in ids if id in rows]

    async def pages(
        self, columns: Sequence[str] | None = None, where: str | None = None
    ) -> AsyncIterator[list[Row]]:
        """All rows, or those that match, by id, a page at a time.

        Each page is read for itself, so that a slow reader holds on to no old version.
        """
        async for ids in self._ids(where):
            for group in groups_of(ids, self._page):
                if rows := await self.by_id(columns, group):
                    yield rows

    async def _ids(self, where: str | None) -> AsyncIterator[list[str]]:
        last: str | None = None
        while ids := await self._next_ids(where, last):
            yield ids
            last = ids[-1]

    async def _next_ids(self, where: str | None, last: str | None) -> list[str]:
        after = None if last is None else f"id > {literal(last)}"
        condition = " AND ".join(f"({part})" for part in (where, after) if part)
        async with self._folder.guard("read", self._timeout):
            table = await self._folder.open(self._kind)
            if table is None:
                return []
            query = table.query().select(["id"]).limit(_IDS_AT_ONCE)
            query = query.order_by([ColumnOrdering(column_name="id")])
            found = await (query.where(condition) if condition else query).to_arrow()
            return list(found["id"].to_pylist())

    def _lock(self) -> asyncio.Lock:
        return self._locks.setdefault(asyncio.get_running_loop(), asyncio.Lock())
