"""Word, PowerPoint, Excel, OpenDocument, EPUB, RTF and mail to Markdown, by kreuzberg.

Runs in the child process of `load_worker.py`, as `load_pdf.py` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragweave.indexing.document import Content, Unreadable
from ragweave.indexing.loading.spacing import close_up
from ragweave.indexing.loading.text import clean


def read_office(path: Path) -> Content:
    """Read an office file, its tables and headings as Markdown.

    Raises:
        Unreadable: the extra `office` is not installed, or the file is damaged or encrypted.
    """
    try:
        from kreuzberg import ExtractionConfig, KreuzbergError, extract_file_sync
    except ImportError:
        raise Unreadable(
            "is an office file: install the extra, pip install 'ragweave[office]'"
        ) from None
    try:
        result = extract_file_sync(
            path, config=ExtractionConfig(output_format="markdown", use_cache=False)
        )
    except KreuzbergError as error:
        raise Unreadable(f"is damaged or encrypted: {_one_line(error)}") from error
    about: Mapping[str, Any] = result.metadata
    title = about.get("title") or about.get("subject")
    return Content(
        close_up(clean(result.content), "markdown").strip(),
        markup="markdown",
        title=close_up(str(title)) if title else None,
        metadata=_known(about),
    )


def _known(about: Mapping[str, Any]) -> dict[str, Any]:
    authors = about.get("authors") or []
    known = {"author": ", ".join(map(str, authors)), "created": about.get("created_at")}
    return {name: str(value) for name, value in known.items() if value}


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
