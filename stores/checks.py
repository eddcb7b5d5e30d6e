"""What no backend may store: unusable vectors, metadata that JSON cannot hold, foreign specs.

Servers take a NaN vector or a date in metadata without complaint and give back something else;
here each is refused before it is sent, with a reason that names the record and the key.
"""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragweave.state.errors import IndexSchemaMismatch, InvalidSetting, WriteFailed
from ragweave.stores.base import BUILT_IN_FIELDS, Chunk, FieldType, IndexSpec, WriteReport
from ragweave.stores.filters import FieldValue, field_value

_LONGEST, _SHORTEST = 3.4028234e38, 1.1754944e-38
"""Lengths of a vector that single precision holds; a shorter one has no direction left."""

_MAX_DEPTH = 100
_MAX_INT_BITS = 4096
_TEXTS = ("id", "document_id", "text", "content_hash")
_OPTIONAL_TEXTS = ("title", "url", "path", "parent_id")
_OPTIONAL_INTS = ("page", "start", "end")


@dataclass(frozen=True, slots=True)
class CheckedChunk:
    """A chunk that can be stored, with the parts that its columns need."""

    chunk: Chunk
    vector: list[float]
    meta_json: str
    fields: Mapping[str, FieldValue | None]
    """Value of every declared field; None where the metadata has none."""


def check_chunks(
    chunks: Sequence[Chunk], spec: IndexSpec
) -> tuple[list[CheckedChunk], dict[str, str]]:
    """Chunks that can be stored, and the reason by id for each that cannot.

    Of chunks with the same id the last one counts, as if they had been written one by one.
    """
    checked: list[CheckedChunk] = []
    failed: dict[str, str] = {}
    for id, chunk in {chunk.id: chunk for chunk in chunks}.items():
        try:
            _check_columns(chunk, _TEXTS, _OPTIONAL_TEXTS, _OPTIONAL_INTS)
            vector = check_vector(chunk.vector, spec.dimension)
            meta_json = to_json(dict(chunk.metadata))
            fields = _declared(chunk.metadata, spec.fields)
        except ValueError as error:
            failed[str(id)] = str(error)
        else:
            checked.append(CheckedChunk(chunk, vector, meta_json, fields))
    return checked, failed


def check_record(record: Any, texts: Sequence[str], optional_texts: Sequence[str] = ()) -> None:
    """Check the columns of a parent or a document record.

    Raises:
        ValueError: the reason why it cannot be stored.
    """
    _check_columns(record, texts, optional_texts, ())


def check_vector(vector: Sequence[float] | None, dimension: int) -> list[float]:
    """The vector, which single precision can hold and compare.

    Raises:
        ValueError: it is missing, empty, all zeros, not finite or not of `dimension` numbers.
    """
    if vector is None or len(vector) == 0:
        raise ValueError("it has no vector")
    numbers = vector if isinstance(vector, list) else list(vector)
    try:
        length = math.hypot(*numbers)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("its vector does not consist of numbers") from None
    if len(numbers) != dimension:
        raise ValueError(f"its vector has {len(numbers)} dimensions, the index has {dimension}")
    if not length <= _LONGEST:  # NaN compares as false
        raise ValueError("its vector holds NaN, infinite or too large numbers")
    if length < _SHORTEST:
        raise ValueError("its vector is all zeros, so it has no direction")
    return numbers


def check_query_vector(vector: Sequence[float] | None, dimension: int, name: str) -> list[float]:
    """The vector of a search.

    Raises:
        IndexSchemaMismatch: it does not fit the index `name`.
    """
    try:
        return check_vector(vector, dimension)
    except ValueError as error:
        raise IndexSchemaMismatch(
            f"Cannot search {name} with this query: {error}. "
            "Use the embeddings that the index was made with."
        ) from error


def to_json(value: Any, key: str = "metadata") -> str:
    """JSON text that `json.loads` turns back into exactly `value`.

    Raises:
        ValueError: JSON cannot hold some part of it; the message names its key.
    """
    _check_json(value, key, 0)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def report_write(name: str, ok: int, failed: Mapping[str, str]) -> WriteReport:
    """The report of a write to index `name` in which `ok` records were stored.

    Raises:
        WriteFailed: some records failed; the message shows the first of them.
    """
    if failed:
        id, reason = next(iter(failed.items()))
        raise WriteFailed(
            f"{len(failed)} of {ok + len(failed)} records were not written to {name}. "
            f"First: {id!r}: {reason}.",
            failed=failed,
        )
    return WriteReport(ok=ok)


def check_spec(name: str, wanted: IndexSpec, stored: IndexSpec) -> None:
    """Check that an index can serve what is asked of it.

    It may declare more fields than are asked for.

    Raises:
        IndexSchemaMismatch: it was made for other embeddings, dimension or fields.
    """
    undeclared = {
        field: kind for field, kind in wanted.fields.items() if stored.fields.get(field) != kind
    }
    if wanted.embeddings != stored.embeddings:
        fault = f"holds vectors of {stored.embeddings!r}, not {wanted.embeddings!r}"
    elif wanted.dimension != stored.dimension:
        fault = f"holds vectors of {stored.dimension} dimensions, not {wanted.dimension}"
    elif undeclared:
        fault = f"does not declare the filter fields {undeclared}, but {dict(stored.fields)}"
    else:
        return
    raise IndexSchemaMismatch(
        f"The index {name} {fault}. Use the settings it was made with, "
        "or ingest into another index."
    )


def check_fields(fields: Mapping[str, FieldType]) -> None:
    """Check the names and types of filter fields.

    Raises:
        InvalidSetting: a name is not a plain identifier or is built in, or a type is unknown.
    """
    for field, kind in fields.items():
        plain = field.isascii() and field.isidentifier() and len(field) <= 64
        if not plain or field in BUILT_IN_FIELDS:
            raise InvalidSetting(
                f"Filter field {field!r}: use a name of ASCII letters, digits and underscores "
                f"other than {', '.join(BUILT_IN_FIELDS)}."
            )
        if kind not in ("text", "int", "number", "bool", "date"):
            raise InvalidSetting(
                f"Filter field {field!r}: unknown type {kind!r}; "
                "use text, int, number, bool or date."
            )


def _check_columns(
    record: Any, texts: Sequence[str], optional_texts: Sequence[str], optional_ints: Sequence[str]
) -> None:
    for name in (*texts, *optional_texts):
        value = getattr(record, name)
        if value is None and name in optional_texts:
            continue
        if not isinstance(value, str):
            raise ValueError(f"its {name} is of type {type(value).__name__}, not text")
        if not _encodable(value):
            raise ValueError(f"its {name} holds a lone surrogate, which is no character")
    for name in optional_ints:
        value = getattr(record, name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise ValueError(f"its {name} is of type {type(value).__name__}, not a whole number")
    if not record.id:
        raise ValueError("its id is empty")


def _declared(
    metadata: Mapping[str, Any], fields: Mapping[str, FieldType]
) -> dict[str, FieldValue | None]:
    values: dict[str, FieldValue | None] = {}
    for field, kind in fields.items():
        value = metadata.get(field)
        try:
            values[field] = None if value is None else field_value(value, kind)
        except ValueError as error:
            raise ValueError(f"its metadata field {field!r} is {error}") from error
    return values


def _check_json(value: Any, key: str, depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise ValueError(f"{key} is nested more than {_MAX_DEPTH} levels deep")
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        if not _encodable(value):
            raise ValueError(f"{key} holds a lone surrogate, which is no character")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{key} is {value}, which JSON cannot hold")
    elif isinstance(value, int):
        if value.bit_length() > _MAX_INT_BITS:
            raise ValueError(f"{key} is a number of more than {_MAX_INT_BITS} bits")
    elif isinstance(value, dict):
        for name, item in value.items():
            if not isinstance(name, str) or not _encodable(name):
                raise ValueError(f"{key} has the key {reprlib.repr(name)}, which is no JSON text")
            _check_json(item, f"{key}[{name!r}]", depth + 1)
    elif isinstance(value, list):
        for at, item in enumerate(value):
            _check_json(item, f"{key}[{at}]", depth + 1)
    else:
        raise ValueError(f"{key} is of type {type(value).__name__}, which JSON cannot hold")


def _encodable(text: str) -> bool:
    try:
        return text.isascii() or bool(text.encode("utf-8"))
    except UnicodeEncodeError:
        return False
