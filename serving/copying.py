"""Moving an index, a knowledge graph or both from one store to another."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from typing_extensions import TypedDict

from ragweave.indexing.graph.vectors import EmbeddedGraph
from ragweave.state.errors import IndexMissing, InvalidSetting
from ragweave.stores import open_index
from ragweave.stores.copy import IndexCopied, copy_index
from ragweave.stores.copy_graph import copy_graph
from ragweave.stores.graph import EMBEDDED, TableName
from ragweave.stores.open_graph import open_graph

if TYPE_CHECKING:
    from typing import Any

    from ragweave.stores.base import Index
    from ragweave.stores.copy import OnProgress
    from ragweave.stores.graph import GraphReader

GRAPHS_ONLY = "graphrag:"


class CopyReport(TypedDict):
    """What was written, and what was there already."""

    documents: int
    chunks: int
    parents: int
    unchanged: int
    """Documents and parents that were in the target as they are in the source."""
    graph: dict[TableName, int] | None
    """Records of the knowledge graph by table; None if the source has no graph."""
    seconds: float


async def acopy(
    source: str,
    target: str,
    *,
    from_tenant: str | None = None,
    to_tenant: str | None = None,
    embeddings: str | None = None,
    on_progress: OnProgress | None = None,
) -> CopyReport:
    """Copy an index with its knowledge graph, or either alone.

    Nothing is embedded anew, unless the graph has entities or reports without vectors: then both
    are embedded with `embeddings`, or with those that the graph was made with. Copied again, only
    what changed is embedded and written; a copy cut short goes on from where it was.

    Args:
        source: name of an index; `graphrag:FOLDER` is a graph alone.
        target: name of an index, which is made if it is not there.
        from_tenant: tenant of the source.
        to_tenant: tenant of the target.
        embeddings: what made the vectors, where the source does not say, as GraphRAG does not, or
            what is to make those that a graph lacks.
        on_progress: called with the chunks that are in the target, and those of the source.

    Raises:
        IndexMissing: the source is not there.
        IndexSchemaMismatch: the target was made for other embeddings, dimension or fields.
        InvalidSetting: source and target are the same, the target cannot hold the source, or a
            graph lacks vectors and no embeddings are known.
    """
    if (source, from_tenant) == (target, to_tenant):
        raise InvalidSetting(f"{source} cannot be copied to itself: name another target.")
    started = time.monotonic()
    name = embeddings or ""
    index, graph = await _index(source, from_tenant), await _graph(source, from_tenant)
    copied = IndexCopied()
    written: dict[TableName, int] | None = None
    if index is None and graph is None:
        raise IndexMissing(f"There is no index at {source}, so there is nothing to copy.")
    if target.startswith(GRAPHS_ONLY) and graph is None:
        raise InvalidSetting(f"{target} can hold a knowledge graph only, and {source} has none.")
    graph_target: Any = await open_graph(target, tenant=to_tenant) if graph else None
    if graph is not None:
        graph = await _with_vectors(graph, name, graph_target)
    if index is not None and not target.startswith(GRAPHS_ONLY):
        into = await open_index(target, tenant=to_tenant)
        copied = await copy_index(index, into, embeddings=name, on_progress=on_progress)
    if graph is not None:
        written = await copy_graph(graph, graph_target, embeddings=name)
    return CopyReport(
        documents=copied.documents,
        chunks=copied.chunks,
        parents=copied.parents,
        unchanged=copied.unchanged,
        graph=written,
        seconds=round(time.monotonic() - started, 3),
    )


async def _with_vectors(graph: GraphReader, embeddings: str, target: GraphReader) -> GraphReader:
    """The graph itself, or, where a record has no vector, the graph embedded anew.

    What the target has of an earlier copy is not embedded again.
    """
    tables, made = await graph.tables(), await graph.spec()
    for table in EMBEDDED:
        if len(await graph.vectors(table)) < len(getattr(tables, table)):
            name = embeddings or (made.embeddings if made else "")
            if not name:
                raise InvalidSetting(
                    f"{graph.name} has no vectors of its {table}. Name the embeddings to make them "
                    "with: --embeddings offline, or openai:MODEL."
                )
            return EmbeddedGraph(graph, name, before=target)
    return graph


async def _index(name: str, tenant: str | None) -> Index | None:
    """The index called `name`, if there is one."""
    if name.startswith(GRAPHS_ONLY):
        return None
    index = await open_index(name, tenant=tenant)
    return index if await index.spec() is not None else None


async def _graph(name: str, tenant: str | None) -> GraphReader | None:
    """The knowledge graph of the index called `name`, if it has one."""
    try:
        graph = await open_graph(name, tenant=tenant)
    except InvalidSetting:
        if ":" in name:
            raise
        return None  # a registered index, which has no graph
    try:
        await graph.tables()
    except IndexMissing:
        if name.startswith(GRAPHS_ONLY):
            raise
        return None
    return graph
