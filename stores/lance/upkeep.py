"""Search structures of LanceDB tables: made when they pay, kept fresh, old versions dropped."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import timedelta

from lancedb.index import FTS, BTree, HnswSq, IndexConfig
from lancedb.table import AsyncTable

from ragweave.stores.lance.rows import TERMS, VECTOR

VECTOR_INDEX_ROWS = 20_000
"""Below this many chunks, comparing with all of them is as fast and exact."""

PARTITION_ROWS = 32_768
"""Chunks in each graph of the vector index; it bounds the memory and time of building one."""

_FRESH_SHARE = 0.05
_MANY_VERSIONS = 32
_MANY_SEGMENTS = 8
_SHORTEST_RETENTION = 120.0

_CONFLICT = "commit conflict"
"""Of LanceDB's words for what another process has changed at the same time."""

_LOOKED_UP = ("id", "document_id", "parent_id")


async def create_keyword_index(table: AsyncTable) -> None:
    """Create the full-text index over the terms, if it is not there.

    A search without it would be slow, and split and stem the terms once more.
    """
    if await _index(table, TERMS):
        return
    config = FTS(
        base_tokenizer="whitespace",
        max_token_length=200,
        lower_case=False,
        stem=False,
        remove_stop_words=False,
        ascii_folding=False,
    )
    try:
        await table.create_index(TERMS, config=config, replace=False)
    except RuntimeError:
        if not await _index(table, TERMS):  # another process may have been faster
            raise


async def optimize_chunks(table: AsyncTable, longest_read: float) -> None:
    """Build the vector index past a size, and bring all indexes and files up to date.

    Rows that no index knows yet are found all the same, by reading them; so a few of them are
    left for later, and a large index is not touched for every small write.

    `longest_read` is how long, in seconds, a reader may go on using an old version.
    """
    rows = await table.count_rows()
    if rows >= VECTOR_INDEX_ROWS:
        await _build_large_indexes(table, rows)
    if await _is_worth_it(table, rows):
        await optimize_table(table, longest_read)


async def optimize_table(table: AsyncTable, longest_read: float) -> None:
    """Merge small files, refresh the indexes there are, and drop versions nobody reads."""
    retention = timedelta(seconds=max(_SHORTEST_RETENTION, 2 * longest_read))
    await _unless_others_do(table.optimize(cleanup_older_than=retention))


async def _unless_others_do(work: Awaitable[object]) -> None:
    """Upkeep can wait: where another process changes the same files, the next run does it."""
    try:
        await work
    except (RuntimeError, OSError) as error:
        if _CONFLICT not in str(error).lower():
            raise


async def _build_large_indexes(table: AsyncTable, rows: int) -> None:
    for name in _LOOKED_UP:
        if not await _index(table, name):
            await _unless_others_do(table.create_index(name, config=BTree()))
    index = await _index(table, VECTOR)
    if index is None or _is_outgrown(index, rows):
        config = HnswSq(
            distance_type="cosine",
            target_partition_size=PARTITION_ROWS,
            m=16,
            ef_construction=100,
        )
        await _unless_others_do(table.create_index(VECTOR, config=config))


def _is_outgrown(index: IndexConfig, rows: int) -> bool:
    """Each refresh adds a segment to search; many small ones, or many new rows, call for one."""
    most = max(_MANY_SEGMENTS, rows // PARTITION_ROWS)
    return (index.num_segments or 0) > most or (index.num_unindexed_rows or 0) > rows / 2


async def _is_worth_it(table: AsyncTable, rows: int) -> bool:
    index = await _index(table, TERMS)
    fresh = (index.num_unindexed_rows or 0) if index else 0
    if fresh > rows * _FRESH_SHARE:
        return True
    versions = await table.list_versions()  # type: ignore[no-untyped-call]
    return len(versions) > _MANY_VERSIONS


async def _index(table: AsyncTable, column: str) -> IndexConfig | None:
    for index in await table.list_indices():
        if index.columns == [column]:
            return index
    return None
