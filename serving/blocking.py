"""Running the async parts from synchronous code, also where an event loop runs (Jupyter).

All calls share one event loop in a thread of its own, so that connections and models, which belong
to a loop, are opened once and not for every question.
"""

from __future__ import annotations

import asyncio
import atexit
import os
from collections.abc import AsyncGenerator, Coroutine, Iterator
from contextlib import aclosing
from functools import cache
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")

CLOSING_SECONDS = 5.0


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """The coroutine's result. Ctrl-C cancels it."""
    running = asyncio.run_coroutine_threadsafe(coroutine, _loop())
    try:
        return running.result()
    except BaseException:
        running.cancel()
        raise


def iterate(source: AsyncGenerator[T, None]) -> Iterator[T]:
    """The items of an async generator, as they come. Who leaves early ends it."""
    items: SimpleQueue[T | _End] = SimpleQueue()

    async def pump() -> None:
        try:
            async with aclosing(source) as given:
                async for item in given:
                    items.put(item)
        finally:
            items.put(_End())

    running = asyncio.run_coroutine_threadsafe(pump(), _loop())
    try:
        while not isinstance(item := items.get(), _End):
            yield item
        running.result()
    finally:
        running.cancel()


class _End:
    """Put behind the last item."""


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, name="ragweave", daemon=True)
    thread.start()
    atexit.register(_close, loop, thread, os.getpid())
    return loop


def _close(loop: asyncio.AbstractEventLoop, thread: Thread, process: int) -> None:
    if os.getpid() != process:
        return
    asyncio.run_coroutine_threadsafe(_release(loop), loop).result(CLOSING_SECONDS)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(CLOSING_SECONDS)
    loop.close()


async def _release(loop: asyncio.AbstractEventLoop) -> None:
    from ragweave.stores.registry import aclose_all

    await aclose_all()
    await loop.shutdown_asyncgens()


# A forked child has the loop but not its thread.
os.register_at_fork(after_in_child=_loop.cache_clear)
