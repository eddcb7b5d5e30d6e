"""How records lie in LanceDB tables: Arrow schemas, rows both ways, filters as SQL."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from ragweave.state.errors import IndexSchemaMismatch
from ragweave.stores.analysis import ANALYSIS_VERSION, terms
from ragweave.stores.base import Chunk, DocumentRecord, FieldType, IndexSpec, Parent
from ragweave.stores.checks import CheckedChunk
from ragweave.stores.filters import Condition, FieldValue

RowT = TypeVar("RowT")
Row = Mapping[str, Any]

TERMS = "terms"
VECTOR = "vector"
FORMAT = 1

_METADATA_KEY = b"ragweave"
# Lance then finds writers that insert the same id at the same time and lets one of them repeat.
_PRIMARY_KEY = {"lance-schema:unenforced-primary-key": "true"}
_ARROW_TYPES: Mapping[FieldType, pa.DataType] = {
    "text": pa.string(),
    "int": pa.int64(),
    "number": pa.float64(),
    "bool": pa.bool_(),
    "date": pa.timestamp("us", tz="UTC"),
}
_CHUNK_COLUMNS: Mapping[str, pa.DataType] = {
    "document_id": pa.string(),
    "text": pa.string(),
    "title": pa.string(),
    "url": pa.string(),
    "path": pa.string(),
    "page": pa.int64(),
    "start": pa.int64(),
    "end": pa.int64(),
    "parent_id": pa.string(),
    "content_hash": pa.string(),
}
CHUNK_COLUMNS = ("id", *_CHUNK_COLUMNS, "meta_json")
"""Columns that a `Chunk` without its vector is made from."""

_SQL_OPERATORS = {"$eq": "=", "$ne": "!=", "$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}


def chunk_schema(spec: IndexSpec) -> pa.Schema:
    """Columns of the chunk table; what the index was made for is kept as their metadata."""
    kept = {
        "format": FORMAT,
        "analysis": ANALYSIS_VERSION,
        "spec": {**asdict(spec), "fields": dict(spec.fields)},
    }
    columns = [
        *_CHUNK_COLUMNS.items(),
        ("meta_json", pa.string()),
        (TERMS, pa.string()),
        (VECTOR, pa.list_(pa.float32(), spec.dimension)),
        *((column(field), _ARROW_TYPES[kind]) for field, kind in spec.fields.items()),
    ]
    return pa.schema([_ID, *map(_field, columns)], {_METADATA_KEY: json.dumps(kept).encode()})


def _field(column: tuple[str, pa.DataType]) -> pa.Field:
    return pa.field(*column)


_ID = pa.field("id", pa.string(), nullable=False, metadata=_PRIMARY_KEY)
PARENT_SCHEMA = pa.schema(
    [_ID, *(pa.field(name, pa.string()) for name in ("text", "title", "parts", "meta_json"))]
)
DOCUMENT_SCHEMA = pa.schema(
    [
        _ID,
        *(pa.field(name, pa.string()) for name in ("content_hash", "path", "title", "url")),
        pa.field("chunks", pa.int64()),
        pa.field("meta_json", pa.string()),
    ]
)


def read_spec(schema: pa.Schema, name: str) -> tuple[IndexSpec, int]:
    """What a chunk table was made for, and its analysis version.

    Raises:
        IndexSchemaMismatch: ragweave did not write it, or a newer version did.
    """
    try:
        kept = json.loads((schema.metadata or {})[_METADATA_KEY])
        if kept["format"] == FORMAT:
            return IndexSpec(**kept["spec"]), int(kept["analysis"])
    except (KeyError, TypeError, ValueError) as error:
        raise IndexSchemaMismatch(
            f"{name} was not made by ragweave. Choose another path or name."
        ) from error
    raise IndexSchemaMismatch(
        f"{name} has format {kept['format']}, this version of ragweave reads {FORMAT}. "
        "Ingest into another index, or use the version that made it."
    )


def chunk_rows(checked: Sequence[CheckedChunk], spec: IndexSpec) -> pa.Table:
    """Rows of the chunk table, with the terms of title and text."""
    chunks = [item.chunk for item in checked]
    schema = chunk_schema(spec)
    arrays: dict[str, Any] = {
        "id": [chunk.id for chunk in chunks],
        **{name: [getattr(chunk, name) for chunk in chunks] for name in _CHUNK_COLUMNS},
        "meta_json": [item.meta_json for item in checked],
        TERMS: [" ".join(terms(f"{chunk.title or ''}\n{chunk.text}")) for chunk in chunks],
        VECTOR: [np.asarray(item.vector, dtype=np.float32) for item in checked],
        **{column(field): [item.fields[field] for item in checked] for field in spec.fields},
    }
    return pa.table([pa.array(arrays[field.name], field.type) for field in schema], schema=schema)


def to_chunk(row: Row) -> Chunk:
    """The chunk of a row that holds `CHUNK_COLUMNS`, and its vector if the row has it."""
    columns = {name: row[name] for name in ("id", *_CHUNK_COLUMNS)}
    return Chunk(**columns, vector=row.get(VECTOR), metadata=json.loads(row["meta_json"]))


def parent_row(parent: Parent, parts: str, meta_json: str) -> Row:
    """Row of the parent table."""
    return {
        "id": parent.id,
        "text": parent.text,
        "title": parent.title,
        "parts": parts,
        "meta_json": meta_json,
    }


def to_parent(row: Row) -> Parent:
    """The parent of a row."""
    return Parent(
        id=row["id"],
        text=row["text"],
        title=row["title"],
        parts=json.loads(row["parts"]),
        metadata=json.loads(row["meta_json"]),
    )


def document_row(document: DocumentRecord, meta_json: str) -> Row:
    """Row of the document table."""
    columns = asdict(document)
    del columns["metadata"]
    return {**columns, "meta_json": meta_json}


def to_document(row: Row) -> DocumentRecord:
    """The document record of a row."""
    columns = dict(row)
    metadata = json.loads(columns.pop("meta_json"))
    return DocumentRecord(**columns, metadata=metadata)


def batches(
    rows: Sequence[RowT], size: Callable[[RowT], int], *, most: int, largest: int
) -> Iterator[list[RowT]]:
    """Cut `rows` into lists of at most `most` rows whose sizes add up to at most `largest`.

    A row that is larger by itself stands alone.
    """
    batch: list[RowT] = []
    total = 0
    for row in rows:
        if batch and (len(batch) == most or total + size(row) > largest):
            yield batch
            batch, total = [], 0
        batch.append(row)
        total += size(row)
    if batch:
        yield batch


def groups_of(ids: Sequence[str], size: int) -> Iterator[list[str]]:
    """Distinct ids in lists of at most `size`, for `IN` conditions of bounded length."""
    distinct = iter(dict.fromkeys(ids))
    while group := list(islice(distinct, size)):
        yield group


def at_or_below(path: str) -> str:
    """SQL that holds for a path and for all below it, with either kind of slash."""
    bare = path.rstrip("/\\")
    below = (
        f"(`path` >= {literal(bare + slash)} AND `path` < {literal(bare + chr(ord(slash) + 1))})"
        for slash in "/\\"
    )
    return f"(`path` = {literal(path)} OR `path` = {literal(bare)} OR {' OR '.join(below)})"


def column(field: str) -> str:
    """Column of a declared filter field."""
    return f"field_{field}"


def where(conditions: Sequence[Condition], fields: Mapping[str, FieldType]) -> str | None:
    """SQL that holds where all conditions do; None if there are none."""
    parts = [
        _sql(column(condition.field) if condition.field in fields else condition.field, condition)
        for condition in conditions
    ]
    return " AND ".join(parts) or None


def one_of(name: str, values: Sequence[FieldValue]) -> str:
    """SQL that holds where column `name` has one of the values."""
    return f"`{name}` IN ({', '.join(map(literal, values))})" if values else "false"


def literal(value: FieldValue) -> str:
    """A value in SQL."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, datetime):
        return f"timestamp '{value.isoformat(timespec='microseconds')}'"
    if value == -(2**63):  # its digits alone are one too many
        return f"({value + 1} - 1)"
    return repr(value)


def _sql(name: str, condition: Condition) -> str:
    value = condition.value
    if isinstance(value, tuple):
        found = one_of(name, value)
        return found if condition.operator == "$in" else f"(`{name}` IS NULL OR NOT ({found}))"
    compared = f"`{name}` {_SQL_OPERATORS[condition.operator]} {literal(value)}"
    return f"(`{name}` IS NULL OR {compared})" if condition.operator == "$ne" else compared
