"""Ingesting as a pipeline: load, split, embed and store at the same time, in bounded memory.

What makes an interruption harmless: before the first chunk of a document is stored, its record is,
with an empty content hash; the record with the right hash follows after the last chunk. So a
document that was cut off is known to be unfinished, and the next run stores what is missing,
embedding nothing twice, or removes it if it is gone.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from tenacity import (
    AsyncRetrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)

from ragweave.indexing.ahead import ahead, batches
from ragweave.indexing.chunks import ChunkSettings, make_chunks, text_to_embed
from ragweave.indexing.document import (
    Content,
    Loaded,
    LoadedDocument,
    LoadFailure,
    RecordsRead,
    Skipped,
    Unreadable,
)
from ragweave.indexing.gather import Block, SplitDocument, gather
from ragweave.indexing.loading.files import names_of
from ragweave.indexing.memory import give_back
from ragweave.indexing.seen import SeenDocuments
from ragweave.indexing.split import TokenCounter
from ragweave.indexing.tally import Tally
from ragweave.models.embedding import embed_texts
from ragweave.state.errors import IndexTimeout, IndexUnavailable, WriteFailed
from ragweave.stores.base import Chunk, DocumentRecord, Index

BATCH_BYTES = 2**20
"""Source bytes after which a batch of documents is passed on."""
GIVE_BACK_EVERY = 2_000
"""Chunks after which freed memory is returned to the system."""
OPTIMIZE_EVERY = 50_000
"""Chunks after which a long run lets the index tidy up."""
PAGE = 256
"""Ids that are looked up or deleted at a time."""

T = TypeVar("T")


def _anything(_: str) -> bool:
    return True


def _nothing() -> None:
    return None


@dataclass(slots=True)
class Pipeline:
    """One run over a stream of loaded documents. Serves once."""

    index: Index
    count: TokenCounter
    embeddings: str
    """Name of the embeddings that the index was made for."""
    settings: ChunkSettings
    batch_chunks: int = 256
    prune: bool = True
    """Remove what a file of records had before and has no more."""
    wanted: Callable[[str], bool] = _anything
    """Whether a document of this id belongs to this run; others are never removed."""
    tally: Tally = field(default_factory=Tally)
    on_progress: Callable[[], None] = _nothing
    """Called on the event loop after every change of `tally`."""
    _seen: SeenDocuments = field(default_factory=SeenDocuments)
    _refused: dict[str, str] = field(default_factory=dict)

    async def run(self, items: Iterator[Loaded]) -> None:
        """Ingest everything that `items`, a blocking iterator, gives.

        Cancelled at any point it leaves an index that the next run completes.

        Raises:
            RagweaveError: the index or the embeddings failed for good.
        """
        loaded = batches(items, self.batch_chunks, lambda item: item.size, BATCH_BYTES)
        try:
            async with aclosing(ahead(self._embed(ahead(self._split(ahead(loaded)))))) as blocks:
                await self._store(blocks)
        finally:
            await asyncio.to_thread(self._seen.close)

    # --- load -> split: which documents have changed, and their chunks

    async def _split(
        self, loaded: AsyncGenerator[list[Loaded], None]
    ) -> AsyncGenerator[Block | RecordsRead, None]:
        async with aclosing(loaded):
            async for items in loaded:
                changed = await self._changed(await self._first_met(items))
                self.on_progress()
                for block in gather(await self._with_chunks(changed), self.batch_chunks):
                    yield block
                for item in items:
                    if isinstance(item, RecordsRead):
                        yield item

    async def _first_met(self, items: Sequence[Loaded]) -> list[LoadedDocument]:
        """The documents among `items`, less those whose id another one has: they have failed."""
        documents = [item for item in items if isinstance(item, LoadedDocument)]
        met = await asyncio.to_thread(self._seen.add, [(d.id, d.place) for d in documents])
        places = iter(met)
        first = []
        for item in items:
            if isinstance(item, LoadFailure):
                self.tally.fail(item)
            elif isinstance(item, Skipped):
                self.tally.bytes += item.size
            elif isinstance(item, LoadedDocument):
                if place := next(places):
                    self._fail(item, f"has the id {item.id!r}, which {place} has as well")
                else:
                    first.append(item)
        return first

    async def _changed(
        self, documents: Sequence[LoadedDocument]
    ) -> list[tuple[LoadedDocument, bool]]:
        """Documents that are new or have changed, and whether the index knows them."""
        ids = [document.id for document in documents]
        known = {
            record.id: record
            for record in (await _patiently(self.index.get_documents, ids) if ids else [])
        }
        changed = []
        for document in documents:
            record = known.get(document.id)
            if record and record.content_hash == self.settings.fingerprint_of(document):
                self.tally.keep(document, record.chunks)
            else:
                changed.append((document, record is not None))
        return changed

    async def _with_chunks(
        self, documents: Sequence[tuple[LoadedDocument, bool]]
    ) -> list[SplitDocument]:
        stored = await self._stored_ids([document.id for document, known in documents if known])

        def split_all() -> list[SplitDocument | str]:
            return [self._split_one(document, stored) for document, _ in documents]

        split = await asyncio.to_thread(split_all)
        for (document, _), result in zip(documents, split, strict=True):
            if isinstance(result, str):
                self._fail(document, result)
        return [result for result in split if isinstance(result, SplitDocument)]

    async def _stored_ids(self, documents: Sequence[str]) -> Mapping[str, frozenset[str]]:
        """By document, the ids of the chunks that the index has of it."""

        async def read() -> dict[str, frozenset[str]]:
            ids = defaultdict[str, list[str]](list)
            async for chunk in self.index.chunks_of(documents):
                ids[chunk.document_id].append(chunk.id)
            return {document: frozenset(ids[document]) for document in documents}

        return await _patiently(read) if documents else {}

    def _split_one(
        self, document: LoadedDocument, stored: Mapping[str, frozenset[str]]
    ) -> SplitDocument | str:
        try:
            chunks = make_chunks(document, self.count, self.settings)
        except Unreadable as reason:
            return str(reason)
        record = DocumentRecord(
            id=document.id,
            content_hash=self.settings.fingerprint_of(document),
            path=document.path,
            title=document.content.title,
            url=document.content.url,
            chunks=len(chunks),
            metadata=_known_of(document.content),
        )
        return SplitDocument(document, record, chunks, stored.get(document.id))

    # --- split -> embed

    async def _embed(
        self, blocks: AsyncGenerator[Block | RecordsRead, None]
    ) -> AsyncGenerator[Block | RecordsRead, None]:
        async with aclosing(blocks):
            async for block in blocks:
                if isinstance(block, Block):
                    block.chunks = await self._with_vectors(block)
                yield block

    async def _with_vectors(self, block: Block) -> list[Chunk]:
        """The chunks that are to be stored: new ones embedded, moved ones with the old vector."""
        stored = await self._stored_chunks(block.may_be_stored)
        new = [chunk for chunk in block.chunks if chunk.id not in stored]
        vectors = await embed_texts([text_to_embed(c) for c in new], embeddings=self.embeddings)
        embedded = [replace(c, vector=v) for c, v in zip(new, vectors, strict=True)]
        moved = [
            replace(chunk, vector=same.vector)
            for chunk in block.chunks
            if (same := stored.get(chunk.id)) and replace(same, vector=None) != chunk
        ]
        return [*embedded, *moved]

    async def _stored_chunks(self, ids: Sequence[str]) -> dict[str, Chunk]:
        async def read() -> list[Chunk]:
            return await self.index.get(ids, vectors=True)

        return {chunk.id: chunk for chunk in await _patiently(read)} if ids else {}

    # --- embed -> store

    async def _store(self, blocks: AsyncIterator[Block | RecordsRead]) -> None:
        since_given_back = since_optimized = 0
        async for block in blocks:
            if isinstance(block, RecordsRead):
                await self._remove_missing_records(block)
            else:
                await self._store_block(block)
                since_given_back += len(block.chunks)
                since_optimized += len(block.chunks)
            self.on_progress()
            if since_given_back >= GIVE_BACK_EVERY:
                await asyncio.to_thread(give_back)
                since_given_back = 0
            if since_optimized >= OPTIMIZE_EVERY:
                await self.index.optimize()
                since_optimized = 0

    async def _store_block(self, block: Block) -> None:
        started = [replace(split.record, content_hash="", chunks=0) for split in block.started]
        await self._write(self.index.upsert_documents, started)
        await self._write(
            self.index.upsert, block.chunks, of={c.id: c.document_id for c in block.chunks}
        )
        stored = [split for split in block.finished if split.document.id not in self._refused]
        if stale := [id_ for split in stored for id_ in split.stale]:
            await _patiently(lambda: self.index.delete(ids=stale))
        await self._write(self.index.upsert_documents, [split.record for split in stored])
        for split in block.finished:
            if reason := self._refused.pop(split.document.id, None):
                self._fail(split.document, f"cannot be stored: {reason}")
            else:
                self.tally.add(split.document, len(split.chunks))

    async def _write(
        self,
        write: Callable[[Sequence[T]], Awaitable[object]],
        records: Sequence[T],
        *,
        of: Mapping[str, str] | None = None,
    ) -> None:
        """Write records, and note the documents of which the index refuses something.

        `of` gives the document of a record that is not itself one.
        """
        if not records:
            return
        try:
            await _patiently(write, records)
        except WriteFailed as failure:
            for id_, reason in failure.failed.items():
                self._refused.setdefault((of or {}).get(id_, id_), reason)

    async def _remove_missing_records(self, read: RecordsRead) -> None:
        """Remove what a file of records had and has no more; nothing while a line is broken."""
        if not (read.whole and self.prune):
            return
        gone: list[str] = []
        for name in await asyncio.to_thread(names_of, read.path):
            page: list[str] = []
            async for record in self.index.documents(name):
                if record.path == name and self.wanted(record.id):
                    page.append(record.id)
                if len(page) == PAGE:
                    gone += await asyncio.to_thread(self._seen.missing, page)
                    page = []
            gone += await asyncio.to_thread(self._seen.missing, page)
        await remove_documents(self.index, gone, self.tally)

    def _fail(self, document: LoadedDocument, reason: str) -> None:
        self.tally.fail(LoadFailure(document.place, reason, document.size))


def _known_of(content: Content) -> dict[str, Any]:
    """What a document's record keeps: its metadata, and the links that its text lost."""
    links = {"links": list(content.links)} if content.links else {}
    return {**links, **content.metadata}


async def remove_documents(index: Index, ids: Sequence[str], tally: Tally) -> None:
    """Delete documents with their chunks, and count them."""
    for first in range(0, len(ids), PAGE):
        page = ids[first : first + PAGE]
        await _patiently(index.delete_documents, page)
        tally.removed += len(page)


async def _patiently(call: Callable[..., Awaitable[T]], *arguments: object) -> T:
    """The result of a call that may be repeated, after up to three attempts."""
    attempts = AsyncRetrying(
        retry=retry_if_exception_type((IndexUnavailable, IndexTimeout)),
        stop=stop_after_attempt(3),
        wait=wait_random_exponential(multiplier=0.2, max=5),
        reraise=True,
    )

    async def attempt() -> T:
        return await call(*arguments)

    return await attempts(attempt)
