"""Writing: many records in bounded batches, each repeated while the server fails."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from weaviate.exceptions import WeaviateInsertManyAllFailedError

from ragweave.state.errors import IndexUnavailable
from ragweave.stores.weaviate.errors import is_passing
from ragweave.stores.weaviate.rows import Row

BATCH_OBJECTS, BATCH_BYTES = 200, 32_000_000
"""A batch is one message: a server takes no more than 105 MB, and the event loop stands still
while the client builds it."""

_IN_FLIGHT = 2
"""While the server works on one batch, the next is made."""

T = TypeVar("T")


def slices(items: Iterable[T], count: int) -> Iterator[list[T]]:
    """The items in lists of at most `count`."""
    rest = iter(items)
    while part := list(islice(rest, count)):
        yield part


def batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Rows in batches that fit one message; a row that does not goes alone."""
    batch: list[Row] = []
    filled = 0
    for row in rows:
        if batch and (len(batch) == BATCH_OBJECTS or filled + row.size > BATCH_BYTES):
            yield batch
            batch, filled = [], 0
        batch.append(row)
        filled += row.size
    if batch:
        yield batch


async def in_flight(parts: Iterable[T], work: Callable[[T], Awaitable[None]]) -> None:
    """Work on a few parts at a time; the first error ends it all."""
    shared = iter(parts)

    async def take() -> None:
        for part in shared:
            await work(part)

    tasks = [asyncio.create_task(take()) for _ in range(_IN_FLIGHT)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def insert(collection: Any, batch: Sequence[Row]) -> dict[str, str]:
    """Write one batch; the reasons by id for the objects that were refused.

    Raises:
        IndexUnavailable: some met too few replicas. The batch can be written again: ids are fixed.
    """
    try:
        reply = await collection.data.insert_many([row.object for row in batch])
        refused = {batch[at].id: error.message for at, error in reply.errors.items()}
    except WeaviateInsertManyAllFailedError as error:
        refused = dict.fromkeys((row.id for row in batch), error.message)
    for reason in refused.values():
        if is_passing(reason):
            raise IndexUnavailable(f"Weaviate could not store a batch: {reason}")
    return refused
