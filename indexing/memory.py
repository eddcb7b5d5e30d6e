"""Giving memory back to the system in the middle of a long run."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any


def give_back() -> None:
    """Return freed memory to the system, where the C library keeps it (glibc does).

    Threads that allocate and free large batches leave the heap full of holes: without this the
    process grows for hours although nothing is kept. Takes milliseconds; blocks.
    """
    if (library := _libc()) is not None:
        library.malloc_trim(0)


@cache
def _libc() -> Any:
    try:
        library = ctypes.CDLL("libc.so.6")
    except OSError:  # macOS, Windows, musl: nothing to do
        return None
    return library if hasattr(library, "malloc_trim") else None
