"""`ragweave ingest`."""

from __future__ import annotations


def ingest() -> None:
    """Todo."""
