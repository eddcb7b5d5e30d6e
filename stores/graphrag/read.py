"""Read the parquet tables of a GraphRAG 3.x output folder into records.

Columns are taken by name, whatever their order. Empty lists are typed `list<null>` there, numbers
may be missing, and whole rows of claims may be empty but for their subject: all of them are kept.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet

from ragweave.state.errors import IndexMissing, IndexSchemaMismatch
from ragweave.stores.graph import (
    Claim,
    Community,
    Entity,
    Finding,
    GraphDocument,
    GraphTables,
    Relationship,
    Report,
    TextUnit,
)

FILES = {
    "documents": "documents.parquet",
    "text_units": "text_units.parquet",
    "entities": "entities.parquet",
    "relationships": "relationships.parquet",
    "communities": "communities.parquet",
    "reports": "community_reports.parquet",
    "claims": "covariates.parquet",
}
SPEC_FILE = "ragweave.json"
"""What the vectors were made with: GraphRAG keeps that in its settings, not in its output."""
_OPTIONAL = ("documents", "claims")
Row = Mapping[str, Any]
_PREPENDED = re.compile(r"(?:[^\n:]{1,40}: [^\n]*\.\n)+")
"""Metadata that GraphRAG was told to put before each text unit: `title: a.txt.`"""


def output_folder(path: Path) -> Path:
    """The folder with the tables: `path` itself, or `output` in it when it is a project's root.

    Raises:
        IndexMissing: the path is not there.
        IndexSchemaMismatch: it holds no GraphRAG output, or that of an old version.
    """
    if not path.is_dir():
        raise IndexMissing(f"No folder {path}. Name the output folder of a GraphRAG project.")
    for folder in (path, path / "output"):
        if (folder / FILES["entities"]).is_file():
            return folder
    if any(path.rglob("create_final_*.parquet")):
        raise IndexSchemaMismatch(
            f"{path} was written by GraphRAG 0.x or 1.x, which ragweave does not read: run "
            "`graphrag index` of version 3 on its input again."
        )
    raise IndexSchemaMismatch(f"{path} is no GraphRAG output folder: entities.parquet is missing.")


def holds_tables(path: Path) -> bool:
    """Whether there is an output folder at `path`."""
    return any((folder / FILES["entities"]).is_file() for folder in (path, path / "output"))


def stamp(path: Path) -> tuple[tuple[str, int, int], ...]:
    """What changes when a table is written anew: name, time and size of each file.

    Raises:
        IndexMissing, IndexSchemaMismatch: see `output_folder`.
    """
    folder = output_folder(path)
    names = [*FILES.values(), SPEC_FILE]
    found = [(name, folder / name) for name in names if (folder / name).is_file()]
    return tuple((name, file.stat().st_mtime_ns, file.stat().st_size) for name, file in found)


def read_tables(path: Path) -> GraphTables:
    """All tables of an output folder.

    Raises:
        IndexMissing, IndexSchemaMismatch: see `output_folder`; also a table or one of its columns
            that is missing or unreadable.
    """
    folder = output_folder(path)
    documents = {row["id"]: _document(row) for row in _rows(folder, "documents")}
    units = [_text_unit(row) for row in _rows(folder, "text_units")]
    return GraphTables(
        documents=tuple(documents.values()),
        text_units=tuple(_placed(unit, documents.get(unit.document_id or "")) for unit in units),
        entities=tuple(_entity(row) for row in _rows(folder, "entities")),
        relationships=tuple(_relationship(row) for row in _rows(folder, "relationships")),
        communities=tuple(_community(row) for row in _rows(folder, "communities")),
        reports=tuple(_report(row) for row in _rows(folder, "reports")),
        claims=tuple(_claim(row) for row in _rows(folder, "claims")),
    )


def _rows(folder: Path, table: str) -> list[Row]:
    path = folder / FILES[table]
    if not path.is_file():
        if table in _OPTIONAL:
            return []
        raise IndexSchemaMismatch(
            f"{folder} is no complete GraphRAG output: {path.name} is missing."
        )
    try:
        rows = parquet.ParquetFile(path).read().to_pylist()
    except (OSError, ValueError) as error:
        raise IndexSchemaMismatch(f"{path} cannot be read as parquet: {error}") from error
    needed = _COLUMNS[table]
    if rows and (missing := [name for name in needed if name not in rows[0]]):
        raise IndexSchemaMismatch(
            f"{path} lacks the column{'s' * (len(missing) > 1)} {', '.join(missing)} of GraphRAG "
            "3.x: run `graphrag index` of version 3 on its input again."
        )
    return list(rows)


_COLUMNS = {
    "documents": ("id", "title", "text"),
    "text_units": ("id", "text"),
    "entities": ("id", "title", "description", "text_unit_ids"),
    "relationships": ("id", "source", "target", "description", "text_unit_ids"),
    "communities": ("id", "community", "level", "parent", "entity_ids"),
    "reports": ("id", "community", "level", "title", "full_content"),
    "claims": ("id", "subject_id"),
}


def _document(row: Row) -> GraphDocument:
    metadata = row.get("raw_data") or row.get("metadata") or {}
    if isinstance(metadata, str) and metadata.startswith("{"):
        metadata = json.loads(metadata)
    return GraphDocument(
        id=row["id"],
        number=_number(row),
        title=_text(row, "title"),
        text=_text(row, "text"),
        creation_date=_maybe(row, "creation_date"),
        content_hash=_text(row, "content_hash"),
        metadata=metadata if isinstance(metadata, Mapping) else {"raw_data": metadata},
    )


def _text_unit(row: Row) -> TextUnit:
    documents = row.get("document_ids") or [None]
    return TextUnit(
        id=row["id"],
        number=_number(row),
        text=_text(row, "text"),
        tokens=_integer(row, "n_tokens", 0) or None,
        document_id=row.get("document_id") or documents[0],
        entity_ids=_ids(row, "entity_ids"),
        relationship_ids=_ids(row, "relationship_ids"),
        claim_ids=_ids(row, "covariate_ids"),
    )


def _placed(unit: TextUnit, document: GraphDocument | None) -> TextUnit:
    """The unit with its place in the document, which GraphRAG does not write down."""
    if document is None:
        return unit
    prepended = _PREPENDED.match(unit.text)
    for prefix in (0, prepended.end() if prepended else 0):
        start = document.text.find(unit.text[prefix:])
        if start >= 0:
            return replace(unit, start=start, prefix=prefix)
    return unit


def _entity(row: Row) -> Entity:
    return Entity(
        id=row["id"],
        number=_number(row),
        title=_text(row, "title"),
        type=_text(row, "type"),
        description=_text(row, "description"),
        text_unit_ids=_ids(row, "text_unit_ids"),
        frequency=_integer(row, "frequency", 0),
        degree=_integer(row, "degree", 0),
    )


def _relationship(row: Row) -> Relationship:
    return Relationship(
        id=row["id"],
        number=_number(row),
        source=_text(row, "source"),
        target=_text(row, "target"),
        description=_text(row, "description"),
        weight=_float(row, "weight") or 0.0,
        degree=_integer(row, "combined_degree", 0),
        text_unit_ids=_ids(row, "text_unit_ids"),
    )


def _community(row: Row) -> Community:
    return Community(
        **_place_in_hierarchy(row),
        entity_ids=_ids(row, "entity_ids"),
        relationship_ids=_ids(row, "relationship_ids"),
        text_unit_ids=_ids(row, "text_unit_ids"),
    )


def _report(row: Row) -> Report:
    return Report(
        **_place_in_hierarchy(row),
        summary=_text(row, "summary"),
        full_content=_text(row, "full_content"),
        rank=_float(row, "rank"),
        rating_explanation=_text(row, "rating_explanation"),
        findings=tuple(
            Finding(summary=_text(finding, "summary"), explanation=_text(finding, "explanation"))
            for finding in row.get("findings") or ()
            if isinstance(finding, Mapping)
        ),
        full_content_json=_text(row, "full_content_json"),
    )


def _place_in_hierarchy(row: Row) -> dict[str, Any]:
    """The fields that a community and its report have in common."""
    return {
        "id": row["id"],
        "number": _number(row),
        "community": _integer(row, "community", -1),
        "level": _integer(row, "level", 0),
        "parent": _integer(row, "parent", -1),
        "children": tuple(row.get("children") or ()),
        "title": _text(row, "title"),
        "period": _maybe(row, "period"),
        "size": _integer(row, "size", 0),
    }


def _claim(row: Row) -> Claim:
    return Claim(
        id=row["id"],
        number=_number(row),
        covariate_type=_text(row, "covariate_type") or "claim",
        type=_maybe(row, "type"),
        description=_maybe(row, "description"),
        subject=_text(row, "subject_id"),
        object=_maybe(row, "object_id"),
        status=_maybe(row, "status"),
        start_date=_maybe(row, "start_date"),
        end_date=_maybe(row, "end_date"),
        source_text=_maybe(row, "source_text"),
        text_unit_id=_maybe(row, "text_unit_id"),
    )


def _number(row: Row) -> int:
    return _integer(row, "human_readable_id", -1)


def _text(row: Row, name: str) -> str:
    value = row.get(name)
    return "" if value is None else str(value)


def _maybe(row: Row, name: str) -> str | None:
    value = row.get(name)
    return None if value is None else str(value)


def _ids(row: Row, name: str) -> tuple[str, ...]:
    return tuple(str(value) for value in row.get(name) or ())


def _float(row: Row, name: str) -> float | None:
    value = row.get(name)
    return None if value is None or math.isnan(value) else float(value)


def _integer(row: Row, name: str, default: int) -> int:
    value = _float(row, name)
    return default if value is None else int(value)
