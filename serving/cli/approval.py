"""Asking the person at the terminal before a query leaves for the web."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ragweave.serving.cli.screen import err, one_line


async def approve_on_terminal(asked: Mapping[str, Any]) -> object:
    """Yes, no, or another query."""
    err.print(f"Search the web for: {one_line(str(asked.get('query')))}", style="bold")
    with _interruptible():
        # Nothing else runs while a person thinks, so that blocking the event loop is harmless.
        reply = err.input("Enter = yes, n = no, or type another query: ").strip()
    match reply.lower():
        case "" | "y" | "yes":
            return True
        case "n" | "no":
            return False
        case _:
            return reply


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C end the waiting at once; asyncio would only cancel a task that cannot notice."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
