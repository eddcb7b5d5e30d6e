"""What is particular to the embedded index; the contract itself has a suite of its own."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragweave.state.errors import (
    IndexFailure,
    IndexSchemaMismatch,
    IndexTimeout,
    IndexUnavailable,
    InvalidSetting,
)
from ragweave.stores.base import Chunk, Hit, IndexSpec, SearchSpec
from ragweave.stores.lance import upkeep as lance_upkeep
from ragweave.stores.lance.index import LanceIndex

SPEC = IndexSpec(dimension=8, embeddings="test", fields={"year": "int"})


def chunk(number: int, text: str = "", **more: Any) -> Chunk:
    vector = np.random.default_rng(number).standard_normal(8).tolist()
    text = text or f"text of number{number} word{number % 7}"
    metadata = {"year": number % 5}
    return Chunk(
        **{
            "id": f"c{number}",
            "document_id": f"d{number % 3}",
            "text": text,
            "vector": vector,
            "metadata": metadata,
            **more,
        }
    )


async def names(folder: Path, pattern: str = "*") -> list[str]:
    return await asyncio.to_thread(lambda: sorted(path.name for path in folder.glob(pattern)))


def ids(hits: list[Hit]) -> list[str]:
    return [hit.chunk.id for hit in hits]


@pytest.fixture
async def index(tmp_path: Path) -> LanceIndex:
    made = LanceIndex(tmp_path / "index")
    await made.ensure(SPEC)
    return made


@pytest.fixture
def small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lance_upkeep, "VECTOR_INDEX_ROWS", 300)
    monkeypatch.setattr(lance_upkeep, "PARTITION_ROWS", 150)


async def indexes(index: LanceIndex) -> dict[str, Any]:
    table = await index._folder.open("chunks")
    assert table is not None
    return {item.columns[0]: item for item in await table.list_indices()}


# --- names and places ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("lance:", "write lance:PATH"),
        ("lance:x?nam=docs", "write lance:PATH"),
        ("lance:x?timeout=soon", "takes a number of seconds"),
        ("lance:x?timeout=0", "must be more than 0"),
        ("lance:x?timeout=nan", "must be more than 0"),
        ("lance:x?name=a/b", "names and tenants"),
        ("lance:x?name=", "names and tenants"),
    ],
)
def test_an_unfit_url_is_refused(url: str, message: str) -> None:
    with pytest.raises(InvalidSetting, match=message):
        LanceIndex.from_url(url)


@pytest.mark.parametrize("tenant", ["", "../other", "a" * 65, "名"])
def test_an_unfit_tenant_is_refused(tenant: str) -> None:
    with pytest.raises(InvalidSetting, match="names and tenants"):
        LanceIndex("x", tenant=tenant)


@pytest.fixture
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def test_a_relative_path_starts_from_the_working_folder(working_folder: Path) -> None:
    index = await asyncio.to_thread(LanceIndex.from_url, "lance:my index/目录")
    await index.ensure(SPEC)
    await index.upsert([chunk(1)])
    assert "docs_chunks.lance" in await names(working_folder / "my index/目录")
    assert str(working_folder / "my index/目录") in await index.ping()


async def test_looking_at_a_missing_index_leaves_nothing_behind(tmp_path: Path) -> None:
    index = LanceIndex(tmp_path / "not" / "there")
    assert await index.spec() is None
    assert await index.search(SearchSpec(text="a", vector=[1.0] * 8)) == []
    assert await names(tmp_path) == []


async def test_a_file_is_no_index(tmp_path: Path) -> None:
    await asyncio.to_thread((tmp_path / "file").write_text, "text")
    index = LanceIndex(tmp_path / "file")
    for call in (index.spec(), index.count(), index.ensure(SPEC)):
        with pytest.raises(InvalidSetting, match="is a file; an index needs a folder"):
            await call


async def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    await asyncio.to_thread((tmp_path / "letter.txt").write_text, "text")
    with pytest.raises(InvalidSetting, match=r"holds other files \(letter.txt"):
        await LanceIndex(tmp_path).ensure(SPEC)
    assert await names(tmp_path) == ["letter.txt"]


async def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    await asyncio.to_thread((tmp_path / "file").write_text, "text")
    for path in (tmp_path / "file" / "index", Path("/proc/index")):
        with pytest.raises(IndexUnavailable, match="cannot write to"):
            await LanceIndex(path).ensure(SPEC)


async def test_a_table_of_someone_else_is_no_index(tmp_path: Path) -> None:
    connection = await lancedb.connect_async(str(tmp_path))
    await connection.create_table("docs_chunks", [{"id": "a", "text": "b"}])
    index = LanceIndex(tmp_path)
    for call in (index.ensure(SPEC), index.search(SearchSpec(text="a"))):
        with pytest.raises(IndexSchemaMismatch, match="was not made by ragweave"):
            await call


async def test_a_broken_table_is_one_clear_error(index: LanceIndex, tmp_path: Path) -> None:
    await index.upsert([chunk(1)])
    versions = tmp_path / "index/docs_chunks.lance/_versions"
    for name in await names(versions):
        await asyncio.to_thread((versions / name).write_bytes, b"broken")
    with pytest.raises(IndexUnavailable) as caught:
        await LanceIndex(tmp_path / "index").search(SearchSpec(text="a", mode="keyword"))
    assert str(tmp_path / "index") in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_an_index_deleted_and_made_again_under_an_open_handle(
    index: LanceIndex, tmp_path: Path
) -> None:
    await index.upsert([chunk(1), chunk(2)])
    assert await index.count() == 2
    await asyncio.to_thread(shutil.rmtree, tmp_path / "index")
    other = LanceIndex(tmp_path / "index")
    await other.ensure(IndexSpec(dimension=2, embeddings="other"))
    await other.upsert([Chunk("a", "d", "other text", [1.0, 2.0])])
    for _ in range(2):
        try:
            assert ids(await index.search(SearchSpec(text="other", mode="keyword"))) == ["a"]
            break
        except IndexFailure:
            continue  # the call that notices may fail, the next one may not
    assert ids(await index.search(SearchSpec(text="other", mode="keyword"))) == ["a"]
    assert await index.spec() == IndexSpec(dimension=2, embeddings="other")


async def test_every_call_has_a_deadline(index: LanceIndex, tmp_path: Path) -> None:
    await index.upsert([chunk(1)])
    hurried = LanceIndex(tmp_path / "index", timeout=1e-6)
    for call in (
        hurried.search(SearchSpec(text="a", mode="keyword")),
        hurried.get(["c1"]),
        hurried.count(),
        hurried.spec(),
        anext(hurried.scan()),
        anext(hurried.documents()),
    ):
        with pytest.raises(IndexTimeout, match="within 1e-06 s"):
            await call


# --- large indexes ------------------------------------------------------------------------------


@pytest.mark.usefixtures("small_is_large")
async def test_the_vector_index_comes_by_itself_past_a_size(index: LanceIndex) -> None:
    chunks = [chunk(number) for number in range(400)]
    await index.upsert(chunks[:200])
    await index.optimize()
    assert (await indexes(index)).keys() == {"terms"}
    await index.upsert(chunks[200:])
    await index.optimize()
    made = await indexes(index)
    assert made.keys() == {"terms", "vector", "id", "document_id", "parent_id"}
    assert made["vector"].index_type == "IvfHnswSq"
    assert {item.num_unindexed_rows for item in made.values()} == {0}

    right = total = 0
    vectors = np.array([item.vector for item in chunks])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    for query in np.random.default_rng(0).standard_normal((20, 8)):
        cosines = vectors @ (query / np.linalg.norm(query))
        best = np.argsort(-cosines)[:10]
        hits = await index.search(SearchSpec(vector=query.tolist(), mode="vector", k=10))
        right += len({f"c{number}" for number in best} & set(ids(hits)))
        total += 10
        for hit in hits:  # exact, though the index holds rounded vectors
            assert hit.score == pytest.approx(cosines[int(hit.chunk.id[1:])], abs=1e-5)
    assert right / total >= 0.98


@pytest.mark.usefixtures("small_is_large")
async def test_what_is_written_after_the_index_was_built_is_found(index: LanceIndex) -> None:
    await index.upsert([chunk(number) for number in range(400)])
    await index.optimize()
    new = chunk(1_000, "text of zebras")
    changed = chunk(5, "text of yaks", vector=chunk(1_001).vector)
    await index.upsert([new, changed])
    await index.delete(ids=["c6"])
    assert (await indexes(index))["vector"].num_unindexed_rows == 2
    for item in (new, changed):
        hits = await index.search(SearchSpec(vector=item.vector, mode="vector", k=1))
        assert ids(hits) == [item.id]
        hits = await index.search(SearchSpec(text=item.text.split()[-1], mode="keyword", k=1))
        assert ids(hits) == [item.id]
    for search in (
        SearchSpec(text="number5", mode="keyword"),
        SearchSpec(text="number6", mode="keyword"),
    ):
        assert await index.search(search) == []
    assert "c6" not in ids(await index.search(SearchSpec(vector=chunk(6).vector, mode="vector")))
    before = await index.search(SearchSpec(vector=new.vector, mode="vector", k=5))
    await index.upsert([chunk(number) for number in range(2_000, 2_050)])
    await index.optimize()
    assert (await indexes(index))["vector"].num_unindexed_rows == 0
    after = await index.search(SearchSpec(vector=new.vector, mode="vector", k=5))
    assert ids(before)[0] == ids(after)[0] == "c1000"
    assert await index.count() == 450


@pytest.mark.usefixtures("small_is_large")
async def test_a_narrow_filter_on_a_large_index_finds_all_that_match(index: LanceIndex) -> None:
    await index.upsert([chunk(number) for number in range(400)])
    await index.optimize()
    rare = [f"c{number}" for number in range(0, 400, 40)]
    for mode in ("vector", "keyword", "hybrid"):
        spec = SearchSpec(
            text="text", vector=chunk(1).vector, mode=mode, k=50, filters={"id": rare}
        )
        assert sorted(ids(await index.search(spec))) == sorted(rare)


@pytest.mark.usefixtures("small_is_large")
async def test_a_large_index_is_not_rebuilt_for_a_small_write(index: LanceIndex) -> None:
    await index.upsert([chunk(number) for number in range(400)])
    await index.optimize()
    built = (await indexes(index))["vector"].index_uuid
    await index.upsert([chunk(1_000)])
    await index.optimize()
    after = (await indexes(index))["vector"]
    assert (after.index_uuid, after.num_unindexed_rows) == (built, 1)


async def test_upkeep_gives_way_to_that_of_another_process(
    index: LanceIndex, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    others = [LanceIndex(tmp_path / "index") for _ in range(3)]
    for number in range(40):
        await index.upsert([chunk(number)])
    await asyncio.gather(*(each.optimize() for each in (index, *others)))
    assert await index.count() == 40
    assert "commit conflict" not in capfd.readouterr().err


async def test_old_versions_and_small_files_go(
    index: LanceIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(40):
        await index.upsert([chunk(number)])
    table = tmp_path / "index/docs_chunks.lance"
    assert len(await names(table / "data")) == 40
    await index.optimize()
    assert len(await names(table / "data")) == 41  # readers may still use the old ones
    real = lancedb.AsyncTable.optimize

    async def later(self: Any, *, cleanup_older_than: timedelta) -> Any:
        assert cleanup_older_than >= timedelta(seconds=2 * 30)
        return await real(self, cleanup_older_than=timedelta(milliseconds=1))

    monkeypatch.setattr(lancedb.AsyncTable, "optimize", later)
    await index.optimize()
    assert len(await names(table / "data")) == 1
    assert len(await names(table / "_versions", "*.manifest")) <= 3
    assert await index.count() == 40


# --- several processes --------------------------------------------------------------------------

_WRITER = """
import asyncio, sys
from ragweave.stores.base import Chunk, IndexSpec
from ragweave.stores.lance.index import LanceIndex

async def main():
    index = LanceIndex(sys.argv[1])
    await index.ensure(IndexSpec(dimension=8, embeddings="test", fields={"year": "int"}))
    for batch in range(int(sys.argv[2])):
        await index.upsert([
            Chunk(f"{sys.argv[3]}-{batch}-{n}", "d", "text of a writer", [1.0] * 8)
            for n in range(50)
        ])
        print(batch, flush=True)

asyncio.run(main())
"""


def writer(path: Path, batches: int, name: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(path), str(batches), name],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "LANCE_LOG": "error"},
    )


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name) / "index"


@pytest.mark.slow
def test_two_processes_write_the_same_chunks_while_a_third_reads(folder: Path) -> None:
    writers = [writer(folder, 8, "same") for _ in range(2)]

    async def watch() -> list[int]:
        index = LanceIndex(folder)
        counts = []
        while any(process.poll() is None for process in writers):
            counts.append(await index.count())
            await asyncio.sleep(0.05)
        counts.append(await index.count())
        hits = await index.search(SearchSpec(text="writer", mode="keyword", k=1_000))
        assert len(set(ids(hits))) == len(hits) == 400
        return counts

    counts = asyncio.run(watch())
    assert [process.wait() for process in writers] == [0, 0]
    for process in writers:
        assert process.stdout
        process.stdout.close()
    assert counts == sorted(counts)
    assert counts[-1] == 400


@pytest.mark.slow
def test_what_was_acknowledged_survives_a_kill(folder: Path) -> None:
    acknowledged: set[str] = set()
    for attempt in range(3):
        with writer(folder, 1_000, f"w{attempt}") as process:
            assert process.stdout
            for line in process.stdout:
                acknowledged.add(f"w{attempt}-{line.strip()}")
                if line.strip() == "5":
                    process.send_signal(signal.SIGKILL)

    async def read() -> tuple[dict[str, int], int]:
        index = LanceIndex(folder)
        await index.optimize()
        counts: dict[str, int] = {}
        async for page in index.scan(vectors=False):
            for item in page:
                batch = item.id.rpartition("-")[0]
                counts[batch] = counts.get(batch, 0) + 1
        return counts, await index.count()

    counts, total = asyncio.run(read())
    assert acknowledged <= counts.keys()
    assert set(counts.values()) == {50}  # a batch is there as a whole or not at all
    assert total == 50 * len(counts)


# --- any sequence of writes ---------------------------------------------------------------------

Step = tuple[str, list[int]]
NUMBERS = st.lists(st.integers(0, 30), max_size=12)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("upsert"), NUMBERS),
        st.tuples(st.just("delete"), NUMBERS),
        st.tuples(st.just("delete_documents"), NUMBERS),
        st.tuples(st.just("optimize"), st.just([])),
    ),
    min_size=2,
    max_size=8,
)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(STEPS)
def test_any_sequence_of_writes_leaves_what_it_should(steps: list[Step]) -> None:
    async def run(path: Path) -> None:
        index = LanceIndex(path)
        await index.ensure(SPEC)
        expected: dict[str, Chunk] = {}
        for at, (action, numbers) in enumerate(steps):
            if action == "upsert":
                chunks = [chunk(number, f"common number{number} step{at}") for number in numbers]
                await index.upsert(chunks)
                expected.update((item.id, item) for item in chunks)
            elif action == "delete":
                await index.delete(ids=[f"c{number}" for number in numbers])
                for number in numbers:
                    expected.pop(f"c{number}", None)
            elif action == "delete_documents":
                gone = {f"d{number}" for number in numbers}
                await index.delete_documents(sorted(gone))
                expected = {k: v for k, v in expected.items() if v.document_id not in gone}
            else:
                await index.optimize()
        scanned = [item async for page in index.scan() for item in page]
        assert {item.id: item.text for item in scanned} == {
            id: item.text for id, item in expected.items()
        }
        for search in (
            SearchSpec(text="common", mode="keyword", k=100),
            SearchSpec(vector=[1.0] * 8, mode="vector", k=100),
        ):
            assert sorted(ids(await index.search(search))) == sorted(expected)

    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as name:
        patch.setattr(lance_upkeep, "VECTOR_INDEX_ROWS", 10)
        patch.setattr(lance_upkeep, "PARTITION_ROWS", 10)
        asyncio.run(run(Path(name)))
