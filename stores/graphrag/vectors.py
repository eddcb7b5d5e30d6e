"""Find the vectors of a GraphRAG output folder, in whichever form they were left there.

In this order: parquet snapshots (`embeddings.entity_description.parquet`), a numpy archive
(`vectors.npz` with `entity_description` and `entity_description_ids`), the LanceDB folder. The
first that has a vector for every record is taken; LanceDB comes last because importing it takes
longer than reading everything else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet

from ragweave.stores.graph import Embedded
from ragweave.stores.graphrag.read import output_folder
from ragweave.stores.vector_table import VectorTable

NAMES: dict[Embedded, str] = {
    "entities": "entity_description",
    "reports": "community_full_content",
}


def read_vectors(path: Path, table: Embedded, ids: Collection[str]) -> VectorTable | None:
    """Vectors of the records `ids`; None where the folder has none, or not one for each."""
    folder, needed = output_folder(path), set(ids)
    for found in _sources(folder, NAMES[table]):
        if found is not None and needed <= set(found.ids):
            return _only(found, needed)
    return None


def _sources(folder: Path, name: str) -> Iterator[VectorTable | None]:
    yield _from_parquet(folder / f"embeddings.{name}.parquet")
    yield _from_archive(folder / "vectors.npz", name)
    yield _from_lancedb(folder / "lancedb", name)


def _only(table: VectorTable, ids: Collection[str]) -> VectorTable:
    kept = [row for row, record in enumerate(table.ids) if record in ids]
    if len(kept) == len(table.ids):
        return table
    return VectorTable([table.ids[row] for row in kept], table.matrix[kept])


def _from_parquet(path: Path) -> VectorTable | None:
    if not path.is_file():
        return None
    rows = parquet.ParquetFile(path).read(columns=["id", "embedding"])
    return _table(rows["id"].to_pylist(), rows["embedding"])


def _from_archive(path: Path, name: str) -> VectorTable | None:
    if not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as archive:
        if name not in archive or f"{name}_ids" not in archive:
            return None
        return VectorTable(archive[f"{name}_ids"].tolist(), archive[name])


def _from_lancedb(path: Path, name: str) -> VectorTable | None:
    # GraphRAG's older settings put a prefix before the table's name and dots inside it.
    folders = sorted(path.glob("*.lance"))
    table = next((f.stem for f in folders if f.stem.replace(".", "_").endswith(name)), None)
    if table is None:
        return None
    import lancedb

    rows = lancedb.connect(path.absolute()).open_table(table).to_arrow()
    return _table(rows["id"].to_pylist(), rows["vector"])


def _table(ids: list[str], vectors: Any) -> VectorTable:
    flat = vectors.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return VectorTable(ids, flat.reshape(len(ids), -1))
