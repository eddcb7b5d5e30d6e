"""Chunks, parents and document records as Weaviate's objects, and back."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from typing import Any

from weaviate.classes.data import DataObject

from ragweave.stores.analysis import terms
from ragweave.stores.base import Chunk, DocumentRecord, Parent
from ragweave.stores.checks import CheckedChunk, to_json
from ragweave.stores.filters import FieldValue
from ragweave.stores.weaviate.filters import as_written, is_big, kept_whole, stored_value
from ragweave.stores.weaviate.schema import TERMS, big_property, field_property

_NAMESPACE = uuid.UUID("5f1c6f6e-3a5e-5d0b-9a0b-6f0f6f2f7c11")
CHUNK_PROPERTIES = [
    "chunk_id",
    "document_id",
    "parent_id",
    "path",
    "text",
    "title",
    "url",
    "page",
    "start",
    "end",
    "content_hash",
    "meta_json",
]
PARENT_PROPERTIES = ["parent_id", "text", "title", "parts_json", "meta_json"]
DOCUMENT_PROPERTIES = [
    "document_id",
    "content_hash",
    "path",
    "title",
    "url",
    "chunks",
    "meta_json",
]


@dataclass(frozen=True, slots=True)
class Row:
    """An object to write, with the id it is known by outside and its size on the wire."""

    id: str
    object: DataObject[Any, Any]
    size: int
    """Bytes, about."""


def object_id(collection: str, id: str) -> uuid.UUID:
    """The server's id of a record: the same each time, so that writing twice changes nothing."""
    return uuid.uuid5(_NAMESPACE, f"{collection}\0{id}")


def chunk_row(checked: CheckedChunk, collection: str, vector: str) -> Row:
    """A chunk as an object."""
    chunk = checked.chunk
    properties: dict[str, Any] = {
        "chunk_id": kept_whole(chunk.id),
        "document_id": kept_whole(chunk.document_id),
        "parent_id": _optional(chunk.parent_id),
        "path": _optional(chunk.path),
        TERMS: searched_terms(chunk.title, chunk.text),
        "text": chunk.text,
        "title": chunk.title,
        "url": chunk.url,
        "page": chunk.page,
        "start": chunk.start,
        "end": chunk.end,
        "content_hash": chunk.content_hash,
        "meta_json": checked.meta_json,
    }
    for field, value in checked.fields.items():
        if value is not None:
            properties |= _field(field, value)
    return make_row(chunk.id, collection, properties, {vector: checked.vector})


def parent_row(parent: Parent, collection: str) -> Row:
    """A parent as an object.

    Raises:
        ValueError: JSON cannot hold its metadata or its parts.
    """
    properties = {
        "parent_id": kept_whole(parent.id),
        "text": parent.text,
        "title": parent.title,
        "parts_json": to_json([dict(part) for part in parent.parts], "parts"),
        "meta_json": to_json(dict(parent.metadata)),
    }
    return make_row(parent.id, collection, properties)


def document_row(document: DocumentRecord, collection: str) -> Row:
    """A document record as an object.

    Raises:
        ValueError: JSON cannot hold its metadata.
    """
    properties = {
        "document_id": kept_whole(document.id),
        "content_hash": document.content_hash,
        "path": document.path,
        "title": document.title,
        "url": document.url,
        "chunks": document.chunks,
        "meta_json": to_json(dict(document.metadata)),
    }
    return make_row(document.id, collection, properties)


def read_chunk(found: Any, vector: str) -> Chunk:
    """The chunk in a result of the client."""
    kept = found.properties
    return Chunk(
        id=as_written(kept["chunk_id"]),
        document_id=as_written(kept["document_id"]),
        text=kept["text"],
        vector=found.vector.get(vector),
        title=kept["title"],
        url=kept["url"],
        path=None if kept["path"] is None else as_written(kept["path"]),
        page=kept["page"],
        start=kept["start"],
        end=kept["end"],
        parent_id=None if kept["parent_id"] is None else as_written(kept["parent_id"]),
        content_hash=kept["content_hash"],
        metadata=json.loads(kept["meta_json"]),
    )


def read_parent(found: Any) -> Parent:
    """The parent in a result of the client."""
    kept = found.properties
    return Parent(
        id=as_written(kept["parent_id"]),
        text=kept["text"],
        title=kept["title"],
        parts=json.loads(kept["parts_json"]),
        metadata=json.loads(kept["meta_json"]),
    )


def read_document(found: Any) -> DocumentRecord:
    """The document record in a result of the client."""
    kept = found.properties
    return DocumentRecord(
        id=as_written(kept["document_id"]),
        content_hash=kept["content_hash"],
        path=kept["path"],
        title=kept["title"],
        url=kept["url"],
        chunks=kept["chunks"],
        metadata=json.loads(kept["meta_json"]),
    )


def searched_terms(title: str | None, text: str) -> str:
    """The terms of title and text, as keyword search reads them."""
    return " ".join(terms(f"{title or ''}\n{text}"))


def make_row(
    id: str,
    collection: str,
    properties: dict[str, Any],
    vectors: dict[str, list[float]] | None = None,
) -> Row:
    """An object of these properties, without those that are None."""
    present = {name: value for name, value in properties.items() if value is not None}
    texts = sum(len(value.encode()) for value in present.values() if isinstance(value, str))
    numbers = sum(len(vector) for vector in (vectors or {}).values())
    return Row(
        id=id,
        object=DataObject(properties=present, uuid=object_id(collection, id), vector=vectors),
        size=texts + 4 * numbers + 50 * len(present) + 100,
    )


def _optional(value: str | None) -> str | None:
    return None if value is None else kept_whole(value)


def _field(field: str, value: FieldValue) -> dict[str, FieldValue]:
    """The properties that hold a field's value."""
    held = {field_property(field): stored_value(value)}
    return {**held, big_property(field): str(value)} if is_big(value) else held
