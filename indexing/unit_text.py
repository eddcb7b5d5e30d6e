"""The text of a document from its chunks, and the text of a retrieval unit from its documents."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from ragweave.indexing.document import Markup
from ragweave.stores.base import Chunk, Parent

BETWEEN_PARTS = "\n\n"
SEPARATOR_TOKENS = 3
"""Most tokens that joining a part to the one before it can add."""
_TITLE_CHARACTERS = 200
_BLANK_LINES = 3
"""Line ends in a row; more white space than that ends with an indentation."""
_SENTENCE_END = re.compile(r"[.!?。！？:;,，；：][\"'”’)\]]*$")
_MARKUP: dict[str, Markup] = {
    ".md": "markdown", ".markdown": "markdown", ".html": "markdown", ".htm": "markdown",
    ".rst": "rst", ".rest": "rst",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Part:
    """A document, or a piece of one, as it stands in a unit."""

    document_id: str
    text: str
    title: str | None = None
    url: str | None = None
    path: str | None = None
    page: int | None = None
    document_start: int | None = None
    """Where the text begins in its document; None if that is not known."""

    @property
    def id(self) -> str:
        """Id of the part: the same as long as it is the same place of the same document."""
        return f"{self.document_id}@{self.document_start or 0}"


def whole_document(chunks: Iterable[Chunk]) -> Part:
    """A document put together from all its chunks, overlaps once.

    What was left out between them is white space; which one is not known, but how much of it, so
    offsets are those of the document.
    """
    ordered = sorted(chunks, key=lambda chunk: (chunk.start or 0, chunk.end or 0, chunk.id))
    first = ordered[0]
    known = all(_has_span(chunk) for chunk in ordered)
    text = _by_spans(ordered) if known else BETWEEN_PARTS.join(chunk.text for chunk in ordered)
    return Part(
        document_id=first.document_id,
        text=text,
        title=first.title,
        url=first.url,
        path=first.path,
        page=first.page,
        document_start=first.start if known else None,
    )


def cut_part(part: Part, spans: Sequence[tuple[int, int]]) -> list[Part]:
    """Pieces of a part at spans of its text."""
    return [
        Part(
            document_id=part.document_id,
            text=part.text[start:end],
            title=part.title,
            url=part.url,
            path=part.path,
            page=part.page if start == 0 else None,
            document_start=None if part.document_start is None else part.document_start + start,
        )
        for start, end in spans
    ]


def unit_of(parts: Sequence[Part]) -> Parent:
    """A retrieval unit of some parts, in the order given.

    Its id follows from what it is made of, so that grouping again changes only what has changed.
    """
    records, length = list[dict[str, Any]](), 0
    for part in parts:
        start = length + len(BETWEEN_PARTS) if records else 0
        length = start + len(part.text)
        records.append(
            {
                "id": part.id,
                "document_id": part.document_id,
                "title": part.title,
                "url": part.url,
                "path": part.path,
                "page": part.page,
                "document_start": part.document_start,
                "start": start,
                "end": length,
            }
        )
    text = BETWEEN_PARTS.join(part.text for part in parts)
    names = "\0".join(part.id for part in parts)
    id = f"unit-{hashlib.blake2b(names.encode(), digest_size=12).hexdigest()}"
    titles = dict.fromkeys(part.title for part in parts if part.title)
    title = "; ".join(titles)[:_TITLE_CHARACTERS] or None
    return Parent(id=id, text=text, title=title, parts=records)


def markup_of(path: str | None) -> Markup:
    """The markup that a document's text is in, as its path tells."""
    return _MARKUP.get(PurePath(path or "").suffix.lower(), "plain")


def _has_span(chunk: Chunk) -> bool:
    if chunk.start is None or chunk.end is None:
        return False
    return chunk.end - chunk.start == len(chunk.text)


def _by_spans(ordered: Sequence[Chunk]) -> str:
    pieces: list[str] = []
    reached = ordered[0].start or 0
    for chunk in ordered:
        start, end = chunk.start or 0, chunk.end or 0
        if start > reached:
            pieces.append(_white_space(start - reached, pieces[-1]))
        pieces.append(chunk.text[max(0, reached - start) :])
        reached = max(reached, end)
    return "".join(pieces)


def _white_space(length: int, before: str) -> str:
    """The likeliest white space of a length: a space between sentences, else line ends."""
    if length == 1:
        return " " if _SENTENCE_END.search(before) else "\n"
    return "\n" * length if length <= _BLANK_LINES else "\n\n" + " " * (length - 2)
