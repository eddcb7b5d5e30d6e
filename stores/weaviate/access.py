"""One tenant's way to the collections of one index."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from weakref import WeakKeyDictionary

from weaviate import WeaviateAsyncClient
from weaviate.classes.config import ConsistencyLevel

from ragweave.stores.weaviate.address import Address
from ragweave.stores.weaviate.connection import connect, disconnect
from ragweave.stores.weaviate.errors import answered_within


class Access:
    """Gives the client and its collections, each use with a deadline and typed errors."""

    def __init__(self, address: Address, tenant: str | None) -> None:
        self.address = address
        self.tenant = tenant
        self._handles: WeakKeyDictionary[WeaviateAsyncClient, dict[str, Any]] = WeakKeyDictionary()

    @asynccontextmanager
    async def client(self) -> AsyncIterator[WeaviateAsyncClient]:
        """The client, for requests about the schema."""
        async with answered_within(self.address.search_seconds, self.address.server):
            yield await connect(self.address.server, self)

    @asynccontextmanager
    async def reading(self, name: str) -> AsyncIterator[Any]:
        """A collection to read from or search, within the deadline of a search."""
        async with answered_within(self.address.search_seconds, self.address.server):
            yield await self.collection(name)

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

    def _handle(self, client: WeaviateAsyncClient, name: str) -> Any:
        handle = client.collections.use(name, skip_argument_validation=True)
        if self.tenant is not None:
            handle = handle.with_tenant(self.tenant)
        if self.address.consistency is not None:
            handle = handle.with_consistency_level(ConsistencyLevel[self.address.consistency])
        return handle
