"""Copying an index from one store into another without embedding anything anew.

Documents are copied in groups, each with its chunks first and its records last, so that a copy cut
short goes on from the last whole group. Nothing that is already there is written again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace

from ragweave.state.errors import IndexMissing, InvalidSetting
from ragweave.stores.base import Chunk, DocumentRecord, Index, IndexSpec, Parent

OnProgress = Callable[[int, int], None]
"""Called with the chunks that are in the target so far, and those of the source."""

_DOCUMENTS_AT_ONCE, _CHUNKS_AT_ONCE = 500, 5_000
"""A group of documents ends with whichever comes first."""

_CHUNKS_PER_WRITE = 500


@dataclass(slots=True)
class IndexCopied:
    """What a copy of an index wrote, and what was there already."""

    documents: int = 0
    chunks: int = 0
    parents: int = 0
    unchanged: int = 0
    """Documents and parents that were in the target as they are in the source."""


async def copy_index(
    source: Index, target: Index, *, embeddings: str = "", on_progress: OnProgress | None = None
) -> IndexCopied:
    """Copy documents, chunks with their vectors, and parents; other documents are left alone.

    `embeddings` names what made the vectors, if the source does not know.

    Raises:
        IndexMissing: there is no source.
        IndexSchemaMismatch: the target was made for other embeddings, dimension or fields.
        InvalidSetting: the source has no vectors, as a LangChain retriever has none.
    """
    await target.ensure(await _spec_of(source, embeddings))
    copying = _Copying(source, target, on_progress or (lambda done, total: None))
    await copying.parents()
    await copying.documents()
    await copying.what_differs()
    await target.optimize()
    return copying.copied


async def _spec_of(source: Index, embeddings: str) -> IndexSpec:
    spec = await source.spec()
    if spec is None:
        raise IndexMissing(f"There is no index at {source.name}, so there is nothing to copy.")
    if spec.dimension < 1:
        raise InvalidSetting(f"{source.name} has no vectors to copy. Ingest its documents instead.")
    if embeddings:
        spec.expect_embeddings(embeddings, source.name)
    return replace(spec, embeddings=spec.embeddings or embeddings)


class _Copying:
    """One copy on its way."""

    def __init__(self, source: Index, target: Index, on_progress: OnProgress) -> None:
        self.copied = IndexCopied()
        self._source, self._target = source, target
        self._on_progress = on_progress
        self._in_target = 0
        self._all_new = True

    async def parents(self) -> None:
        async for page in self._source.scan_parents():
            there = {parent.id: parent for parent in await self._target.parents(_ids(page))}
            new = [parent for parent in page if not _same_parent(parent, there.get(parent.id))]
            if new:
                await self._target.upsert_parents(new)
            self.copied.parents += len(new)
            self.copied.unchanged += len(page) - len(new)

    async def documents(self) -> None:
        total = await self._source.count()
        was_empty = await self._target.count() == 0
        async for group in _groups(self._source.documents()):
            there = {found.id: found for found in await self._target.get_documents(_ids(group))}
            new = [document for document in group if there.get(document.id) != document]
            if new and not was_empty:  # older chunks of them, or some left by a copy cut short
                await self._target.delete_documents(_ids(new))
            self._in_target += sum(document.chunks for document in group if document not in new)
            await self._write(self._source.chunks_of(_ids(new)), total)
            if new:
                await self._target.upsert_documents(new)
            self.copied.documents += len(new)
            self.copied.unchanged += len(group) - len(new)
            self._all_new = self._all_new and len(new) == len(group)

    async def what_differs(self) -> None:
        """Copy chunks of no document, and those that changed while their document did not.

        Grouping into retrieval units, for one, gives chunks other parents.
        """
        total = await self._source.count()
        if self._all_new and self.copied.chunks == total:
            return
        async for page in self._source.scan(vectors=False):
            there = {chunk.id: chunk for chunk in await self._target.get(_ids(page))}
            new = [chunk.id for chunk in page if there.get(chunk.id) != chunk]
            if new:
                await self._upsert(await self._source.get(new, vectors=True), total)
        self._on_progress(total, total)

    async def _write(self, chunks: AsyncIterator[Chunk], total: int) -> None:
        part: list[Chunk] = []
        async for chunk in chunks:
            part.append(chunk)
            if len(part) == _CHUNKS_PER_WRITE:
                await self._upsert(part, total)
                part = []
        await self._upsert(part, total)

    async def _upsert(self, chunks: Sequence[Chunk], total: int) -> None:
        if chunks:
            await self._target.upsert(chunks)
        self.copied.chunks += len(chunks)
        self._in_target += len(chunks)
        self._on_progress(min(self._in_target, total), total)


async def _groups(documents: AsyncIterator[DocumentRecord]) -> AsyncIterator[list[DocumentRecord]]:
    group: list[DocumentRecord] = []
    chunks = 0
    async for document in documents:
        group.append(document)
        chunks += document.chunks
        if len(group) == _DOCUMENTS_AT_ONCE or chunks >= _CHUNKS_AT_ONCE:
            yield group
            group, chunks = [], 0
    if group:
        yield group


def _ids(records: Sequence[Chunk] | Sequence[Parent] | Sequence[DocumentRecord]) -> list[str]:
    return [record.id for record in records]


def _same_parent(one: Parent, other: Parent | None) -> bool:
    return other is not None and replace(one, parts=[*one.parts]) == replace(
        other, parts=[*other.parts]
    )
