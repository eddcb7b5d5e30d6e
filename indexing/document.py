"""A document as loading gives it: clean text, with what is known about it."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Markup = Literal["plain", "markdown", "rst"]


class Unreadable(Exception):
    """A file or record that gives no text. The message is the reason, on one line, for the user."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a parser reads out of one file."""

    text: str
    markup: Markup = "plain"
    title: str | None = None
    url: str | None = None
    pages: Sequence[int] = ()
    """Where each page starts in `text`; empty for formats without pages."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    links: Sequence[str] = ()
    """Targets of links that `text` does not show, as they are written in the file."""


@dataclass(frozen=True, slots=True)
class LoadedDocument:
    """One document, ready to be split. Spans of its chunks are characters of `text`."""

    id: str
    content: Content
    path: str | None = None
    """Path as it was given to ingest; None for a document that came from memory."""
    size: int = 0
    """Bytes of its source, for progress."""
    line: int | None = None
    """Line of its file, for one record of several."""
    passage: bool = False
    """It was cut out of something larger by its author, as the records of a JSON Lines file are."""

    @property
    def place(self) -> str:
        """Where it came from, as failures name it."""
        return f"{self.path or self.id}:{self.line}" if self.line else self.path or self.id

    @property
    def text(self) -> str:
        """The cleaned text, line ends normalised to newlines."""
        return self.content.text

    def page_at(self, position: int) -> int | None:
        """Page, from 1, of the character at `position`."""
        return bisect_right(self.content.pages, position) or None

    def content_hash(self, *settings: object) -> str:
        """Fingerprint of everything that its chunks are made from, `settings` included."""
        content = self.content
        known = [content.title, content.url, list(content.pages), content.markup, self.path]
        links = [list(content.links)] if content.links else []
        return digest(content.text, canonical([*known, *links, content.metadata, *settings]))


@dataclass(frozen=True, slots=True)
class LoadFailure:
    """A file, or a record of a file, that could not be read."""

    path: str
    reason: str
    size: int = 0
    count: int = 1
    """Records that it stands for."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A document that was not asked for, such as one of another part of the work."""

    size: int = 0


@dataclass(frozen=True, slots=True)
class RecordsRead:
    """The end of a file of records: those of it that did not come are gone, if it was `whole`."""

    path: str
    whole: bool
    """Every record of it could be read."""
    size: int = 0


Loaded = LoadedDocument | LoadFailure | Skipped | RecordsRead


def canonical(value: object) -> str:
    """JSON text that is the same for equal values; what JSON does not know is its `repr`."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=repr)


def digest(*parts: str) -> str:
    """Short hash of some texts: 128 bits, so that equal hashes mean equal texts."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8))
        state.update(data)
    return state.hexdigest()
