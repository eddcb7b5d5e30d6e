"""The end of a graph build: what has changed is embedded and written, and the rest deleted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from langgraph.runtime import Runtime

from ragweave.indexing.graph.reports import quoted_report, report_record
from ragweave.indexing.graph.vectors import embedded_texts
from ragweave.models.embedding import embed_texts
from ragweave.nodes.graph_build.answers import written_reports
from ragweave.nodes.graph_build.plan import Build, build_of, planned_graph
from ragweave.state.context import context_of
from ragweave.state.graph_index import GraphIndexContext, GraphIndexState
from ragweave.stores.graph import EMBEDDED, Embedded, GraphChanges, GraphTables, Report
from ragweave.stores.graph_changes import changed, gone


async def write_graph(state: GraphIndexState, runtime: Runtime[Any]) -> dict[str, Any]:
    """Write what differs from what is stored, and delete what is no more."""
    context = context_of(state, None, GraphIndexContext)
    build = await build_of(context)
    planned = await planned_graph(state, build)
    reports = await _reports(planned, build)
    after = replace(planned, reports=tuple(reports))
    before = await build.graph.tables()
    vectors = await _vectors(before, after, build)
    changes = GraphChanges(
        upsert=changed(before, after), delete=gone(before, after), vectors=vectors
    )
    await build.graph.write(changes)
    return {
        "entities": len(after.entities),
        "relationships": len(after.relationships),
        "communities": len(after.communities),
        "reports": len(after.reports),
        "embedded": sum(len(table) for table in vectors.values()),
    }


async def _reports(planned: GraphTables, build: Build) -> list[Report]:
    written = await written_reports(planned, build)
    return [
        report_record(item, written.get(item.community) or quoted_report(planned, item))
        for item in planned.communities
    ]


async def _vectors(
    before: GraphTables, after: GraphTables, build: Build
) -> Mapping[Embedded, Mapping[str, Sequence[float]]]:
    """Vectors of the entities and reports whose text has changed."""
    made: dict[Embedded, dict[str, list[float]]] = {}
    for table in EMBEDDED:
        old, new = embedded_texts(before, table), embedded_texts(after, table)
        texts = {key: text for key, text in new.items() if old.get(key) != text}
        vectors = await embed_texts(
            list(texts.values()),
            embeddings=build.context.embeddings or build.context.new_embeddings,
        )
        made[table] = dict(zip(texts, vectors, strict=True))
    return made
