"""Portable filters as Weaviate's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weaviate.classes.query import Filter

from ragweave.stores.base import FieldType, Filters
from ragweave.stores.filters import Condition, FieldValue, Operator, parse_filters
from ragweave.stores.weaviate.schema import big_property, field_property

WeaviateFilter = Any
"""The client's filter, whose class is private."""

_PROPERTIES = {
    "id": "chunk_id",
    "document_id": "document_id",
    "parent_id": "parent_id",
    "path": "path",
}
_WRAP = "\x01"
_FIRST_ROUNDED = 2**53


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


def is_big(value: object) -> bool:
    """Whether a whole number is one that a server, which keeps doubles, would round."""
    return isinstance(value, int) and abs(value) >= _FIRST_ROUNDED


def _one(condition: Condition) -> WeaviateFilter:
    field, value = condition.field, condition.value
    if isinstance(value, tuple):
        if condition.operator == "$nin":
            return Filter.all_of([_compared(field, "$ne", one) for one in value])
        return _one_of(field, value)
    return _compared(field, condition.operator, value)


def _one_of(field: str, values: Sequence[FieldValue]) -> WeaviateFilter:
    big: list[Any] = [str(value) for value in values if is_big(value)]
    others: list[Any] = [stored_value(value) for value in values if not is_big(value)]
    parts = []
    if big:
        parts.append(Filter.by_property(big_property(field)).contains_any(big))
    if others:
        parts.append(_target(field).contains_any(others))
    return Filter.any_of(parts)


def _compared(field: str, operator: Operator, value: FieldValue) -> WeaviateFilter:
    target, asked = _target(field), stored_value(value)
    if is_big(value) and operator in ("$eq", "$ne"):
        target, asked = Filter.by_property(big_property(field)), str(value)
    match operator:
        case "$eq":
            return target.equal(asked)
        case "$ne":
            return target.not_equal(asked)
        case "$gt":
            return target.greater_than(asked)
        case "$gte":
            return target.greater_or_equal(asked)
        case "$lt":
            return target.less_than(asked)
        case _:
            return target.less_or_equal(asked)


def _target(field: str) -> Any:
    return Filter.by_property(_PROPERTIES.get(field) or field_property(field))
