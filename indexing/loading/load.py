"""Files to documents, one at a time, so that memory does not grow with the corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath

from ragweave.indexing.document import (
    Content,
    Loaded,
    LoadedDocument,
    LoadFailure,
    Markup,
    RecordsRead,
    Skipped,
    Unreadable,
)
from ragweave.indexing.loading.files import (
    HTML,
    MARKDOWN,
    OFFICE,
    PDF,
    RECORDS,
    RST,
    FoundFile,
    document_id,
    find_files,
    reason_of,
)
from ragweave.indexing.loading.html import read_html
from ragweave.indexing.loading.markup import read_markup
from ragweave.indexing.loading.records import RecordFields, read_records
from ragweave.indexing.loading.spacing import close_up
from ragweave.indexing.loading.text import clean, decode, has_text
from ragweave.indexing.loading.worker import ParserProcess


@dataclass(frozen=True, slots=True)
class LoadSettings:
    """How files are read."""

    records: RecordFields = field(default_factory=RecordFields)
    max_file_bytes: int = 64 * 2**20
    """Largest file that is read whole; JSON Lines, read line by line, may be larger."""
    max_file_seconds: float = 60
    """Most time that one PDF or office file may take."""
    wanted: Callable[[str], bool] = lambda _: True
    """Whether to load the document of this id."""


def load(paths: Sequence[str], settings: LoadSettings) -> Iterator[Loaded]:
    """Documents of the files at or below `paths`, in a stable order, and what could not be read.

    One at a time: memory holds the largest file, whatever the number of files. Blocks, so it
    belongs in a thread, one thread at a time.
    """
    parsers = ParserProcess(settings.max_file_seconds)
    try:
        for found in find_files(paths):
            if isinstance(found, LoadFailure):
                yield found
            else:
                yield from load_file(found, settings, parsers)
    finally:
        parsers.close()


def load_file(file: FoundFile, settings: LoadSettings, parsers: ParserProcess) -> Iterator[Loaded]:
    """Documents of one file; one failure instead if it cannot be read."""
    try:
        if file.suffix in RECORDS and file.size:
            yield from _load_records(file, settings)
        elif settings.wanted(document_id(file.path)):
            yield _document(file, settings, parsers)
        else:
            yield Skipped(file.size)
    except Unreadable as reason:
        yield LoadFailure(file.path, str(reason), file.size)
    except OSError as error:
        yield LoadFailure(file.path, reason_of(error), file.size)


def _load_records(file: FoundFile, settings: LoadSettings) -> Iterator[Loaded]:
    whole, empty = True, True
    for record in read_records(Path(file.path), file.path, settings.records):
        empty = False
        if isinstance(record, LoadedDocument) and not settings.wanted(record.id):
            yield Skipped(record.size)
        else:
            whole = whole and isinstance(record, LoadedDocument)
            yield record
    if empty:
        raise Unreadable("has no records")
    yield RecordsRead(file.path, whole)


def _document(file: FoundFile, settings: LoadSettings, parsers: ParserProcess) -> LoadedDocument:
    if file.size == 0:
        raise Unreadable("is empty")
    if file.size > settings.max_file_bytes:
        size, limit = (bytes_ / 2**20 for bytes_ in (file.size, settings.max_file_bytes))
        raise Unreadable(f"has {size:,.0f} MB; at most {limit:,.0f} MB are read")
    content = _read(file, parsers)
    if not has_text(content.text):
        raise Unreadable("has no text")
    title = content.title or PurePath(file.path).stem
    content = replace(content, title=" ".join(title.split()))
    return LoadedDocument(document_id(file.path), content, path=file.path, size=file.size)


def _read(file: FoundFile, parsers: ParserProcess) -> Content:
    path = Path(file.path)
    if file.suffix in PDF:
        return parsers.read("pdf", path)
    if file.suffix in OFFICE:
        return parsers.read("office", path)
    if file.suffix in HTML:
        return read_html(path.read_bytes())
    text, markup = clean(decode(path.read_bytes())), _markup(file)
    return read_markup(close_up(text, markup), markup)


def _markup(file: FoundFile) -> Markup:
    if file.suffix in MARKDOWN:
        return "markdown"
    return "rst" if file.suffix in RST else "plain"
