"""Which files the given paths name, and what each is known as."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from ragweave.indexing.document import LoadFailure
from ragweave.state.errors import InvalidSetting

MARKDOWN = frozenset({".md", ".markdown", ".mdown", ".mkd"})
RST = frozenset({".rst", ".rest"})
PLAIN = frozenset(
    {"", ".txt", ".text", ".log", ".csv", ".tsv", ".json", ".yaml", ".yml", ".toml", ".tex"}
    | {".org", ".adoc", ".asciidoc", ".srt", ".vtt"}
)
HTML = frozenset({".html", ".htm", ".xhtml"})
PDF = frozenset({".pdf"})
RECORDS = frozenset({".jsonl", ".ndjson"})
OFFICE = frozenset(
    {".docx", ".doc", ".pptx", ".ppt", ".xlsx", ".xls", ".odt", ".ods", ".rtf", ".epub", ".eml"}
    | {".msg"}
)
KNOWN = MARKDOWN | RST | PLAIN | HTML | PDF | RECORDS | OFFICE
"""Suffixes that a folder is searched for. A file that is named itself is always tried."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """One file to load."""

    path: str
    """As it was given: the given path, and below a folder what leads on from it."""
    size: int

    @property
    def suffix(self) -> str:
        """Its suffix in lower case, such as `.pdf`."""
        return PurePath(self.path).suffix.lower()


def given_path(path: str) -> str:
    """A path as the index keeps it: as given, in lexical normal form, with forward slashes."""
    return PurePath(os.path.normpath(path)).as_posix()


def document_id(path: str) -> str:
    """Id of the document in the file `path`: relative to the working folder if it lies below it.

    So a file is one document whether it is given by its relative or by its absolute path.
    """
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else PurePath(relative).as_posix()


def names_of(root: str) -> list[str]:
    """All paths under which documents below `root` may have been given before."""
    return list(
        dict.fromkeys([root, document_id(root), PurePath(os.path.abspath(root)).as_posix()])
    )


def is_below(path: str, root: str) -> bool:
    """Whether `path` is `root` or lies below it; both in the form of `given_path`."""
    if root == ".":
        return not path.startswith(("/", "../")) and path != ".."
    return path == root or path.startswith(root.rstrip("/") + "/")


def check_paths(paths: Sequence[str]) -> list[str]:
    """The paths in the form that the index keeps, each once, none below another.

    Raises:
        InvalidSetting: one of them does not exist.
    """
    for path in paths:
        if not path.strip() or not os.path.lexists(path):
            raise InvalidSetting(f"No such file or folder: {path!r}")
    given = list(dict.fromkeys(map(given_path, paths)))
    return [path for path in given if not any(is_below(path, o) for o in given if o != path)]


def expect_files(paths: Sequence[str]) -> None:
    """Check that there is something to read at or below `paths`.

    Raises:
        InvalidSetting: there is nothing.
    """
    if next(find_files(paths), None) is None:
        raise nothing_there(paths)


def nothing_there(paths: Sequence[str]) -> InvalidSetting:
    """What to say where there is nothing to read."""
    return InvalidSetting(
        f"There is nothing to read in {', '.join(map(repr, paths))}: no text, Markdown, "
        "reStructuredText, HTML, PDF, JSON Lines or office file (hidden ones are passed over; "
        "any other file is read if it is named itself)."
    )


def find_files(paths: Sequence[str]) -> Iterator[FoundFile | LoadFailure]:
    """Files at or below `paths`, in a stable order, each once.

    Hidden files and folders below a given path, and files of unknown kinds, are left out.
    Links are followed, but a folder that was entered already is not entered again.
    """
    entered: set[tuple[int, int]] = set()
    for path in paths:
        if os.path.isdir(path):
            yield from _walk(path, entered)
        else:
            yield _found(path)


def _walk(folder: str, entered: set[tuple[int, int]]) -> Iterator[FoundFile | LoadFailure]:
    try:
        status = os.stat(folder)
        if (identity := (status.st_dev, status.st_ino)) in entered:
            return
        entered.add(identity)
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield LoadFailure(folder, reason_of(error))
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        path = given_path(os.path.join(folder, entry.name))
        if entry.is_dir():
            yield from _walk(path, entered)
        elif PurePath(entry.name).suffix.lower() in KNOWN:
            yield _found(path)


def _found(path: str) -> FoundFile | LoadFailure:
    try:
        if not os.path.isfile(path):
            reason = "is a link to nothing" if os.path.islink(path) else "is not a regular file"
            return LoadFailure(path, reason)
        return FoundFile(path, os.stat(path).st_size)
    except OSError as error:
        return LoadFailure(path, reason_of(error))


def reason_of(error: OSError) -> str:
    """What the system says, as a reason on one line."""
    return f"cannot be opened: {error.strerror or error}".lower()


def exists(path: str) -> bool:
    """Whether a document's file is still there (one that cannot be looked at may be)."""
    try:
        Path(path).stat()
    except FileNotFoundError:
        return False
    except OSError as error:
        return not isinstance(error, NotADirectoryError)
    return True
