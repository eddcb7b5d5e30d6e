"""Building the retrieval units of an index: what LongRAG retrieves and reads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from ragweave.indexing.links import link_targets
from ragweave.indexing.relations import Related, reading_order, relations
from ragweave.indexing.split import TokenCounter, split
from ragweave.indexing.unit_text import (
    SEPARATOR_TOKENS,
    Part,
    cut_part,
    markup_of,
    unit_of,
    whole_document,
)
from ragweave.indexing.units import group_documents
from ragweave.models.tokens import token_counter
from ragweave.state.units import UnitsContext, UnitsReport
from ragweave.stores.base import Chunk, DocumentRecord, Index, Parent

BATCH = 64
"""Documents in memory at a time."""

Progress = Callable[[int, int], None]
"""Called with the number of documents done and of all documents to do."""


@dataclass(frozen=True, slots=True)
class _Surveyed:
    """A document without its text: all that grouping needs."""

    related: Related
    tokens: int


async def build_units(
    index: Index, context: UnitsContext, on_progress: Progress | None = None
) -> UnitsReport:
    """Group all documents of an index into retrieval units and point their chunks at them.

    Nothing is embedded. Units are written before chunks point at them, and units that no longer
    exist are removed last, so that an interrupted run can be repeated and searches go on meanwhile.
    """
    count = await token_counter()
    surveyed = await _survey(index, count, on_progress)
    groups = await asyncio.to_thread(_group, surveyed, context)
    kept: set[str] = set()
    moved = largest = 0
    for batch in _batches(groups, surveyed):
        units, changed = await _written(index, batch, count, context)
        kept.update(unit.id for unit, _ in units)
        moved += changed
        largest = max([largest, *(tokens for _, tokens in units)])
    stale = [parent.id async for page in index.scan_parents() for parent in page]
    stale = [id for id in stale if id not in kept]
    if stale:
        await index.delete_parents(stale)
    return UnitsReport(
        documents=len(surveyed),
        units=len(kept),
        largest=largest,
        moved=moved,
        removed=len(stale),
    )


# --- what there is ------------------------------------------------------------------------------


async def _survey(
    index: Index, count: TokenCounter, on_progress: Progress | None
) -> list[_Surveyed]:
    """Every document that has text, in reading order, with its links and its size."""
    records = [record async for record in index.documents()]
    surveyed: list[_Surveyed] = []
    for first in range(0, len(records), BATCH):
        batch = records[first : first + BATCH]
        chunks = await _chunks_by_document(index, [record.id for record in batch])
        surveyed += await asyncio.to_thread(_surveyed, batch, chunks, count)
        if on_progress:
            on_progress(first + len(batch), len(records))
    return sorted(surveyed, key=lambda document: reading_order(document.related))


async def _chunks_by_document(index: Index, ids: Sequence[str]) -> dict[str, list[Chunk]]:
    chunks: dict[str, list[Chunk]] = {}
    async for chunk in index.chunks_of(ids):
        chunks.setdefault(chunk.document_id, []).append(chunk)
    return chunks


def _surveyed(
    records: Iterable[DocumentRecord], chunks: dict[str, list[Chunk]], count: TokenCounter
) -> list[_Surveyed]:
    present = [record for record in records if record.id in chunks]
    parts = [whole_document(chunks[record.id]) for record in present]
    sizes = count([part.text for part in parts])
    return [
        _Surveyed(
            Related(
                id=record.id,
                path=record.path,
                url=record.url,
                title=record.title,
                links=_links(record, part.text),
                metadata=record.metadata,
            ),
            tokens,
        )
        for record, part, tokens in zip(present, parts, sizes, strict=True)
    ]


def _links(record: DocumentRecord, text: str) -> list[str]:
    """Links in the text, and those that loading kept of a page whose text lost them."""
    kept = record.metadata.get("links")
    return [*link_targets(text), *(kept if isinstance(kept, list) else [])]


def _group(surveyed: Sequence[_Surveyed], context: UnitsContext) -> list[list[int]]:
    documents = [document.related for document in surveyed]
    return group_documents(
        [document.tokens + SEPARATOR_TOKENS for document in surveyed],
        relations(documents, context.unit_relations, context.relation_field),
        max_tokens=context.unit_tokens,
        max_documents=context.max_unit_documents,
    )


# --- what is written ----------------------------------------------------------------------------


def _batches(
    groups: Iterable[Sequence[int]], surveyed: Sequence[_Surveyed]
) -> Iterable[list[list[str]]]:
    """Units as lists of document ids, a bounded number of documents at a time."""
    batch: list[list[str]] = []
    for group in groups:
        if batch and sum(map(len, batch)) + len(group) > BATCH:
            yield batch
            batch = []
        batch.append([surveyed[position].related.id for position in group])
    if batch:
        yield batch


async def _written(
    index: Index, batch: Sequence[Sequence[str]], count: TokenCounter, context: UnitsContext
) -> tuple[list[tuple[Parent, int]], int]:
    """Write some units and point their chunks at them; the units with their tokens, and how many
    chunks moved.
    """
    chunks = await _chunks_by_document(index, [id for group in batch for id in group])
    units, moved = await asyncio.to_thread(_units, batch, chunks, count, context)
    await index.upsert_parents([unit for unit, _ in units])
    if moved:
        await index.upsert(moved)
    return units, len(moved)


def _units(
    batch: Sequence[Sequence[str]],
    chunks: dict[str, list[Chunk]],
    count: TokenCounter,
    context: UnitsContext,
) -> tuple[list[tuple[Parent, int]], list[Chunk]]:
    units: list[Parent] = []
    moved: list[Chunk] = []
    for group in batch:
        parts = [whole_document(chunks[id]) for id in group if id in chunks]
        for pieces in _pieces(parts, count, context):
            unit = unit_of(pieces)
            units.append(unit)
            moved += [
                replace(chunk, parent_id=unit.id)
                for piece in pieces
                for chunk in chunks[piece.document_id]
                if _begins_in(chunk, piece) and chunk.parent_id != unit.id
            ]
    return list(zip(units, count([unit.text for unit in units]), strict=True)), moved


def _pieces(parts: list[Part], count: TokenCounter, context: UnitsContext) -> list[list[Part]]:
    """The parts as one unit; a single one that is too long as several, if that is wanted."""
    if not parts:
        return []
    whole = parts[0]
    if len(parts) > 1 or context.long_documents == "keep" or whole.document_start is None:
        return [parts]
    spans = split(whole.text, count, markup=markup_of(whole.path), max_tokens=context.unit_tokens)
    return [[piece] for piece in cut_part(whole, [(span.start, span.end) for span in spans])]


def _begins_in(chunk: Chunk, piece: Part) -> bool:
    if piece.document_start is None or chunk.start is None:
        return True
    return 0 <= chunk.start - piece.document_start < max(len(piece.text), 1)
