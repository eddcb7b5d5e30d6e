"""An event loop in a thread of its own: what async code needs to be called from sync code."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Lock, Thread, current_thread
from typing import Any, TypeVar

from ragweave.stores.registry import aclose_all

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Running:
    loop: asyncio.AbstractEventLoop
    stop: asyncio.Event
    thread: Thread
    process: int


class LoopThread:
    """Runs coroutines on one event loop, called from any thread or from any other loop.

    Connections are bound to the loop they were opened on, so everything that is done with an
    index goes through the same one. It starts with the first call; `close` ends it, and the
    next call starts another.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._running: _Running | None = None

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The coroutine's result; blocks until it is there."""
        return self._submit(coroutine).result()

    async def arun(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The coroutine's result; cancelling this cancels the coroutine."""
        future = await asyncio.to_thread(self._submit, coroutine)  # starting a thread blocks
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Close the indexes opened on the loop, and end it. Safe to call twice."""
        with self._lock:
            running, self._running = self._running, None
        if running is None or running.process != os.getpid():
            return
        running.loop.call_soon_threadsafe(running.stop.set)
        if running.thread is not current_thread():  # garbage may be collected in any thread
            running.thread.join()

    def _submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        with self._lock:
            if self._running is None or self._running.process != os.getpid():
                self._running = _start()  # also after a fork, which takes no threads along
            return asyncio.run_coroutine_threadsafe(coroutine, self._running.loop)


def _start() -> _Running:
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def serve() -> None:
        stop = asyncio.Event()
        started.set_result((asyncio.get_running_loop(), stop))
        await stop.wait()
        await aclose_all()

    thread = Thread(target=asyncio.run, args=(serve(),), name="ragweave-index", daemon=True)
    thread.start()
    loop, stop = started.result()
    return _Running(loop, stop, thread, os.getpid())
