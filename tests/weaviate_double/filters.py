"""Which objects a filter lets through. Without a value an object passes no condition but `!=`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from weaviate.proto.v1 import base_pb2

from tests.weaviate_double.collection import Collection, Refused, StoredObject

Check = Callable[[StoredObject], bool]

_F = base_pb2.Filters

_COMPARE: dict[int, Callable[[Any, Any], bool]] = {
    _F.OPERATOR_EQUAL: lambda value, wanted: bool(value == wanted),
    _F.OPERATOR_CONTAINS_ANY: lambda value, wanted: value in wanted,
    _F.OPERATOR_GREATER_THAN: lambda value, wanted: bool(value > wanted),
    _F.OPERATOR_GREATER_THAN_EQUAL: lambda value, wanted: bool(value >= wanted),
    _F.OPERATOR_LESS_THAN: lambda value, wanted: bool(value < wanted),
    _F.OPERATOR_LESS_THAN_EQUAL: lambda value, wanted: bool(value <= wanted),
}


def check_of(collection: Collection, condition: Any) -> Check:
    """What a filter, given as a protobuf `Filters`, checks an object for."""
    if condition.operator in (_F.OPERATOR_AND, _F.OPERATOR_OR):
        checks = [check_of(collection, part) for part in condition.filters]
        together = all if condition.operator == _F.OPERATOR_AND else any
        return lambda item: together(check(item) for check in checks)
    kind, read = _reader(collection, condition.target.property)
    wanted = _wanted(kind, condition)
    if condition.operator == _F.OPERATOR_NOT_EQUAL:
        return lambda item: bool(read(item) != wanted)
    if condition.operator not in _COMPARE:
        raise Refused(f"unknown filter operator {condition.operator}")
    compare = _COMPARE[condition.operator]
    return lambda item: (value := read(item)) is not None and compare(value, wanted)


def _reader(collection: Collection, name: str) -> tuple[str, Callable[[StoredObject], Any]]:
    """Type of the property that a filter is about, and what reads its value from an object."""
    if name in ("_id", "id"):
        return "text", lambda item: item.id
    if name not in collection.properties:
        raise Refused(f"no such prop with name '{name}' found in class '{collection.name}'")
    schema = collection.properties[name]
    if not schema.get("indexFilterable", True) and not schema.get("indexSearchable", True):
        raise Refused(f"Filtering by property '{name}' requires inverted index")
    kind = schema["dataType"][0]
    return kind, lambda item: _comparable(kind, item.properties.get(name))


def _comparable(kind: str, value: Any) -> Any:
    """A value as it is compared: whole texts without white space around them, dates as such."""
    if kind == "date" and value is not None:
        return datetime.fromisoformat(value)
    return value.strip() if isinstance(value, str) else value


def _wanted(kind: str, condition: Any) -> Any:
    """The value of a condition, out of the one field of the protobuf that holds it."""
    held = condition.WhichOneof("test_value")
    value = getattr(condition, held)
    if held.endswith("_array"):
        return {_comparable(kind, one) for one in value.values}
    return _comparable(kind, value)
