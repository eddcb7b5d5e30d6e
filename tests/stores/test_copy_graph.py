"""Copying knowledge graphs between stores, and what a search finds in the copy."""

from __future__ import annotations

import shutil
from asyncio import to_thread
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragweave.graphs import drift, local_search
from ragweave.serving.copying import acopy
from ragweave.state.errors import IndexMissing, IndexSchemaMismatch, InvalidSetting
from ragweave.stores.base import IndexSpec
from ragweave.stores.graph import EMBEDDED, TABLES, GraphChanges, GraphTables, TextUnit
from ragweave.stores.open_graph import open_graph
from ragweave.stores.registry import aclose_all, open_index
from tests.graphs.running import run
from tests.servers import OpenAIStub
from tests.stores.backends import BACKENDS

EMBEDDINGS = "openai:text-embedding-3-large"


@pytest.fixture(params=BACKENDS)
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    with BACKENDS[request.param](tmp_path) as string:
        yield string("graph")


@pytest.fixture(autouse=True)
async def closed() -> AsyncIterator[None]:
    yield
    await aclose_all()


@pytest.fixture
def dulce(data: Path) -> str:
    return f"graphrag:{data / 'graphrag/dulce'}"


@pytest.fixture
def questions(data: Path) -> list[list[float]]:
    vectors: list[list[float]] = [
        vector.tolist() for vector in np.load(data / "graphrag/parity/dulce_queryvecs.npz").values()
    ]
    return vectors


async def content(name: str) -> Any:
    graph = await open_graph(name)
    tables = await graph.tables()
    ordered = {
        table: sorted(getattr(tables, table), key=lambda record: record.number) for table in TABLES
    }
    return ordered, {table: await graph.vectors(table) for table in EMBEDDED}


async def test_a_copy_of_graphrags_output_finds_the_same_entities(
    dulce: str, target: str, questions: list[list[float]]
) -> None:
    report = await acopy(dulce, target, embeddings=EMBEDDINGS)

    assert await content(target) == await content(dulce)
    assert report["graph"] is not None
    assert (report["graph"]["entities"], report["chunks"]) == (39, 0)
    source, copy = await open_graph(dulce), await open_graph(target)
    assert await copy.spec() == IndexSpec(3072, EMBEDDINGS)
    for query in questions:
        mine, theirs = [await graph.nearest_entities(query, 20) for graph in (copy, source)]
        assert [hit.id for hit in mine] == [hit.id for hit in theirs]
        mine, theirs = [await graph.nearest_reports(query, 5) for graph in (copy, source)]
        assert [hit.id for hit in mine] == [hit.id for hit in theirs]


async def test_a_second_copy_writes_nothing(dulce: str, target: str) -> None:
    await acopy(dulce, target)

    report = await acopy(dulce, target)

    assert report["graph"] is not None
    assert set(report["graph"].values()) == {0}


async def test_a_copy_follows_its_source(dulce: str, target: str, tmp_path: Path) -> None:
    middle = f"graphrag:{tmp_path / 'middle'}"
    await acopy(dulce, middle, embeddings=EMBEDDINGS)
    await acopy(middle, target)
    graph: Any = await open_graph(middle)
    first, second = (await graph.tables()).entities[:2]
    await graph.write(
        GraphChanges(
            upsert=GraphTables(entities=(replace(first, description="new"),)),
            delete={"entities": [second.id]},
        )
    )

    report = await acopy(middle, target)

    assert report["graph"] is not None
    assert report["graph"]["entities"] == 1
    assert await content(target) == await content(middle)


async def test_the_graph_of_other_documents_is_not_overwritten(
    dulce: str, target: str, tmp_path: Path
) -> None:
    await acopy(dulce, target)
    other: Any = await open_graph(f"lance:{tmp_path / 'other'}")
    await other.ensure(IndexSpec(dimension=3072, embeddings=""))
    unit = TextUnit(id="u", number=0, text="Another text.", tokens=3, document_id=None)
    await other.write(GraphChanges(upsert=GraphTables(text_units=(unit,))))

    with pytest.raises(IndexSchemaMismatch, match="the graph of other documents"):
        await acopy(other.name, target)
    assert await content(target) == await content(dulce)


async def test_an_index_goes_with_its_graph(dulce: str, target: str, tmp_path: Path) -> None:
    source = f"lance:{tmp_path / 'both'}"
    index = await open_index(source)
    await index.ensure(IndexSpec(dimension=2, embeddings="test"))
    await acopy(dulce, source)

    report = await acopy(source, target)

    assert report["graph"] is not None
    assert await content(target) == await content(dulce)
    assert await (await open_index(target)).spec() == await index.spec()


@pytest.mark.parametrize(
    "technique", ["local_search", pytest.param("drift", marks=pytest.mark.slow)]
)
async def test_the_copy_gives_the_same_answer(dulce: str, target: str, technique: str) -> None:
    build = {"local_search": local_search, "drift": drift}[technique].build
    await acopy(dulce, target)
    answers = [
        (await run(build(), "What is Operation Dulce?", {"index": name})).output
        for name in (dulce, target)
    ]

    assert answers[0]["status"] == "answered"
    assert answers[1]["answer"] == answers[0]["answer"]
    assert answers[1]["sources"] == answers[0]["sources"]


async def test_a_graph_without_vectors_is_embedded_on_the_way(
    data: Path, target: str, tmp_path: Path
) -> None:
    bare = tmp_path / "bare"
    none = shutil.ignore_patterns("lancedb", "*.npz", "embeddings.*")
    await to_thread(shutil.copytree, data / "graphrag/dulce", bare, ignore=none)
    source = f"graphrag:{bare}"

    with pytest.raises(InvalidSetting, match="--embeddings offline"):
        await acopy(source, target)
    report = await acopy(source, target, embeddings="offline")

    copy = await open_graph(target)
    tables = await copy.tables()
    assert await copy.spec() == IndexSpec(256, "offline")
    assert report["graph"] is not None
    assert report["graph"]["entities"] == len(tables.entities) == 39
    for table in EMBEDDED:
        assert len(await copy.vectors(table)) == len(getattr(tables, table))
    answer = (await run(local_search.build(), "What is Operation Dulce?", {"index": target})).output
    assert answer["status"] == "answered"


async def test_a_graph_without_vectors_is_embedded_once(
    data: Path, target: str, tmp_path: Path, openai_stub: OpenAIStub
) -> None:
    bare = tmp_path / "bare"
    none = shutil.ignore_patterns("lancedb", "*.npz", "embeddings.*")
    await to_thread(shutil.copytree, data / "graphrag/dulce", bare, ignore=none)
    source, model = f"graphrag:{bare}", "openai:stub"
    await acopy(source, target, embeddings=model)
    embedded = len(openai_stub.calls)
    first = await content(target)

    again = await acopy(source, target, embeddings=model)

    assert len(openai_stub.calls) == embedded > 0
    assert again["graph"] is not None
    assert set(again["graph"].values()) == {0}
    graph: Any = await open_graph(target)
    entity = (await graph.tables()).entities[0]
    await graph.write(
        GraphChanges(
            upsert=GraphTables(entities=(replace(entity, description="other"),)),
            vectors={"entities": {entity.id: [1.0] * 16}},
        )
    )

    third = await acopy(source, target, embeddings=model)

    assert [call.body["input"] for call in openai_stub.calls[embedded:]] == [[entity.embedded_text]]
    assert third["graph"] is not None
    assert sum(third["graph"].values()) == third["graph"]["entities"] == 1
    assert await content(target) == first


async def test_there_must_be_a_graph(target: str, tmp_path: Path) -> None:
    index = await open_index(target)
    await index.ensure(IndexSpec(dimension=2, embeddings="test"))

    with pytest.raises(InvalidSetting, match="knowledge graph only"):
        await acopy(target, f"graphrag:{tmp_path / 'out'}")
    with pytest.raises(IndexMissing, match="No folder"):
        await acopy(f"graphrag:{tmp_path / 'nowhere'}", target)
