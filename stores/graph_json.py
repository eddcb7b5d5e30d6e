"""Records of a graph as JSON text, for stores that keep them as one column."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
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


def to_json(record: Record) -> str:
    """A record as JSON text."""
    return json.dumps(asdict(record), ensure_ascii=False)


def from_json(table: TableName, text: str) -> Any:
    """The record that `to_json` made the text of. Unknown fields are ignored."""
    kind = RECORD_TYPES[table]
    known = {field.name for field in fields(kind)}
    values = {name: value for name, value in json.loads(text).items() if name in known}
    if "findings" in values:
        values["findings"] = [Finding(**finding) for finding in values["findings"]]
    return kind(**{name: _frozen(value) for name, value in values.items()})


def _frozen(value: Any) -> Any:
    """Lists as the tuples that records have."""
    return tuple(value) if isinstance(value, list) else value
