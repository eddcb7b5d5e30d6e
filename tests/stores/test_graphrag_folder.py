"""GraphRAG output folders are read as they are, every row of them."""

from __future__ import annotations

import shutil
from asyncio import to_thread
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from ragweave.state.errors import IndexMissing, IndexSchemaMismatch
from ragweave.stores.graph import TABLES, GraphTables
from ragweave.stores.graphrag import folder as graphrag
from ragweave.stores.graphrag.folder import GraphRagFolder

ROWS = {
    "carol": dict(zip(TABLES, (1, 42, 529, 978, 122, 122, 406), strict=True)),
    "dulce": dict(zip(TABLES, (1, 5, 39, 107, 10, 10, 41), strict=True)),
}
"""Rows of each parquet file, counted with pyarrow."""


def opened(folder: Path) -> GraphRagFolder:
    return GraphRagFolder(f"graphrag:{folder}")


def dangling(tables: GraphTables) -> dict[str, int]:
    """References that lead nowhere, by kind."""
    titles, entities = tables.entity_by_title, tables.entity_by_id
    edges = {edge.id for edge in tables.relationships}
    return {
        "ends": sum(
            edge.source not in titles or edge.target not in titles for edge in tables.relationships
        ),
        "units": sum(
            unit not in tables.unit_by_id
            for units in (
                *(entity.text_unit_ids for entity in tables.entities),
                *(edge.text_unit_ids for edge in tables.relationships),
            )
            for unit in units
        ),
        "members": sum(
            entity not in entities for group in tables.communities for entity in group.entity_ids
        ),
        "edges": sum(
            edge not in edges for group in tables.communities for edge in group.relationship_ids
        ),
        "documents": sum(
            unit.document_id not in tables.document_by_id for unit in tables.text_units
        ),
        "reports": sum(
            group.community not in tables.report_by_community for group in tables.communities
        ),
    }


@pytest.fixture
def dulce(data: Path, tmp_path: Path) -> Path:
    """A copy of the small index without vectors, to change."""
    folder = tmp_path / "output"
    folder.mkdir()
    for file in (data / "graphrag/dulce").glob("*.parquet"):
        if not file.name.startswith("embeddings."):
            shutil.copyfile(file, folder / file.name)
    return folder


@pytest.fixture
def query(data: Path) -> list[float]:
    """The vector of a question in the embedding space of the small index."""
    vector: list[float] = np.load(data / "graphrag/parity/dulce_queryvecs.npz")["q0"].tolist()
    return vector


def drop_columns(path: Path, *names: str) -> None:
    parquet.write_table(parquet.read_table(path).drop_columns(list(names)), path)


def shuffle_and_empty(path: Path, column: str) -> None:
    """Put the columns in another order and empty one, typed as GraphRAG types empty lists."""
    table = parquet.read_table(path)
    empty = pa.array([[]] * table.num_rows, type=pa.list_(pa.null()))
    table = table.set_column(table.column_names.index(column), column, empty)
    parquet.write_table(table.select(sorted(table.column_names)), path)


def keep_rows(path: Path, count: int) -> None:
    parquet.write_table(parquet.read_table(path).slice(0, count), path)


@pytest.mark.parametrize(("name", "phantoms"), [("carol", 84), ("dulce", 2)])
async def test_every_row_is_there(data: Path, name: str, phantoms: int) -> None:
    tables = await opened(data / "graphrag" / name).tables()

    assert {table: len(getattr(tables, table)) for table in TABLES} == ROWS[name]
    nothing_else = dict.fromkeys(("units", "members", "edges", "documents", "reports"), 0)
    assert dangling(tables) == {"ends": phantoms, **nothing_else}


async def test_values_are_what_the_files_say(data: Path) -> None:
    tables = await opened(data / "graphrag/carol").tables()

    entity = tables.entity_by_title["PROJECT GUTENBERG"]
    assert (entity.number, entity.type) == (0, "ORGANIZATION")
    assert (entity.frequency, entity.degree) == (6, 28)
    edge = tables.relationships[0]
    assert (edge.source, edge.target) == ("CHARLES DICKENS", "A CHRISTMAS CAROL")
    assert (edge.weight, edge.degree, len(edge.text_unit_ids)) == (20.0, 13, 2)
    assert [group.level for group in tables.communities].count(1) == 65
    report = tables.report_by_community[120]
    assert (report.rank, report.level, report.parent, report.children) == (8.5, 3, 97, ())
    assert report.findings[0].explanation.startswith("Project Gutenberg is the foundational")
    assert 0 in tables.relationships_of["A CHRISTMAS CAROL"]


async def test_a_claim_of_which_only_the_subject_is_known_is_kept(data: Path) -> None:
    tables = await opened(data / "graphrag/carol").tables()

    bare = [claim for claim in tables.claims if claim.description is None]
    assert len(bare) == 25
    assert all(claim.subject and claim.text_unit_id for claim in bare)


async def test_columns_in_any_order_and_lists_of_null_are_read(dulce: Path) -> None:
    before = (await opened(dulce).tables()).communities
    await to_thread(shuffle_and_empty, dulce / "communities.parquet", "children")

    after = (await opened(dulce).tables()).communities

    assert [group.children for group in after] == [()] * 10
    assert [group.entity_ids for group in after] == [group.entity_ids for group in before]


async def test_a_file_that_changes_is_read_again(
    dulce: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graphrag, "RECHECK_SECONDS", 0)
    graph = opened(dulce)
    first = await graph.tables()
    assert await graph.tables() is first

    await to_thread(keep_rows, dulce / "entities.parquet", 7)

    assert len((await graph.tables()).entities) == 7


async def test_the_root_of_a_project_is_as_good_as_its_output(dulce: Path) -> None:
    assert len((await opened(dulce.parent).tables()).entities) == 39


async def test_claims_and_documents_may_be_missing(dulce: Path) -> None:
    for name in ("covariates.parquet", "documents.parquet"):
        await to_thread((dulce / name).unlink)

    tables = await opened(dulce).tables()

    assert (tables.claims, tables.documents) == ((), ())


async def test_vectors_are_found_in_the_archive_and_in_lancedb_alike(
    data: Path, dulce: Path, query: list[float]
) -> None:
    archive = opened(data / "graphrag/dulce")
    await to_thread(shutil.copytree, data / "graphrag/dulce/lancedb", dulce / "lancedb")
    lance = opened(dulce)

    spec = await lance.spec()

    assert spec is not None
    assert spec.dimension == 3072
    assert await lance.vectors("reports") == await archive.vectors("reports")
    assert await lance.nearest_entities(query, 20) == await archive.nearest_entities(query, 20)


async def test_reports_are_searched_at_or_below_a_level(data: Path, query: list[float]) -> None:
    graph = opened(data / "graphrag/dulce")
    reports = (await graph.tables()).report_by_id

    everywhere = await graph.nearest_reports(query, 20)
    coarse = await graph.nearest_reports(query, 20, max_level=0)

    assert len(everywhere) == 10
    assert sorted(everywhere, key=lambda hit: -hit.score) == everywhere
    assert coarse == [hit for hit in everywhere if reports[hit.id].level == 0]


async def test_a_graph_without_vectors_says_so(data: Path) -> None:
    graph = opened(data / "graphrag/carol")

    assert await graph.spec() is None
    with pytest.raises(IndexSchemaMismatch, match="Name the `embeddings`"):
        await graph.nearest_entities([1.0, 0.0], 3)


async def test_a_vector_of_another_dimension_is_refused(data: Path) -> None:
    with pytest.raises(IndexSchemaMismatch, match="3072 dimensions"):
        await opened(data / "graphrag/dulce").nearest_entities([1.0, 0.0], 3)


@pytest.fixture(params=["create_final_entities.parquet", "create_final_nodes.parquet"])
def old_layout(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    artifacts = tmp_path / "output" / "20240705-102200" / "artifacts"
    artifacts.mkdir(parents=True)
    (artifacts / request.param).write_bytes(b"")
    return tmp_path


async def test_old_layouts_are_refused_in_one_line(old_layout: Path) -> None:
    with pytest.raises(IndexSchemaMismatch, match=r"0\.x or 1\.x.*version 3") as caught:
        await opened(old_layout).tables()
    assert "\n" not in str(caught.value)


async def test_what_is_no_output_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(IndexSchemaMismatch, match=r"entities\.parquet is missing"):
        await opened(tmp_path).tables()
    with pytest.raises(IndexMissing, match="No folder"):
        await opened(tmp_path / "nowhere").tables()


async def test_a_missing_column_and_a_broken_file_are_named(dulce: Path) -> None:
    path = dulce / "entities.parquet"
    await to_thread(drop_columns, path, "description")
    with pytest.raises(IndexSchemaMismatch, match="lacks the column description"):
        await opened(dulce).tables()

    await to_thread(path.write_bytes, b"PAR1 and then nothing")
    with pytest.raises(IndexSchemaMismatch, match="cannot be read as parquet"):
        await opened(dulce).tables()
