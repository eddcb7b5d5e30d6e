"""One deadline for every call to Weaviate, and what its many errors mean.

The client retries by itself for up to a minute while a server is gone, whatever its timeouts say,
and raises errors of four libraries. Texts of the server are matched on what is inside them: how
they begin differs between versions and between one node and several.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import TypeVar

import grpc
import httpx
from weaviate.exceptions import (
    AuthenticationFailedError,
    ResponseCannotBeDecodedError,
    UnexpectedStatusCodeError,
    WeaviateBaseError,
    WeaviateClosedClientError,
    WeaviateConnectionError,
    WeaviateGRPCUnavailableError,
    WeaviateStartUpError,
    WeaviateTimeoutError,
)

from ragweave.state.errors import (
    IndexAuth,
    IndexFailure,
    IndexMissing,
    IndexSchemaMismatch,
    IndexTimeout,
    IndexUnavailable,
)
from ragweave.stores.weaviate.address import Server

_ATTEMPTS = 5

T = TypeVar("T")

_CALL_FAILED = (WeaviateBaseError, grpc.RpcError, httpx.HTTPError, grpc.aio.UsageError)
_UNREACHABLE = (
    WeaviateConnectionError,
    WeaviateGRPCUnavailableError,
    WeaviateStartUpError,
    WeaviateClosedClientError,
    httpx.TransportError,
)
_MISSING = ("could not find class", "class not found", "tenant not found", "no such class")
_PASSING = (
    "cannot achieve consistency level",
    "cannot reach enough replicas",
    'replica "',  # of what one node answered to another
    "another replica",
    "i/o timeout",
    "leader not found",
    "non-existing index",  # of a collection that is just being made
    "shutting down",
    "unavailable",
    "deadline exceeded",
    "connection refused",
    "connection reset",
    "connection is closing",
    "context canceled",
    "code = canceled",
)
_MISMATCH = {
    "request was without tenant": "It holds several tenants: name one.",
    "request was with tenant": "It was made without tenants: name none, or another collection.",
    "vector lengths don't match": "Use the embeddings that it was made with.",
    "does not have named vector": "Name its vector with `vector=` in the index string.",
    "no such prop": "It was made with other fields: ingest into another collection.",
}


@asynccontextmanager
async def answered_within(seconds: float, server: Server) -> AsyncIterator[None]:
    """Bound a call, its connection included, and raise index errors only.

    Raises:
        IndexTimeout: the deadline passed.
        IndexUnavailable: the server cannot be reached.
        IndexAuth: the key was refused.
        IndexMissing: there is no such collection or tenant.
        IndexSchemaMismatch: the collection was made for something else.
        IndexFailure: anything else that the server refused.
    """
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise _timeout(server, seconds) from error
    except _CALL_FAILED as error:
        raise _meaning(error, server, seconds) from error


async def repeated(
    call: Callable[[], Awaitable[T]], *, seconds: float, attempt_seconds: float, server: Server
) -> T:
    """Make a call that may be made twice, until it is answered.

    A node that is killed leaves calls behind that are never answered, some even through another
    node; the same call, made again, is answered by the nodes that are left.

    Raises:
        IndexUnavailable, IndexTimeout: it was not, in some attempts or within `seconds`.
    """
    async with answered_within(seconds, server):
        for attempt in range(1, _ATTEMPTS):
            try:
                async with answered_within(attempt_seconds, server):
                    return await call()
            except (IndexUnavailable, IndexTimeout):
                await asyncio.sleep(0.2 * 2**attempt)
        return await call()


def is_passing(refusal: str) -> bool:
    """Whether what a server says is the fault of a node that comes or goes, not of the request."""
    text = refusal.lower()
    return any(sign in text for sign in _PASSING)


def _meaning(error: BaseException, server: Server, seconds: float) -> IndexFailure:
    code = _grpc_code(error)
    status = error.status_code if isinstance(error, UnexpectedStatusCodeError) else 0
    if code == grpc.StatusCode.DEADLINE_EXCEEDED or _is_timeout(error):
        return _timeout(server, seconds)
    if code in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED) or (
        isinstance(error, AuthenticationFailedError) or status in (401, 403)
    ):
        return IndexAuth(f"Weaviate at {server} refused access. Check WEAVIATE_API_KEY.")
    if isinstance(error, ResponseCannotBeDecodedError):
        return IndexUnavailable(f"What answers at {server} is not Weaviate. Check the address.")
    if code == grpc.StatusCode.UNAVAILABLE or isinstance(error, _UNREACHABLE) or status >= 500:
        return IndexUnavailable(
            f"Cannot reach Weaviate at {server} (gRPC port {server.grpc_port}). Is it running?"
        )
    return _refusal(str(error), server)


def _refusal(text: str, server: Server) -> IndexFailure:
    if any(part in text for part in _MISSING):
        return IndexMissing(f"Weaviate at {server} has no such collection or tenant.")
    if is_passing(text):
        return IndexUnavailable(
            f"Weaviate at {server} could not answer. Try again. It said: {text}"
        )
    for part, advice in _MISMATCH.items():
        if part in text:
            return IndexSchemaMismatch(f"The collection does not fit. {advice}")
    return IndexFailure(f"Weaviate at {server} refused: {text}")


def _timeout(server: Server, seconds: float) -> IndexTimeout:
    return IndexTimeout(
        f"Weaviate at {server} did not answer within {seconds:g} s. Check its gRPC port too "
        f"({server.grpc_port}, `grpc_port=` in the index string). If it is only busy, allow more "
        f"with `timeout=` or `write_timeout=` there."
    )


def _is_timeout(error: BaseException) -> bool:
    return isinstance(error, (WeaviateTimeoutError, httpx.TimeoutException))


def _grpc_code(error: BaseException) -> grpc.StatusCode | None:
    """The gRPC status behind an error of the client, which keeps only its text."""
    for cause in _causes(error):
        if isinstance(cause, grpc.aio.AioRpcError):
            return cause.code()
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__
