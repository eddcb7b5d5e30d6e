"""What differs between a knowledge graph as it is stored and as it is to be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ragweave.stores.graph import TABLES, GraphTables, TableName


def changed(
    before: GraphTables,
    after: GraphTables,
    also: Callable[[TableName, str], bool] = lambda table, record_id: False,
) -> GraphTables:
    """The records of `after` that `before` lacks or has otherwise, and others by table and id."""
    records: dict[str, Any] = {}
    for table in TABLES:
        stored = {record.id: record for record in getattr(before, table)}
        records[table] = tuple(
            record
            for record in getattr(after, table)
            if stored.get(record.id) != record or also(table, record.id)
        )
    return GraphTables(**records)


def gone(before: GraphTables, after: GraphTables) -> dict[TableName, list[str]]:
    """Ids of the records of `before` that `after` has no more, by table, where there are any."""
    ids: dict[TableName, list[str]] = {}
    for table in TABLES:
        kept = {record.id for record in getattr(after, table)}
        missing = [record.id for record in getattr(before, table) if record.id not in kept]
        if missing:
            ids[table] = missing
    return ids
