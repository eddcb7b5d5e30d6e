"""Records of a graph as plain data, and as JSON text for stores that keep them as one column."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ragweave.stores.graph import (
    Claim,
    Community,
    Entity,
    Finding,
    GraphDocument,
    Relationship,
    Report,
    TableName,
    TextUnit,
)

Record = GraphDocument | TextUnit | Entity | Relationship | Community | Report | Claim

RECORD_TYPES: Mapping[TableName, type[Any]] = {
    "documents": GraphDocument,
    "text_units": TextUnit,
    "entities": Entity,
    "relationships": Relationship,
    "communities": Community,
    "reports": Report,
    "claims": Claim,
}
_FIELDS = {kind: tuple(field.name for field in fields(kind)) for kind in RECORD_TYPES.values()}


def values_of(record: Record) -> dict[str, Any]:
    """A record's fields by name. What they hold is not copied: whole graphs are written at once."""
    values = {name: getattr(record, name) for name in _FIELDS[type(record)]}
    if isinstance(record, Report):
        values["findings"] = [
            {"summary": finding.summary, "explanation": finding.explanation}
            for finding in record.findings
        ]
    return values


def to_json(record: Record) -> str:
    """A record as JSON text."""
    return json.dumps(values_of(record), ensure_ascii=False)


def from_json(table: TableName, text: str) -> Any:
    """The record that `to_json` made the text of. Unknown fields are ignored."""
    kind = RECORD_TYPES[table]
    read = json.loads(text)
    values = {name: read[name] for name in _FIELDS[kind] if name in read}
    if "findings" in values:
        values["findings"] = [Finding(**finding) for finding in values["findings"]]
    return kind(**{name: _frozen(value) for name, value in values.items()})


def _frozen(value: Any) -> Any:
    """Lists as the tuples that records have."""
    return tuple(value) if isinstance(value, list) else value
