"""One tenant's way to the collections of one index."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from weaviate import WeaviateAsyncClient
from weaviate.classes.config import ConsistencyLevel

from ragweave.stores.weaviate.address import Address
from ragweave.stores.weaviate.connection import connect, disconnect
from ragweave.stores.weaviate.errors import answered_within, repeated

_WRITE_ATTEMPT_SECONDS = 20.0
_REPLICATED_READS = 5
"""Attempts within the deadline of a read, where a node may be killed at any moment."""

T = TypeVar("T")


class Access:
    """Calls the client and its collections, each time within a deadline and with typed errors."""

    def __init__(self, address: Address, tenant: str | None) -> None:
        self.address = address
        self.tenant = tenant
        self._handles: WeakKeyDictionary[WeaviateAsyncClient, dict[str, Any]] = WeakKeyDictionary()

    async def ask(self, call: Callable[[WeaviateAsyncClient], Awaitable[T]]) -> T:
        """What a call of the client gives, such as a request about the schema."""
        return await self._read(partial(self._of_client, call))

    async def read(self, name: str, call: Callable[[Any], Awaitable[T]]) -> T:
        """What a call of a collection gives that reads or searches."""
        return await self._read(partial(self._of_collection, name, call))

    async def write(self, name: str, call: Callable[[Any], Awaitable[T]]) -> T:
        """What a call of a collection gives that writes, and may be made twice."""
        seconds = self.address.write_seconds
        return await repeated(
            partial(self._of_collection, name, call),
            seconds=seconds,
            attempt_seconds=min(_WRITE_ATTEMPT_SECONDS, seconds),
            server=self.address.server,
        )

    async def collection(self, name: str) -> Any:
        """A collection as this tenant sees it."""
        client = await connect(self.address.server, self)
        handles = self._handles.setdefault(client, {})  # making one takes longer than using it
        if name not in handles:
            handles[name] = self._handle(client, name)
        return handles[name]

    async def aclose(self) -> None:
        """Let go of the running event loop's connection."""
        await disconnect(self.address.server, self)

    async def _read(self, call: Callable[[], Awaitable[T]]) -> T:
        """Within the deadline of a search; where there are replicas, another may answer."""
        seconds, server = self.address.search_seconds, self.address.server
        if self.address.replication > 1:
            attempt_seconds = seconds / _REPLICATED_READS
            return await repeated(
                call, seconds=seconds, attempt_seconds=attempt_seconds, server=server
            )
        async with answered_within(seconds, server):
            return await call()

    async def _of_client(self, call: Callable[[WeaviateAsyncClient], Awaitable[T]]) -> T:
        return await call(await connect(self.address.server, self))

    async def _of_collection(self, name: str, call: Callable[[Any], Awaitable[T]]) -> T:
        return await call(await self.collection(name))

    def _handle(self, client: WeaviateAsyncClient, name: str) -> Any:
        handle = client.collections.use(name, skip_argument_validation=True)
        if self.tenant is not None:
            handle = handle.with_tenant(self.tenant)
        if self.address.consistency is not None:
            handle = handle.with_consistency_level(ConsistencyLevel[self.address.consistency])
        return handle
