"""Portable filters as Weaviate's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weaviate.classes.query import Filter

from ragweave.stores.base import FieldType, Filters
from ragweave.stores.filters import Condition, FieldValue, parse_filters
from ragweave.stores.weaviate_schema import field_property

WeaviateFilter = Any
"""The client's filter, whose class is private."""

_PROPERTIES = {
    "id": "chunk_id",
    "document_id": "document_id",
    "parent_id": "parent_id",
    "path": "path",
}
_WRAP = "\x01"


def translate(
    filters: Filters, fields: Mapping[str, FieldType]
) -> tuple[WeaviateFilter | None, bool]:
    """The server's filter (None for no condition), and whether any chunk can pass it.

    Raises:
        IndexSchemaMismatch: a field is not declared, or a value is not of its type.
    """
    conditions = parse_filters(filters, fields)
    possible = not any(c.operator == "$in" and c.value == () for c in conditions)
    parts = [_one(condition) for condition in conditions if condition.value != ()]
    return (Filter.all_of(parts) if parts else None), possible


def kept_whole(value: str) -> str:
    """A text as it is stored and asked for where it is compared whole.

    The server takes white space off both ends of such a text, and has no row for an empty one, so
    texts of that kind are wrapped in a character that it leaves alone.
    """
    bare = value.strip()
    return value if value == bare and value and value[0] != _WRAP else f"{_WRAP}{value}{_WRAP}"


def as_written(value: str) -> str:
    """The text that `kept_whole` was given."""
    return value[1:-1] if value.startswith(_WRAP) else value


def stored_value(value: FieldValue) -> FieldValue:
    """A field's value as a property holds it and a filter asks for it; a boolean is 0 or 1."""
    if isinstance(value, str):
        return kept_whole(value)
    return int(value) if isinstance(value, bool) else value


def _one(condition: Condition) -> WeaviateFilter:
    target = Filter.by_property(_PROPERTIES.get(condition.field) or field_property(condition.field))
    if isinstance(condition.value, tuple):
        values: list[Any] = [stored_value(value) for value in condition.value]
        if condition.operator == "$in":
            return target.contains_any(values)
        return Filter.all_of([target.not_equal(value) for value in values])
    value = stored_value(condition.value)
    match condition.operator:
        case "$eq":
            return target.equal(value)
        case "$ne":
            return target.not_equal(value)
        case "$gt":
            return target.greater_than(value)
        case "$gte":
            return target.greater_or_equal(value)
        case "$lt":
            return target.less_than(value)
        case _:
            return target.less_or_equal(value)
