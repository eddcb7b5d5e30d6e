"""Running the stages of a pipeline at the same time, each a bounded way ahead of the next."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Item(Generic[T]):
    value: T


async def ahead(source: AsyncGenerator[T, None], size: int = 1) -> AsyncGenerator[T, None]:
    """Items of `source`, made in a task of their own while earlier ones are being used.

    At most `size` items wait. Close it (`contextlib.aclosing`) to end the task and the source.
    """
    queue: asyncio.Queue[_Item[T] | Exception | None] = asyncio.Queue(size)

    async def fill() -> None:
        try:
            async for value in source:
                await queue.put(_Item(value))
        except Exception as error:
            await queue.put(error)
        else:
            await queue.put(None)

    task = asyncio.create_task(fill())
    try:
        while item := await queue.get():
            if isinstance(item, Exception):
                raise item
            yield item.value
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await source.aclose()


async def batches(
    items: Iterator[T], most: int, weight: Callable[[T], int], limit: int
) -> AsyncGenerator[list[T], None]:
    """Items of a blocking iterator, taken in a thread.

    A batch has at most `most` items, and ends with the item that brings its weight to `limit`.
    The iterator is closed at the end, in a thread as well.
    """
    one_at_a_time = threading.Lock()
    stopped = threading.Event()

    def take() -> list[T]:
        batch: list[T] = []
        total = 0
        with one_at_a_time:
            while len(batch) < most and total < limit and not stopped.is_set():
                try:
                    item = next(items)
                except StopIteration:
                    break
                batch.append(item)
                total += weight(item)
        return batch

    def close() -> None:
        with one_at_a_time:
            if close_items := getattr(items, "close", None):
                close_items()

    try:
        while batch := await asyncio.to_thread(take):
            yield batch
    finally:
        stopped.set()
        await asyncio.to_thread(close)
