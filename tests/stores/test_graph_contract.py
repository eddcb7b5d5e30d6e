"""Every store of knowledge graphs keeps the same contract."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
import pytest

from ragweave.state.errors import IndexMissing, IndexSchemaMismatch, InvalidSetting
from ragweave.stores.base import IndexSpec
from ragweave.stores.graph import TABLES, GraphChanges, GraphIndex, GraphTables
from ragweave.stores.graphrag import folder as graphrag
from ragweave.stores.graphrag.folder import GraphRagFolder
from ragweave.stores.lance.graph import LanceGraph
from ragweave.stores.open_graph import open_graph, register_graph
from tests.stores.backends import BACKENDS

Opened = Callable[[str], Awaitable[GraphIndex]]

SPEC = IndexSpec(dimension=3072, embeddings="openai:text-embedding-3-large")


@pytest.fixture(params=[*BACKENDS, "graphrag"])
def name(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "graphrag":
        yield f"graphrag:{tmp_path / 'graph'}"
    else:
        with BACKENDS[request.param](tmp_path) as index_string:
            yield index_string("docs")


@pytest.fixture
async def opened() -> AsyncIterator[Opened]:
    """Opens a graph as another process would."""
    graphs: list[GraphIndex] = []

    async def open_(name: str) -> GraphIndex:
        kinds: dict[str, Any] = {"graphrag": GraphRagFolder, "lance": LanceGraph}
        if name.startswith("weaviate:"):
            module = await to_thread(import_module, "ragweave.stores.weaviate.graph")
            kinds["weaviate"] = module.WeaviateGraph
        graphs.append(kinds[name.partition(":")[0]].from_url(name))
        return graphs[-1]

    yield open_
    for graph in graphs:
        await graph.aclose()


@pytest.fixture
async def graph(name: str, opened: Opened) -> GraphIndex:
    return await opened(name)


@pytest.fixture
async def dulce(data: Path) -> GraphChanges:
    """A write of the whole small real graph."""
    source = GraphRagFolder(f"graphrag:{data / 'graphrag/dulce'}")
    vectors: Any = {
        "entities": await source.vectors("entities"),
        "reports": await source.vectors("reports"),
    }
    return GraphChanges(upsert=await source.tables(), vectors=vectors)


@pytest.fixture
def query(data: Path) -> list[float]:
    vector: list[float] = np.load(data / "graphrag/parity/dulce_queryvecs.npz")["q1"].tolist()
    return vector


def same(one: GraphTables, other: GraphTables) -> bool:
    """Whether all records are equal, in the order of their numbers."""
    return all(
        sorted(getattr(one, table), key=lambda record: record.number)
        == sorted(getattr(other, table), key=lambda record: record.number)
        for table in TABLES
    )


async def test_what_was_written_is_read_by_another_process(
    graph: GraphIndex,
    name: str,
    dulce: GraphChanges,
    query: list[float],
    data: Path,
    opened: Opened,
) -> None:
    await graph.ensure(SPEC)
    await graph.write(dulce)

    other = await opened(name)

    assert same(await other.tables(), dulce.upsert)
    assert await other.spec() == SPEC
    source = GraphRagFolder(f"graphrag:{data / 'graphrag/dulce'}")
    mine = await other.nearest_entities(query, 20)
    theirs = await source.nearest_entities(query, 20)
    assert [hit.id for hit in mine] == [hit.id for hit in theirs]
    assert [hit.score for hit in mine] == pytest.approx([hit.score for hit in theirs], abs=1e-5)


async def test_reports_are_searched_up_to_a_level(
    graph: GraphIndex, dulce: GraphChanges, query: list[float]
) -> None:
    await graph.ensure(SPEC)
    await graph.write(dulce)

    levels = {report.id: report.level for report in dulce.upsert.reports}
    assert len(await graph.nearest_reports(query, 50)) == 10
    coarse = await graph.nearest_reports(query, 50, max_level=0)
    assert [levels[hit.id] for hit in coarse] == [0] * 7


async def test_writing_twice_changes_nothing(graph: GraphIndex, dulce: GraphChanges) -> None:
    await graph.ensure(SPEC)
    await graph.ensure(SPEC)
    await graph.write(dulce)
    await graph.write(dulce)

    assert same(await graph.tables(), dulce.upsert)
    assert len(await graph.vectors("entities")) == 39


async def test_records_change_and_go_and_vectors_with_them(
    graph: GraphIndex, name: str, dulce: GraphChanges, opened: Opened
) -> None:
    await graph.ensure(SPEC)
    await graph.write(dulce)
    first, second, third = dulce.upsert.entities[:3]
    renamed = replace(first, title="RENAMED")

    await graph.write(
        GraphChanges(
            upsert=GraphTables(entities=(renamed,)),
            delete={"entities": [second.id], "claims": [c.id for c in dulce.upsert.claims]},
            vectors={"entities": {third.id: [1.0] + [0.0] * 3071}},
        )
    )

    other = await opened(name)
    tables = await other.tables()
    assert tables.entity_by_id[first.id] == renamed
    assert second.id not in tables.entity_by_id
    assert tables.claims == ()
    vectors = await other.vectors("entities")
    assert len(vectors) == 38
    assert vectors[first.id] == pytest.approx(dulce.vectors["entities"][first.id], abs=1e-6)


async def test_tables_are_read_anew_when_another_process_has_written(
    graph: GraphIndex,
    name: str,
    dulce: GraphChanges,
    opened: Opened,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(graphrag, "RECHECK_SECONDS", 0)
    await graph.ensure(SPEC)
    await graph.write(dulce)
    reader = await opened(name)
    before = await reader.tables()
    assert await reader.tables() is before

    await graph.write(GraphChanges(delete={"entities": [dulce.upsert.entities[0].id]}))

    assert len((await reader.tables()).entities) == 38


async def test_other_embeddings_are_refused(graph: GraphIndex, dulce: GraphChanges) -> None:
    await graph.ensure(SPEC)

    with pytest.raises(IndexSchemaMismatch):
        await graph.ensure(IndexSpec(dimension=3072, embeddings="offline"))
    with pytest.raises(IndexSchemaMismatch):
        await graph.ensure(replace(SPEC, dimension=256))


async def test_a_graph_that_is_not_there_is_missing(graph: GraphIndex) -> None:
    assert await graph.spec() is None
    with pytest.raises(IndexMissing):
        await graph.tables()


async def test_a_query_of_another_dimension_is_refused(
    graph: GraphIndex, dulce: GraphChanges
) -> None:
    await graph.ensure(SPEC)
    await graph.write(dulce)

    with pytest.raises(IndexSchemaMismatch, match="3072 dimensions"):
        await graph.nearest_entities([1.0, 0.0], 3)


async def test_what_graphrag_wrote_is_not_changed(data: Path, opened: Opened) -> None:
    folder = await opened(f"graphrag:{data / 'graphrag/dulce'}")
    with pytest.raises(IndexSchemaMismatch, match="written by GraphRAG"):
        await folder.ensure(SPEC)


async def test_a_written_folder_has_graphrags_columns(
    tmp_path: Path, dulce: GraphChanges, opened: Opened
) -> None:
    graph = await opened(f"graphrag:{tmp_path / 'out'}")
    await graph.ensure(SPEC)
    await graph.write(dulce)

    read = await to_thread(parquet.read_schema, tmp_path / "out/community_reports.parquet")

    assert (
        read.names
        == (
            "id human_readable_id community level parent children title summary full_content rank "
            "rating_explanation findings full_content_json period size"
        ).split()
    )
    units = await to_thread(parquet.read_table, tmp_path / "out/documents.parquet")
    assert len(units["text_unit_ids"].to_pylist()[0]) == 5


async def test_graphs_are_opened_by_name(tmp_path: Path, opened: Opened) -> None:
    name = f"lance:{tmp_path / 'x'}"

    assert await open_graph(name) is await open_graph(name)
    assert await open_graph(name, tenant="a") is not await open_graph(name)
    with pytest.raises(InvalidSetting, match="Known: lance:PATH"):
        await open_graph("chroma:somewhere")
    with pytest.raises(InvalidSetting, match="without a colon"):
        register_graph("a:b", await opened(name))
    register_graph("mine", await opened(name))
    assert (await open_graph("mine")).name == name
