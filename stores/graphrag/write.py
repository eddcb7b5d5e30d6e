"""Write a graph as a GraphRAG 3.x output folder, so that GraphRAG's own search runs on it."""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as parquet

from ragweave.stores.base import IndexSpec
from ragweave.stores.graph import TABLES, Embedded, GraphDocument, GraphTables, TableName
from ragweave.stores.graph_json import values_of
from ragweave.stores.graphrag.read import FILES, SPEC_FILE
from ragweave.stores.graphrag.vectors import NAMES

_STRING, _INTEGER, _NUMBER = pa.string(), pa.int64(), pa.float64()
_STRINGS, _INTEGERS = pa.list_(pa.string()), pa.list_(pa.int64())
_FINDINGS = pa.list_(pa.struct([("explanation", _STRING), ("summary", _STRING)]))
_COLUMNS: Mapping[TableName, Sequence[tuple[str, pa.DataType]]] = {
    "documents": [
        ("id", _STRING),
        ("human_readable_id", _INTEGER),
        ("title", _STRING),
        ("text", _STRING),
        ("text_unit_ids", _STRINGS),
        ("creation_date", _STRING),
        ("raw_data", _STRING),
        ("content_hash", _STRING),
    ],
    "text_units": [
        ("id", _STRING),
        ("human_readable_id", _INTEGER),
        ("text", _STRING),
        ("n_tokens", _INTEGER),
        ("document_id", _STRING),
        ("entity_ids", _STRINGS),
        ("relationship_ids", _STRINGS),
        ("covariate_ids", _STRINGS),
    ],
    "entities": [
        ("id", _STRING),
        ("human_readable_id", _INTEGER),
        ("title", _STRING),
        ("type", _STRING),
        ("description", _STRING),
        ("text_unit_ids", _STRINGS),
        ("frequency", _INTEGER),
        ("degree", _INTEGER),
    ],
    "relationships": [
        ("id", _STRING),
        ("human_readable_id", _INTEGER),
        ("source", _STRING),
        ("target", _STRING),
        ("description", _STRING),
        ("weight", _NUMBER),
        ("combined_degree", _INTEGER),
        ("text_unit_ids", _STRINGS),
    ],
    "communities": [
        ("id", _STRING),
        ("human_readable_id", _INTEGER),
        ("community", _INTEGER),
        ("level", _INTEGER),
        ("parent", _INTEGER),
        ("children", _INTEGERS),
        ("title", _STRING),
        ("entity_ids", _STRINGS),
        ("relationship_ids", _STRINGS),
        ("text_unit_ids", _STRINGS),
        ("period", _STRING),
        ("size", _INTEGER),
    ],
    "reports": [
        ("id", _STRING),
        ("human_readable_id", _INTEGER),
        ("community", _INTEGER),
        ("level", _INTEGER),
        ("parent", _INTEGER),
        ("children", _INTEGERS),
        ("title", _STRING),
        ("summary", _STRING),
        ("full_content", _STRING),
        ("rank", _NUMBER),
        ("rating_explanation", _STRING),
        ("findings", _FINDINGS),
        ("full_content_json", _STRING),
        ("period", _STRING),
        ("size", _INTEGER),
    ],
    "claims": [
        ("id", _STRING),
        ("human_readable_id", _INTEGER),
        ("covariate_type", _STRING),
        ("type", _STRING),
        ("description", _STRING),
        ("subject_id", _STRING),
        ("object_id", _STRING),
        ("status", _STRING),
        ("start_date", _STRING),
        ("end_date", _STRING),
        ("source_text", _STRING),
        ("text_unit_id", _STRING),
    ],
}
"""GraphRAG 3.3.0's columns in its order, and `content_hash`, which it ignores."""

_RENAMED = {
    "human_readable_id": "number",
    "n_tokens": "tokens",
    "covariate_ids": "claim_ids",
    "combined_degree": "degree",
    "subject_id": "subject",
    "object_id": "object",
}


def write_tables(folder: Path, tables: GraphTables, changed: Sequence[TableName] = TABLES) -> None:
    """Write the `changed` tables, each in one step: a reader sees the old file or the new one."""
    folder.mkdir(parents=True, exist_ok=True)
    units: dict[str, list[str]] = {}
    for unit in tables.text_units:
        units.setdefault(unit.document_id or "", []).append(unit.id)
    for name in changed:
        records = sorted(getattr(tables, name), key=lambda record: record.number)
        rows = [_row(name, record, units) for record in records]
        table = pa.Table.from_pylist(rows, schema=pa.schema(_COLUMNS[name]))
        _replace(folder / FILES[name], partial(parquet.write_table, table))


def write_vectors(folder: Path, table: Embedded, vectors: Mapping[str, Sequence[float]]) -> None:
    """Write the vectors of a table into the folder's LanceDB, in place of those there."""
    for stale in (folder / f"embeddings.{NAMES[table]}.parquet", folder / "vectors.npz"):
        stale.unlink(missing_ok=True)
    import lancedb

    database = lancedb.connect((folder / "lancedb").absolute())
    stored = folder / "lancedb" / f"{NAMES[table]}.lance"
    if not vectors:
        shutil.rmtree(stored, ignore_errors=True)
        return
    dimension = len(next(iter(vectors.values())))
    rows = pa.table(
        {
            "id": pa.array(list(vectors), _STRING),
            "vector": pa.array(map(list, vectors.values()), pa.list_(pa.float32(), dimension)),
        }
    )
    mode: Literal["create", "overwrite"] = "overwrite" if stored.is_dir() else "create"
    database.create_table(NAMES[table], rows, mode=mode)


def write_spec(folder: Path, spec: IndexSpec) -> None:
    """Note down what the vectors are made with."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"dimension": spec.dimension, "embeddings": spec.embeddings})
    _replace(folder / SPEC_FILE, lambda path: path.write_text(text, encoding="utf-8"))


def read_spec(folder: Path) -> IndexSpec | None:
    """What `write_spec` noted down; None in a folder that GraphRAG wrote."""
    try:
        made = json.loads((folder / SPEC_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return IndexSpec(dimension=made["dimension"], embeddings=made["embeddings"])


def _row(name: TableName, record: Any, units: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    values = values_of(record)
    row = {column: values.get(_RENAMED.get(column, column)) for column, _ in _COLUMNS[name]}
    if isinstance(record, GraphDocument):
        row["text_unit_ids"] = units.get(record.id, [])
        row["raw_data"] = json.dumps(dict(record.metadata), ensure_ascii=False)
    return row


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    unfinished = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")
    try:
        write(unfinished)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
