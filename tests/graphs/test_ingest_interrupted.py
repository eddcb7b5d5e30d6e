"""Cut off anywhere, by cancelling or by killing, an ingest is completed by the next run."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ragweave.graphs.ingest import graph
from ragweave.models import register
from ragweave.stores import open_index
from tests.graphs.counting import CountingEmbeddings

Contents = dict[str, tuple[Any, ...]]


class SlowEmbeddings(CountingEmbeddings):
    """Embeddings that leave time for an interruption."""

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """As `embed_documents`, after a moment."""
        await asyncio.sleep(0.005)
        return self.embed_documents(texts)


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CountingEmbeddings:
    """Thirty documents and fifty records, several chunks a document, in `docs`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    write_corpus(tmp_path / "docs", edition=1)
    embeddings = SlowEmbeddings()
    register("slow", embeddings)
    return embeddings


def write_corpus(folder: Path, edition: int) -> None:
    for number in range(30):
        paragraphs = [
            f"Paragraph {n} of document {number}, edition {edition if n % 9 == 4 else 1}. " * 8
            for n in range(1 + number % 5 * 8)
        ]
        (folder / f"{number}.txt").write_text("\n\n".join(paragraphs))
    records = [{"id": f"r{n}", "text": f"Record {n * edition} says so."} for n in range(50)]
    (folder / "records.jsonl").write_text("\n".join(map(json.dumps, records)))


CONTEXT = {"embeddings": "slow", "batch_chunks": 16, "chunk_tokens": 128}


async def ingest(index: str) -> dict[str, Any]:
    context: Any = {**CONTEXT, "index": index}
    return await graph.ainvoke({"paths": ["docs"]}, context=context)


async def interrupt(index: str, after_events: int) -> list[dict[str, Any]]:
    """Start an ingest and cancel it when it has told its progress so many times."""
    events: list[dict[str, Any]] = []

    async def run() -> None:
        context: Any = {**CONTEXT, "index": index}
        async for event in graph.astream(
            {"paths": ["docs"]}, context=context, stream_mode="custom"
        ):
            events.append(event)
            if len(events) > after_events:
                await asyncio.sleep(random.random() * 0.02)
                task.cancel()

    task = asyncio.create_task(run())
    await asyncio.gather(task, return_exceptions=True)
    return events


async def contents(index: str) -> Contents:
    """Everything in an index but the vectors, which follow from the text."""
    opened = await open_index(index)
    chunks = {
        f"chunk {chunk.id}": (chunk.text, chunk.start, chunk.end, chunk.path, chunk.metadata)
        async for page in opened.scan()
        for chunk in page
    }
    records = {
        f"record {record.id}": (record.content_hash, record.chunks, record.path)
        async for record in opened.documents()
    }
    return {**chunks, **records}


async def test_cancelled_at_any_point_it_is_completed_by_the_next_run(
    corpus: CountingEmbeddings, tmp_path: Path
) -> None:
    await ingest(f"lance:{tmp_path}/whole")
    wanted = await contents(f"lance:{tmp_path}/whole")
    assert len(wanted) > 200
    texts = set(corpus.texts)
    for after in (0, 2, 4, 7):
        index = f"lance:{tmp_path}/cut{after}"
        await interrupt(index, after)
        stored = len(await contents(index))
        corpus.texts.clear()
        report = await ingest(index)
        assert await contents(index) == wanted
        assert report["added"] + report["unchanged"] == 80
        assert len(corpus.texts) <= len(texts)
        assert stored < len(wanted)


async def test_a_change_that_was_cut_off_and_taken_back_leaves_no_trace(
    corpus: CountingEmbeddings, tmp_path: Path
) -> None:
    index = f"lance:{tmp_path}/index"
    await ingest(index)
    wanted = await contents(index)
    for after in (1, 3, 5):
        await asyncio.to_thread(write_corpus, tmp_path / "docs", 2)
        await interrupt(index, after)
        await asyncio.to_thread(write_corpus, tmp_path / "docs", 1)
        await ingest(index)
        assert await contents(index) == wanted


async def test_an_interruption_says_how_far_it_came(
    corpus: CountingEmbeddings, tmp_path: Path
) -> None:
    events = await interrupt(f"lance:{tmp_path}/index", 2)
    finished = [event for event in events if event["type"] == "ingesting"][-1]
    assert 0 < finished["bytes"] < finished["total_bytes"]
    assert finished["documents"] > 0


async def test_documents_that_were_cut_off_and_then_deleted_leave_no_chunks(
    corpus: CountingEmbeddings, tmp_path: Path
) -> None:
    index = f"lance:{tmp_path}/index"
    await interrupt(index, 3)

    def keep_one() -> None:
        for file in (tmp_path / "docs").iterdir():
            if file.name != "4.txt":
                file.unlink()

    await asyncio.to_thread(keep_one)
    await ingest(index)
    stored = await contents(index)
    assert {key.partition("#")[0] for key in stored} == {"chunk docs/4.txt", "record docs/4.txt"}


# --- killed

CHILD = """
import asyncio, sys
from ragweave.graphs.ingest import graph
context = {"index": sys.argv[1], "batch_chunks": 8, "chunk_tokens": 64}
print("starts", flush=True)
asyncio.run(graph.ainvoke({"paths": ["docs"]}, context=context))
"""


@contextmanager
def child(index: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that ingests, once it has imported everything."""
    command = [sys.executable, "-c", CHILD, index]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"starts\n"
        yield process


@pytest.mark.slow
def test_killed_with_9_at_random_points_it_is_completed_by_the_next_run(
    corpus: CountingEmbeddings, tmp_path: Path
) -> None:
    whole, killed = f"lance:{tmp_path}/whole", f"lance:{tmp_path}/killed"
    with child(whole, tmp_path) as process:
        started = time.monotonic()
        assert process.wait() == 0
        seconds = time.monotonic() - started
    wanted = asyncio.run(contents(whole))
    chance = random.Random(7)
    kills = 0
    for _ in range(6):
        with child(killed, tmp_path) as process:
            time.sleep(seconds * chance.uniform(0.1, 0.9))
            kills += process.poll() is None
            process.kill()
    assert kills >= 2
    with child(killed, tmp_path) as process:
        assert process.wait() == 0
    assert asyncio.run(contents(killed)) == wanted
