"""Declared filter fields: reading their declarations, and giving metadata the declared types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ragweave.indexing.document import Unreadable
from ragweave.stores.base import FieldType
from ragweave.stores.checks import check_fields

_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def parse_fields(declarations: Sequence[str]) -> dict[str, FieldType]:
    """Fields by name from declarations such as `year:int`; `text` where no type is given.

    Raises:
        InvalidSetting: a name or a type that no index can have.
    """
    pairs = [declaration.partition(":") for declaration in declarations]
    fields = {name.strip(): cast(FieldType, kind.strip() or "text") for name, _, kind in pairs}
    check_fields(fields)
    return fields


def with_types(metadata: Mapping[str, Any], fields: Mapping[str, FieldType]) -> dict[str, Any]:
    """Metadata with the declared fields in their types: front matter and CSV know only texts.

    Raises:
        Unreadable: a value that cannot be of its field's type.
    """
    typed = dict(metadata)
    for name, kind in fields.items():
        if isinstance(value := typed.get(name), str) and kind not in ("text", "date"):
            try:
                typed[name] = _convert(value.strip(), kind)
            except (ValueError, KeyError):
                raise Unreadable(f"has {name!r}: {value[:40]!r}, which is no {kind}") from None
        elif kind == "text" and isinstance(value, int | float):
            typed[name] = str(value)
    return typed


def _convert(value: str, kind: FieldType) -> int | float | bool:
    if kind == "bool":
        return _WORDS[value.lower()]
    return int(value) if kind == "int" else float(value)
