"""Sharing the work of an ingest among several machines."""

from __future__ import annotations

import hashlib
from collections.abc import Callable


def in_part(part: str | None) -> Callable[[str], bool]:
    """Whether a document belongs to a part such as `2/4`, by the hash of its id; None is all.

    The parts of one corpus are disjoint, together complete, and of about equal size.
    """
    number, _, parts = (part or "1/1").partition("/")

    def wanted(id_: str) -> bool:
        hashed = hashlib.blake2b(id_.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(hashed) % int(parts) == int(number) - 1

    return wanted
