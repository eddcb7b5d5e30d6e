from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from ragweave.state.errors import IndexSchemaMismatch
from ragweave.stores.base import FieldType
from ragweave.stores.filters import Condition, field_value, parse_filters

FIELDS: dict[str, FieldType] = {
    "year": "int",
    "price": "number",
    "draft": "bool",
    "author": "text",
    "published": "date",
}
MIDNIGHT = datetime(2024, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"author": "Ann"}, [Condition("author", "$eq", "Ann")]),
        ({"year": [1, 2]}, [Condition("year", "$in", (1, 2))]),
        ({"year": []}, [Condition("year", "$in", ())]),
        (
            {"year": {"$gte": 1, "$lt": 9}},
            [Condition("year", "$gte", 1), Condition("year", "$lt", 9)],
        ),
        ({"year": 2**53 + 1}, [Condition("year", "$eq", 2**53 + 1)]),
        ({"price": 3}, [Condition("price", "$eq", 3.0)]),
        ({"draft": {"$ne": True}}, [Condition("draft", "$ne", True)]),
        ({"document_id": {"$nin": {"a"}}}, [Condition("document_id", "$nin", ("a",))]),
        ({"published": date(2024, 1, 1)}, [Condition("published", "$eq", MIDNIGHT)]),
        ({"published": "2024-01-01T08:00+08:00"}, [Condition("published", "$eq", MIDNIGHT)]),
        ({}, []),
    ],
)
def test_filters_are_read(filters: dict[str, Any], expected: list[Condition]) -> None:
    assert parse_filters(filters, FIELDS) == expected


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"colour": "red"}, "Cannot filter on 'colour': the index declares author, "),
        ({"text": "red"}, "Cannot filter on 'text'"),
        ({"year": {"$regex": "1.*"}}, "unknown operator '$regex'; known: $eq, "),
        ({"year": {"$in": 1}}, "$in and $nin take a list"),
        ({"year": {"$gt": [1]}}, "$in and $nin take a list"),
        ({"year": "2024"}, "the value is '2024', not a whole number of 64 bits"),
        ({"year": 2**63}, "not a whole number of 64 bits"),
        ({"year": 1.5}, "not a whole number"),
        ({"year": True}, "not a whole number"),
        ({"year": None}, "not a whole number"),
        ({"price": float("nan")}, "the value is nan, not a number"),
        ({"price": 10**400}, "not a number"),
        ({"draft": 1}, "not true or false"),
        ({"author": b"x"}, "not a text"),
        ({"author": 42}, """42, not a text. On the command line: --filter 'author="42"'."""),
        ({"published": "yesterday"}, "'yesterday', not a date in ISO 8601 form"),
        ({"published": 2024}, "2024, not a date"),
        ({"published": "0001-01-01T00:00+14:00"}, "not a date"),
    ],
)
def test_a_filter_that_does_not_fit_says_why(filters: dict[str, Any], message: str) -> None:
    with pytest.raises(IndexSchemaMismatch) as caught:
        parse_filters(filters, FIELDS)
    assert message in str(caught.value)


def test_whole_floats_are_whole_numbers() -> None:
    # JSON readers of other languages write 2024 as 2024.0.
    assert field_value(2024.0, "int") == 2024
