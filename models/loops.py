"""Things that belong to one event loop: connections, semaphores and locks cannot cross loops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from threading import Lock
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class PerLoop(Generic[T]):
    """One value for each running event loop, made at first use and dropped with the loop."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._values: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()
        self._lock = Lock()

    def get(self) -> T:
        """The value of the running event loop."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._values:
                self._forget_closed_loops()
                self._values[loop] = self._make()
            return self._values[loop]

    def _forget_closed_loops(self) -> None:
        # A value often refers back to its loop, which then never becomes unreachable by itself.
        for loop in list(self._values):
            if loop.is_closed():
                del self._values[loop]


async def close_with_loop(aclose: Callable[[], Awaitable[None]]) -> AsyncGenerator[None, None]:
    """Call `aclose` when the running event loop is shut down, or the result is dropped.

    `asyncio.run` and servers close every async generator that is still alive before they close
    their loop: the one moment at which open connections can be closed without a warning.
    """

    async def lifetime() -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            await aclose()

    generator = lifetime()
    await anext(generator)
    return generator
