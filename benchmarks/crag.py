"""Waits and throughput of CRAG against a model and a web search that answer after 200 ms.

    PYTHONPATH=. python benchmarks/crag.py

What blocks the event loop longest is Python's own garbage collection, which goes through all that
is loaded; the last rows are measured after `gc.freeze()`, as a server may call it once it is warm.
"""

from __future__ import annotations

import asyncio
import gc
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from typing import Any

from benchmarks.stub_process import stub_process
from ragweave.graphs.crag import graph
from ragweave.models.embedding import embed_texts
from ragweave.stores import open_index
from ragweave.stores.base import Chunk, IndexSpec
from tests.servers import Answer, Json, prompt_of, schema_of, web_result

LATENCY = 0.2
RUNS = 5
AT_ONCE = 50
QUESTION = "Which bird lays the largest egg?"
TEXTS = [f"Document {number} says which bird lays an egg of size {number}." for number in range(8)]


def main() -> None:
    """Print one row for each figure."""
    with stub_process(answer, find):
        asyncio.run(measure())


async def measure() -> None:
    with tempfile.TemporaryDirectory() as folder:
        index = await make_index(f"lance:{folder}/index")
        web = {"index": index, "model": "openai:web", "max_rewrites": 1}
        alone = {"index": index, "model": "openai:relevant"}
        await ask(web)  # imports, connections
        print(f"latency {LATENCY * 1000:.0f} ms a call, k 8, median of {RUNS}")
        row("web path, one question", await median(lambda: ask(web)), "<= 1.2 s, 5 waits")
        row("all relevant, one question", await median(lambda: ask(alone)), "<= 0.5 s, 2 waits")
        await at_once(web, "")
        gc.collect()
        gc.freeze()
        await at_once(web, ", after gc.freeze()")


async def at_once(context: dict[str, Any], when: str) -> None:
    seconds, blocked = await watched(
        lambda: asyncio.gather(*[ask(context) for _ in range(AT_ONCE)])
    )
    row(f"web path, {AT_ONCE} at once{when}", seconds, "<= 6.5 s")
    row(f"event loop blocked, at most{when}", blocked, "<= 0.3 s")


async def ask(context: dict[str, Any]) -> None:
    output = await graph.ainvoke({"question": QUESTION}, context=context)
    calls = 11 if context["model"] == "openai:web" else 9
    assert output["usage"]["calls"] == calls, output["usage"]
    assert output["status"] == "answered"


async def median(run: Callable[[], Awaitable[Any]]) -> float:
    seconds = []
    for _ in range(RUNS):
        started = time.perf_counter()
        await run()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


async def watched(run: Callable[[], Awaitable[Any]]) -> tuple[float, float]:
    """Seconds that `run` takes, and the longest time in which nothing else got a turn."""
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.01)
            longest = max(longest, time.perf_counter() - before - 0.01)

    watcher = asyncio.create_task(watch())
    started = time.perf_counter()
    await run()
    seconds = time.perf_counter() - started
    watcher.cancel()
    return seconds, longest


async def make_index(name: str) -> str:
    index = await open_index(name)
    vectors = await embed_texts(TEXTS, embeddings="offline")
    await index.ensure(IndexSpec(dimension=len(vectors[0]), embeddings="offline"))
    await index.upsert(
        [
            Chunk(id=str(number), document_id=str(number), text=text, vector=vector)
            for number, (text, vector) in enumerate(zip(TEXTS, vectors, strict=True))
        ]
    )
    return name


def row(name: str, seconds: float, target: str) -> None:
    print(f"{name:<46} {seconds:6.2f} s   target {target}")


def answer(request: dict[str, Any]) -> Answer:
    verdict = "relevant" if request["model"] == "relevant" else "irrelevant"
    match schema_of(request):
        case "DocumentGrade":
            text = f'{{"reason": "r", "verdict": "{verdict}"}}'
        case "DocumentGrades":
            text = '{"grades": [{"reason": "r", "verdict": "relevant", "number": 1}]}'
        case "SearchQuery":
            text = '{"query": "largest egg", "reason": "r"}'
        case _:
            assert QUESTION in prompt_of(request)
            text = "The ostrich lays the largest egg [1]."
    return Answer(text, latency=LATENCY)


def find(request: dict[str, Any]) -> Json:
    result = web_result("The ostrich lays the largest egg.")
    return Json({"query": request["query"], "results": [result]}, latency=LATENCY)


if __name__ == "__main__":
    main()
