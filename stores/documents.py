"""Chunks as LangChain documents, and documents as chunks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from langchain_core.documents import Document

from ragweave.stores.base import Chunk

_SHOWN = ("document_id", "title", "url", "path", "page", "start", "end", "parent_id")


def to_chunk(document: Document) -> Chunk:
    """A document as a chunk; title, url and path come from the usual keys of its metadata.

    A document without an id gets one made from where it comes from and its text.
    """
    metadata = document.metadata
    url, path = _text(metadata, "url", "link"), _text(metadata, "path", "file_path", "source")
    origin = url or path or ""
    id = document.id or str(uuid5(NAMESPACE_URL, f"{origin}\0{document.page_content}"))
    page = metadata.get("page")
    return Chunk(
        id=id,
        document_id=_text(metadata, "document_id") or origin or id,
        text=document.page_content,
        title=_text(metadata, "title"),
        url=url,
        path=path,
        page=page if isinstance(page, int) else None,
        metadata=metadata,
    )


def to_document(chunk: Chunk, **more: Any) -> Document:
    """A chunk as a document: its metadata, what else is known of it, and `more`."""
    document = Document(id=chunk.id, page_content=chunk.text, metadata=dict(chunk.metadata))
    derived = to_chunk(document)  # what the metadata says by itself is not repeated
    for name in _SHOWN:
        value = getattr(chunk, name)
        if value is not None and value != getattr(derived, name):
            document.metadata[name] = value
    document.metadata.update(more)
    return document


def _text(metadata: Mapping[str, Any], *keys: str) -> str | None:
    """The first of the values that is a text."""
    return next((metadata[key] for key in keys if isinstance(metadata.get(key), str)), None)
