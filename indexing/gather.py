"""Gathering the chunks of many documents into blocks that are embedded and stored together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ragweave.indexing.document import LoadedDocument
from ragweave.stores.base import Chunk, DocumentRecord


@dataclass(frozen=True, slots=True)
class SplitDocument:
    """A document with the chunks that it has now, and what it had before."""

    document: LoadedDocument
    record: DocumentRecord
    chunks: Sequence[Chunk]
    stored: frozenset[str] | None = None
    """Ids of the chunks that the index has of it; None if the index does not know it."""

    @property
    def stale(self) -> list[str]:
        """Stored chunks that it has no more."""
        return sorted((self.stored or frozenset()) - {chunk.id for chunk in self.chunks})


@dataclass(slots=True)
class Block:
    """Some chunks, the documents that begin among them, and those that are complete with them."""

    chunks: list[Chunk] = field(default_factory=list)
    started: list[SplitDocument] = field(default_factory=list)
    finished: list[SplitDocument] = field(default_factory=list)
    may_be_stored: list[str] = field(default_factory=list)
    """Ids of chunks that the index may have already."""


def gather(documents: Iterable[SplitDocument], size: int) -> Iterator[Block]:
    """Blocks of `size` chunks; a large document takes several, small ones share one."""
    block = Block()
    for document in documents:
        block.started.append(document)
        for chunk in document.chunks:
            if len(block.chunks) == size:
                yield block
                block = Block()
            block.chunks.append(chunk)
            if document.stored and chunk.id in document.stored:
                block.may_be_stored.append(chunk.id)
        block.finished.append(document)
    if block.finished:
        yield block
