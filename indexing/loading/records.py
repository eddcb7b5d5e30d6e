"""JSON Lines: one record, one document, however long the file is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragweave.indexing.document import Content, LoadedDocument, LoadFailure, Unreadable
from ragweave.indexing.loading.spacing import close_up
from ragweave.indexing.loading.text import clean, decode, has_text

MAX_RECORD_BYTES = 16 * 2**20
"""Longest line that is read; one without an end must not fill the memory."""

_READABLE = re.compile(r"(?![0-9a-fA-F]{8}[0-9a-fA-F-]*$).*[^\W\d_]{2}", re.S)
MAX_FAILURES = 5
"""Broken lines of one file that are reported one by one."""


@dataclass(frozen=True, slots=True)
class RecordFields:
    """Names of the fields that are not metadata."""

    text: str = "text"
    id: str = "id"
    title: str = "title"
    url: str = "url"


def read_records(
    file: Path, path: str, fields: RecordFields
) -> Iterator[LoadedDocument | LoadFailure]:
    """Documents of a JSON Lines file, in order; `path` is the name that they are known by.

    A line that is no record is one failure, named `path:line`, and the others go on; a file of
    nothing else is not reported line by line, but summed up after `MAX_FAILURES`. A record
    without an id is known as `path#line`; one without a title is titled by its id, if that has
    words in it, as a file is by its name.
    """
    failures, size = 0, 0
    for loaded in _records(file, path, fields):
        failures += isinstance(loaded, LoadFailure)
        if isinstance(loaded, LoadedDocument) or failures <= MAX_FAILURES:
            yield loaded
        else:
            size += loaded.size
    if more := max(0, failures - MAX_FAILURES):
        yield LoadFailure(path, f"has {more:,} more such lines", size, more)


def _records(file: Path, path: str, fields: RecordFields) -> Iterator[LoadedDocument | LoadFailure]:
    with file.open("rb") as lines:
        number = 0
        while line := lines.readline(MAX_RECORD_BYTES):
            number += 1
            size = len(line)
            if size == MAX_RECORD_BYTES and not line.endswith(b"\n"):
                size += _skip_line(lines)
                reason = f"is longer than {MAX_RECORD_BYTES // 2**20} MB"
                yield LoadFailure(f"{path}:{number}", reason, size)
            elif line.strip():
                yield _record(line, path, number, fields)


def _skip_line(lines: Any) -> int:
    """Read to the end of the line, in bounded pieces; the number of bytes skipped."""
    skipped = 0
    while piece := lines.readline(MAX_RECORD_BYTES):
        skipped += len(piece)
        if piece.endswith(b"\n"):
            break
    return skipped


def _record(
    line: bytes, path: str, number: int, fields: RecordFields
) -> LoadedDocument | LoadFailure:
    try:
        record = _parsed(line)
        text = record.pop(fields.text, None)
        if not isinstance(text, str):
            raise Unreadable(
                f"has no text in a field named {fields.text!r} (--text-field names another)"
            )
        if not has_text(text := close_up(clean(text))):
            raise Unreadable(f"has an empty text in its field {fields.text!r}")
    except Unreadable as reason:
        return LoadFailure(f"{path}:{number}", str(reason), len(line))
    id_, title, url = (record.pop(name, None) for name in (fields.id, fields.title, fields.url))
    if title is None and _READABLE.match(str(id_)):
        title = id_
    content = Content(
        text,
        title=" ".join(close_up(clean(str(title))).split()) or None if title is not None else None,
        url=str(url) if url else None,
        metadata=record,
    )
    known_as = clean(str(id_)).strip() if id_ is not None else ""
    return LoadedDocument(
        known_as or f"{path}#{number}",
        content,
        path=path,
        size=len(line),
        line=number,
        passage=True,
    )


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(decode(line))
    except json.JSONDecodeError as error:
        raise Unreadable(f"is not JSON: {error.msg} at column {error.colno}") from error
    except (RecursionError, ValueError) as error:
        raise Unreadable(f"is not JSON that can be read: {error}") from error
    if not isinstance(record, dict):
        raise Unreadable("is not a JSON object")
    return record
