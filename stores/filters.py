"""Portable filters: read once here, so that every backend refuses and matches the same things.

A backend translates the `Condition`s. What they mean is fixed here:

- A chunk without a value for the field matches `$ne` and `$nin` only.
- `$in` of nothing matches nothing, `$nin` of nothing everything.
- Text is compared whole and as it is written: `$eq` is not a search.
- Dates are ISO 8601 strings, `date` or `datetime`; without a time zone they are UTC.
"""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Literal, get_args

from ragweave.state.errors import IndexSchemaMismatch
from ragweave.stores.base import BUILT_IN_FIELDS, FieldType, Filters

Operator = Literal["$eq", "$ne", "$in", "$nin", "$gt", "$gte", "$lt", "$lte"]
FieldValue = str | int | float | bool | datetime

_OPERATORS = get_args(Operator)
_NAMES: Mapping[FieldType, str] = {
    "text": "a text",
    "int": "a whole number of 64 bits",
    "number": "a number",
    "bool": "true or false",
    "date": "a date in ISO 8601 form",
}


@dataclass(frozen=True, slots=True)
class Condition:
    """`field operator value`; the value is a tuple for `$in` and `$nin`, else a single one."""

    field: str
    operator: Operator
    value: FieldValue | tuple[FieldValue, ...]


def parse_filters(filters: Filters, fields: Mapping[str, FieldType]) -> list[Condition]:
    """Conditions that must all hold, each value in the type that its field has in the index.

    `fields` are those that the index declares; the built-in ones are known besides.

    Raises:
        IndexSchemaMismatch: a field is not declared, an operator is unknown, or a value is not of
            the field's type.
    """
    types: dict[str, FieldType] = {**fields, **dict.fromkeys(BUILT_IN_FIELDS, "text")}
    return [
        condition
        for field, wanted in filters.items()
        for condition in _conditions(field, wanted, _type_of(field, types))
    ]


def field_value(value: object, kind: FieldType) -> FieldValue:
    """A value as a column of type `kind` holds it.

    Raises:
        ValueError: it cannot; the message reads on from "is".
    """
    if kind == "date":
        return _utc(value)
    if (kind == "text" and isinstance(value, str)) or (kind == "bool" and isinstance(value, bool)):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        if kind == "number" and abs(value) <= sys.float_info.max:
            return float(value)
        if kind == "int" and -(2**63) <= value < 2**63 and value == int(value):
            return int(value)
    raise ValueError(f"{reprlib.repr(value)}, not {_NAMES[kind]}")


def _type_of(field: str, types: Mapping[str, FieldType]) -> FieldType:
    if field in types:
        return types[field]
    raise IndexSchemaMismatch(
        f"Cannot filter on {field!r}: the index declares {', '.join(sorted(types))}. "
        f"Fields are declared when an index is made: `ragweave ingest --filter-field {field}:TYPE`."
    )


def _conditions(field: str, wanted: object, kind: FieldType) -> list[Condition]:
    if isinstance(wanted, Mapping):
        return [_condition(field, operator, value, kind) for operator, value in wanted.items()]
    if _is_list(wanted):
        return [_condition(field, "$in", wanted, kind)]
    return [_condition(field, "$eq", wanted, kind)]


def _condition(field: str, operator: Any, wanted: Any, kind: FieldType) -> Condition:
    if operator not in _OPERATORS:
        raise IndexSchemaMismatch(
            f"Filter on {field!r}: unknown operator {operator!r}; known: {', '.join(_OPERATORS)}."
        )
    if (operator in ("$in", "$nin")) != _is_list(wanted):
        raise IndexSchemaMismatch(
            f"Filter on {field!r}: $in and $nin take a list, the other operators one value."
        )
    try:
        if _is_list(wanted):
            return Condition(field, operator, tuple(field_value(value, kind) for value in wanted))
        return Condition(field, operator, field_value(wanted, kind))
    except ValueError as error:
        number = kind == "text" and isinstance(wanted, int | float)
        hint = f" On the command line: --filter '{field}=\"{wanted}\"'." if number else ""
        raise IndexSchemaMismatch(f"Filter on {field!r}: the value is {error}.{hint}") from error


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence | set | frozenset) and not isinstance(value, str | bytes)


def _utc(value: object) -> datetime:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
        if isinstance(moment, date) and not isinstance(moment, datetime):
            moment = datetime(moment.year, moment.month, moment.day)
        if isinstance(moment, datetime):
            aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            return aware.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise ValueError(f"{reprlib.repr(value)}, not {_NAMES['date']}")
