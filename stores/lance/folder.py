"""A LanceDB folder: its connection and tables, every call with a deadline and one kind of error."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import lancedb
import pyarrow as pa
from lancedb.db import AsyncConnection
from lancedb.table import AsyncTable

from ragweave.state.errors import (
    IndexSchemaMismatch,
    IndexTimeout,
    IndexUnavailable,
    InvalidSetting,
    RagweaveError,
)

TENANTS = "tenants"
"""Sub-folder that holds a folder of its own for each tenant."""

METADATA_CACHE_BYTES = 8 * 2**20
"""Left to itself it keeps the metadata of every version that a long write leaves, up to 1 GB."""

# What LanceDB raises, whatever went wrong: its own errors come as one of these.
_FAULTS = (OSError, RuntimeError, ValueError, pa.ArrowException)


class LanceFolder:
    """The tables of one index, and of one tenant if it is divided between tenants.

    Nothing is opened before the first call. A missing folder or table is not an error to a
    reader: it holds nothing yet.
    """

    def __init__(self, path: Path, *, name: str, tenant: str | None, label: str) -> None:
        """Tables are called `name_KIND`; `label` is what error messages call the index."""
        # LanceDB takes a bare relative path for the name of a database in its cloud.
        self._base = path.expanduser().absolute()
        self._name = name
        self.tenant = tenant
        self.path = self._base / TENANTS / _folder_of(tenant) if tenant else self._base
        self.label = label
        self._connection: AsyncConnection | None = None
        self._tables: dict[str, AsyncTable] = {}

    @asynccontextmanager
    async def guard(self, action: str, seconds: float) -> AsyncIterator[None]:
        """Bound what is done inside to `seconds`, and turn LanceDB's faults into index errors.

        Raises:
            IndexTimeout: the time was up. The work may have been done nevertheless.
            IndexUnavailable: LanceDB failed. Its tables are opened anew by the next call.
        """
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError as error:
            raise IndexTimeout(
                f"{self.label} did not {action} within {seconds:g} s. Try again, or raise the "
                "timeout."
            ) from error
        except RagweaveError:
            raise
        except _FAULTS as error:
            self.close()
            raise IndexUnavailable(f"{self.label} could not {action}: {_reason(error)}") from error

    async def open(self, kind: str) -> AsyncTable | None:
        """A table that sees at each read what others have written; None if it does not exist.

        Raises:
            InvalidSetting: the path is a file.
            IndexSchemaMismatch: a tenant is missing, or given for an index that has none.
        """
        if kind not in self._tables:
            if not await asyncio.to_thread(self._holds, kind):
                return None
            connection = await self._connect()
            self._tables[kind] = await connection.open_table(self._table(kind))
        return self._tables[kind]

    async def create(self, kind: str, schema: pa.Schema) -> AsyncTable:
        """A table, made with `schema` if it does not exist."""
        if table := await self.open(kind):
            return table
        connection = await self._connect()
        self._tables[kind] = await connection.create_table(
            self._table(kind), schema=schema, exist_ok=True
        )
        return self._tables[kind]

    async def prepare(self) -> None:
        """Make the folder.

        Raises:
            InvalidSetting: it cannot be an index: it is a file, or holds something else.
            IndexUnavailable: it cannot be written to.
        """
        await asyncio.to_thread(self._prepare)

    def close(self) -> None:
        """Let go of connection and tables; the next call opens them again."""
        self._connection = None
        self._tables.clear()

    async def _connect(self) -> AsyncConnection:
        if self._connection is None:
            self._connection = await lancedb.connect_async(
                str(self.path),
                read_consistency_interval=timedelta(0),
                session=lancedb.Session(metadata_cache_size_bytes=METADATA_CACHE_BYTES),
            )
        return self._connection

    def _table(self, kind: str) -> str:
        return f"{self._name}_{kind}"

    def _holds(self, kind: str) -> bool:
        if self._base.exists() and not self._base.is_dir():
            raise InvalidSetting(f"{self.label}: {self._base} is a file; an index needs a folder.")
        self._check_tenancy()
        return (self.path / f"{self._table(kind)}.lance").is_dir()

    def _check_tenancy(self) -> None:
        """An index either has tenants or has none; whoever does not say which sees nothing."""
        chunks = f"{self._table('chunks')}.lance"
        if self.tenant and (self._base / chunks).is_dir():
            raise IndexSchemaMismatch(f"{self.label} has no tenants. Leave the tenant out.")
        if not self.tenant and any(self._base.glob(f"{TENANTS}/*/{chunks}")):
            raise IndexSchemaMismatch(f"{self.label} is divided between tenants. Name one.")

    def _prepare(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with os.scandir(self._base) as entries:
                names = [entry.name for entry in entries if not entry.name.startswith(".")]
        except OSError as error:
            raise self._not_writable() from error
        if names and not any(name.endswith(".lance") or name == TENANTS for name in names):
            raise InvalidSetting(
                f"{self.label}: {self._base} holds other files ({min(names)}, ...). "
                "Choose an empty or new folder for the index."
            )
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise self._not_writable()

    def _not_writable(self) -> IndexUnavailable:
        return IndexUnavailable(
            f"{self.label}: cannot write to {self.path}. Check its permissions, "
            "or choose another folder for the index."
        )


def _folder_of(tenant: str) -> str:
    """Folder name that differs for different tenants even where case does not count."""
    return f"{tenant}-{sha256(tenant.encode()).hexdigest()[:8]}"


def _reason(error: BaseException) -> str:
    """First line of an error, without the place in LanceDB's own source that it ends with."""
    return (str(error) or type(error).__name__).splitlines()[0].split(", /")[0]
