"""From a document to its chunks, with ids that only change when the chunk's own words change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ragweave.indexing.document import LoadedDocument, digest
from ragweave.indexing.fields import with_types
from ragweave.indexing.split import VERSION, Span, TokenCounter, split
from ragweave.stores.base import Chunk, FieldType

PASSAGE_FACTOR = 4
"""A record of a JSON Lines file, cut by its author, stays whole up to so many chunk sizes."""

_HASH_CHARACTERS = 12


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How documents become chunks."""

    max_tokens: int = 512
    overlap: int = 0
    fields: Mapping[str, FieldType] = field(default_factory=dict)

    def fingerprint_of(self, document: LoadedDocument) -> str:
        """Hash of the document and of everything that decides how it is split."""
        return document.content_hash(VERSION, self.max_tokens, self.overlap, dict(self.fields))


def make_chunks(
    document: LoadedDocument, count: TokenCounter, settings: ChunkSettings
) -> list[Chunk]:
    """Chunks of a document, in order, without vectors.

    A chunk's id is the document's and a hash of what is embedded, so a chunk that only moved
    keeps its id and its vector; equal chunks of one document are told apart by a number.

    Raises:
        Unreadable: a declared filter field has a value of another type.
    """
    content = document.content
    metadata = with_types(content.metadata, settings.fields)
    used: Counter[str] = Counter()
    chunks = []
    for span in _spans(document, count, settings):
        headings = [title for title in span.headings if title and title != content.title]
        text = document.text[span.start : span.end]
        content_hash = digest(embedded_text(content.title, headings, text))
        used[content_hash] += 1
        again = f"-{used[content_hash]}" if used[content_hash] > 1 else ""
        chunks.append(
            Chunk(
                id=f"{document.id}#{content_hash[:_HASH_CHARACTERS]}{again}",
                document_id=document.id,
                text=text,
                title=content.title,
                url=content.url,
                path=document.path,
                page=document.page_at(span.start),
                start=span.start,
                end=span.end,
                content_hash=content_hash,
                metadata={**({"headings": headings} if headings else {}), **metadata},
            )
        )
    return chunks


def text_to_embed(chunk: Chunk) -> str:
    """What the vector of a chunk stands for: its title, its section and its text."""
    return embedded_text(chunk.title, chunk.metadata.get("headings", ()), chunk.text)


def embedded_text(title: str | None, headings: Sequence[str], text: str) -> str:
    """A chunk's text under the title of its document and the headings of its section."""
    return "\n".join(filter(None, [title, " > ".join(headings), text]))


def _spans(document: LoadedDocument, count: TokenCounter, settings: ChunkSettings) -> list[Span]:
    text, size = document.text, settings.max_tokens
    if document.passage and _fits(text, count, PASSAGE_FACTOR * size):
        inner = text.strip()
        start = text.index(inner)
        return [Span(start, start + len(inner))]
    return split(
        text, count, markup=document.content.markup, max_tokens=size, overlap=settings.overlap
    )


def _fits(text: str, count: TokenCounter, tokens: int) -> bool:
    return len(text) <= tokens * 8 and count([text])[0] <= tokens
