"""Documents that are in memory already: LangChain's, from any loader or any program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from langchain_core.documents import Document

from ragweave.indexing.document import Content, LoadedDocument, LoadFailure
from ragweave.indexing.loading.spacing import close_up
from ragweave.indexing.loading.text import clean, has_text


def from_memory(documents: Iterable[Any]) -> Iterator[LoadedDocument | LoadFailure]:
    """Documents to ingest, from LangChain's.

    A document is known by its `id`, else by its `source` in the metadata, with the page after it
    if it has one, and a number where several come from one source. It has no path: it is never
    removed because a file is gone.
    """
    used: Counter[str] = Counter()
    for number, given in enumerate(documents, start=1):
        try:
            document = _document(given)
        except (TypeError, ValueError) as error:
            yield LoadFailure(f"document {number}", f"is no document: {error}")
            continue
        id_ = _id(document, used)
        text = close_up(clean(document.page_content))
        if has_text(text):
            yield LoadedDocument(id_, _content(text, document))
        else:
            yield LoadFailure(id_, "has no text")


def _document(given: Any) -> Document:
    """A document, also from the plain JSON that a server passes on."""
    if isinstance(given, Document):
        return given
    if isinstance(given, Mapping) and isinstance(given.get("page_content"), str):
        return Document(
            given["page_content"], metadata=given.get("metadata") or {}, id=given.get("id")
        )
    raise TypeError("it has no page_content")


def _id(document: Document, used: Counter[str]) -> str:
    """Its id; one that is made up is the same in every run that gives the same documents."""
    if document.id:
        return document.id
    name = str(document.metadata.get("source") or document.metadata.get("title") or "document")
    if "page" in document.metadata:
        name = f"{name}#page={document.metadata['page']}"
    used[name] += 1
    return name if used[name] == 1 else f"{name}#{used[name]}"


def _content(text: str, document: Document) -> Content:
    source = str(document.metadata.get("source") or "")
    title = document.metadata.get("title")
    return Content(
        text,
        title=" ".join(close_up(str(title)).split()) if title else None,
        url=source if source.startswith(("http://", "https://")) else None,
        metadata=document.metadata,
    )
