"""The form that Studio makes of each context schema: every field is described and bounded."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

GRAPHS = json.loads((Path(__file__).parents[2] / "langgraph.json").read_text("utf-8"))["graphs"]
BOUNDS = {"maxLength", "pattern", "maximum", "exclusiveMaximum", "maxItems", "maxProperties"}


@pytest.mark.parametrize("name", GRAPHS)
def test_every_field_is_described_and_bounded(name: str) -> None:
    schema = importlib.import_module(f"ragweave.graphs.{name}").graph.get_context_jsonschema()
    fields = schema["properties"]
    assert [field for field, shown in fields.items() if not shown.get("description")] == []
    assert [field for field, shown in fields.items() if not is_bounded(shown)] == []
    numbers = [kind for shown in fields.values() for kind in kinds(shown) if is_number(kind)]
    assert all({"minimum", "exclusiveMinimum"} & set(number) for number in numbers)


def is_bounded(field: dict[str, Any]) -> bool:
    """Whether no value of any size fits: a choice, a switch, a prompt, or something with a most."""
    return field.get("langgraph_type") == "prompt" or all(
        kind["type"] in ("boolean", "null") or "enum" in kind or BOUNDS & set(kind)
        for kind in kinds(field)
    )


def kinds(field: dict[str, Any]) -> list[dict[str, Any]]:
    """What a field may hold, such as a number or null."""
    return field.get("anyOf") or [field]


def is_number(kind: dict[str, Any]) -> bool:
    return kind["type"] in ("integer", "number")
