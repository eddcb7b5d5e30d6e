"""Which objects a filter lets through.

Without a value an object passes no condition but `not equal`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from weaviate.proto.v1 import base_pb2

from tests.weaviate_double.collection import Collection, Refused, StoredObject

_F = base_pb2.Filters

_COMPARE: dict[int, Callable[[Any, Any], bool]] = {
    _F.OPERATOR_EQUAL: lambda value, wanted: bool(value == wanted),
    _F.OPERATOR_CONTAINS_ANY: lambda value, wanted: value in wanted,
    _F.OPERATOR_GREATER_THAN: lambda value, wanted: bool(value > wanted),
    _F.OPERATOR_GREATER_THAN_EQUAL: lambda value, wanted: bool(value >= wanted),
    _F.OPERATOR_LESS_THAN: lambda value, wanted: bool(value < wanted),
    _F.OPERATOR_LESS_THAN_EQUAL: lambda value, wanted: bool(value <= wanted),
}


def passes(collection: Collection, condition: Any, item: StoredObject) -> bool:
    """Whether an object passes a filter, given as a protobuf `Filters`."""
    if condition.operator == _F.OPERATOR_AND:
        return all(passes(collection, part, item) for part in condition.filters)
    if condition.operator == _F.OPERATOR_OR:
        return any(passes(collection, part, item) for part in condition.filters)
    kind, value = _stored(collection, condition.target.property, item)
    wanted = _wanted(kind, condition)
    if condition.operator == _F.OPERATOR_NOT_EQUAL:
        return bool(value != wanted)
    if condition.operator not in _COMPARE:
        raise Refused(f"unknown filter operator {condition.operator}")
    return value is not None and _COMPARE[condition.operator](value, wanted)


def _stored(collection: Collection, name: str, item: StoredObject) -> tuple[str, Any]:
    """Type and value of the property that a filter is about."""
    if name in ("_id", "id"):
        return "text", item.id
    if name not in collection.properties:
        raise Refused(f"no such prop with name '{name}' found in class '{collection.name}'")
    schema = collection.properties[name]
    if not schema.get("indexFilterable", True) and not schema.get("indexSearchable", True):
        raise Refused(f"Filtering by property '{name}' requires inverted index")
    kind = schema["dataType"][0]
    value = item.properties.get(name)
    return kind, None if value is None else _comparable(kind, value)


def _comparable(kind: str, value: Any) -> Any:
    """A value as it is compared: whole texts without white space around them, dates as such."""
    if kind == "date":
        return datetime.fromisoformat(value)
    return value.strip() if isinstance(value, str) else value


def _wanted(kind: str, condition: Any) -> Any:
    """The value of a condition, out of the one field of the protobuf that holds it."""
    held = condition.WhichOneof("test_value")
    value = getattr(condition, held)
    if held.endswith("_array"):
        return [_comparable(kind, one) for one in value.values]
    return _comparable(kind, value)
