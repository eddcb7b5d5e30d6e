"""Copying a knowledge graph from one store into another without embedding anything anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragweave.state.errors import IndexSchemaMismatch, InvalidSetting
from ragweave.stores.base import IndexSpec
from ragweave.stores.graph import (
    EMBEDDED,
    TABLES,
    GraphChanges,
    GraphIndex,
    GraphReader,
    GraphTables,
    TableName,
)
from ragweave.stores.graph_changes import changed, gone

Vectors = Mapping[Any, Mapping[str, Sequence[float]]]
"""By the name of a table, and the id of a record."""


async def copy_graph(
    source: GraphReader, target: GraphIndex, *, embeddings: str = ""
) -> dict[TableName, int]:
    """Make the target the same graph as the source; how many records of each table were written.

    A graph is a whole: what the target holds beside the source's records is deleted.
    `embeddings` names what made the vectors, if the source does not know, as GraphRAG's output.

    Raises:
        IndexMissing: the source has no graph.
        IndexSchemaMismatch: the target was made for other embeddings or another dimension.
        InvalidSetting: the source has no vectors, or the target holds a graph of other documents.
    """
    tables = await source.tables()
    vectors = {table: await source.vectors(table) for table in EMBEDDED}
    await target.ensure(await _spec_of(source, embeddings))
    there = await target.tables()
    _expect_related(target.name, tables, there)
    there_vectors = {table: await target.vectors(table) for table in EMBEDDED}
    changes = _changes(tables, vectors, there, there_vectors)
    await target.write(changes)
    return {table: len(getattr(changes.upsert, table)) for table in TABLES}


async def _spec_of(source: GraphReader, embeddings: str) -> IndexSpec:
    spec = await source.spec()
    if spec is None:
        raise InvalidSetting(
            f"The graph of {source.name} has no entities with vectors, so there is nothing to copy."
        )
    if embeddings:
        spec.expect_embeddings(embeddings, source.name)
    return replace(spec, embeddings=spec.embeddings or embeddings)


def _expect_related(name: str, tables: GraphTables, there: GraphTables) -> None:
    """Keep the graph of one corpus from being overwritten with that of another."""
    shared = tables.unit_by_id.keys() & there.unit_by_id.keys()
    titles = {document.title for document in tables.documents}
    known = any(document.title in titles for document in there.documents)
    if there.text_units and not shared and not known:
        raise IndexSchemaMismatch(
            f"{name} holds the graph of other documents. Copy into another index."
        )


def _changes(
    tables: GraphTables, vectors: Vectors, there: GraphTables, there_vectors: Vectors
) -> GraphChanges:
    def is_embedded_otherwise(table: TableName, record_id: str) -> bool:
        new, old = vectors.get(table, {}), there_vectors.get(table, {})
        return new.get(record_id) != old.get(record_id)

    return GraphChanges(
        upsert=changed(there, tables, is_embedded_otherwise),
        delete=gone(there, tables),
        vectors=vectors,
    )
