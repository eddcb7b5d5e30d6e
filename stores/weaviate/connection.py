"""Connections to Weaviate: one client per event loop, process and server, shared by all indexes.

A client belongs to the loop that made it (on another loop gRPC fails while `is_ready` still says
yes), and to its process. It is made in the first call, and closed when the last index that used it
on that loop is closed.
"""

from __future__ import annotations

import asyncio
import atexit
import os
from collections.abc import Hashable
from weakref import WeakKeyDictionary, WeakSet

import grpc
import weaviate
from weaviate import WeaviateAsyncClient
from weaviate.classes.init import AdditionalConfig, Auth, Timeout

from ragweave.state.errors import IndexUnavailable
from ragweave.stores.weaviate.address import Server, secrets
from ragweave.stores.weaviate.embedded import start_embedded

_INNER_SECONDS = 600
"""Timeout inside the client, out of the way of our own deadlines, which come first."""


class _Shared:
    """A client in the making or made, and the indexes that use it."""

    def __init__(self) -> None:
        self.making = asyncio.Lock()
        self.client: WeaviateAsyncClient | None = None
        self.users: WeakSet[Hashable] = WeakSet()


class _Machinery:
    """Keeps gRPC's asynchronous machinery running from the first connection on.

    It ends with its last channel, which may be anywhere that an old error is let go, and blocks
    the event loop for that long. A forked process cannot use its parent's, and makes its own.
    """

    def __init__(self) -> None:
        self._kept = False

    def keep(self) -> None:
        if not self._kept:
            grpc.aio.init_grpc_aio()
            self._kept = True

    def release(self) -> None:
        if self._kept:
            self._kept = False
            grpc.aio.shutdown_grpc_aio()


_machinery = _Machinery()
atexit.register(_machinery.release)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_machinery.release)

_by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[int, Server], _Shared]] = (
    WeakKeyDictionary()
)


async def connect(server: Server, user: Hashable) -> WeaviateAsyncClient:
    """The running loop's client of a server, on behalf of `user` (an index)."""
    connections = _by_loop.setdefault(asyncio.get_running_loop(), {})
    key = (os.getpid(), server)
    shared = connections.get(key) or connections.setdefault(key, _Shared())
    shared.users.add(user)
    if shared.client is None:
        _forget_closed_loops()
        async with shared.making:
            if shared.client is None:
                shared.client = await _open(server)
    return shared.client


async def disconnect(server: Server, user: Hashable) -> None:
    """Let go of the running loop's client; the last user closes it."""
    connections = _by_loop.get(asyncio.get_running_loop(), {})
    key = (os.getpid(), server)
    shared = connections.get(key)
    if shared is None:
        return
    shared.users.discard(user)
    if not shared.users:
        del connections[key]
        _machinery.keep()
        if shared.client is not None:
            await shared.client.close()


def _forget_closed_loops() -> None:
    for loop in [loop for loop in _by_loop if loop.is_closed()]:
        del _by_loop[loop]


async def _open(server: Server) -> WeaviateAsyncClient:
    if server.embedded_path is not None:
        await asyncio.to_thread(start_embedded, server)
    _machinery.keep()
    client = _client(server)
    try:
        await client.connect()
    except BaseException as error:  # a connect that is cancelled leaves open sockets too
        await client.close()
        if isinstance(error, (KeyError, ValueError)):
            raise IndexUnavailable(
                f"What answers at {server} is not Weaviate. Check the address."
            ) from error
        raise
    return client


def _client(server: Server) -> WeaviateAsyncClient:
    """A client that connects without its own checks, which call the package index."""
    key, headers = secrets()
    config = AdditionalConfig(
        timeout=Timeout(init=_INNER_SECONDS, query=_INNER_SECONDS, insert=_INNER_SECONDS)
    )
    auth = Auth.api_key(key) if key else None
    if server.cloud:
        return weaviate.use_async_with_weaviate_cloud(
            server.host,
            auth_credentials=auth,
            headers=headers,
            additional_config=config,
            skip_init_checks=True,
        )
    return weaviate.use_async_with_custom(
        http_host=server.host,
        http_port=server.port,
        http_secure=server.secure,
        grpc_host=server.grpc_host,
        grpc_port=server.grpc_port,
        grpc_secure=server.secure,
        auth_credentials=auth,
        headers=headers,
        additional_config=config,
        skip_init_checks=True,
    )
