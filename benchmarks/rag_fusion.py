"""Waits of RAG-Fusion over a model and an index that take 100 ms each.

    PYTHONPATH=. python benchmarks/rag_fusion.py

Five queries (the question and four generated ones), 2 model calls.
"""

from __future__ import annotations

import asyncio
import gc
import statistics
import time
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from benchmarks.stub_process import stub_process
from ragweave.graphs.rag_fusion import graph
from ragweave.stores import register
from tests.servers import Answer, schema_of

LATENCY = 0.1
RUNS = 5
AT_ONCE = 50
QUESTION = "Which bird lays the largest egg?"
CONTEXT = {"index": "slow", "model": "openai:stub", "query_count": 4}


class Slow(BaseRetriever):
    """A retriever that takes its time."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        time.sleep(LATENCY)
        return documents(query)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        await asyncio.sleep(LATENCY)
        return documents(query)


def documents(query: str) -> list[Document]:
    return [Document(f"Egg {at} of {query}", id=f"{at} {query}") for at in range(20)]


def main() -> None:
    """Print one row for each figure."""
    register("slow", Slow())
    with stub_process(answer):
        asyncio.run(measure())


async def measure() -> None:
    await ask()  # imports, connections
    print(f"latency {LATENCY * 1000:.0f} ms a call and a search, median of {RUNS}")
    one = statistics.median([await ask() for _ in range(RUNS)])
    print(f"{'5 queries':<46} {one:6.2f} s   target <= 0.60 s")
    await at_once("")
    gc.collect()
    gc.freeze()
    await at_once(", after gc.freeze()")


async def at_once(when: str) -> None:
    started = time.perf_counter()
    await asyncio.gather(*[ask() for _ in range(AT_ONCE)])
    seconds = time.perf_counter() - started
    print(f"{f'{AT_ONCE} questions at once{when}':<46} {seconds:6.2f} s   target <= 2.0 s")


async def ask() -> float:
    started = time.perf_counter()
    output = await graph.ainvoke({"question": QUESTION}, context=CONTEXT)
    assert output["usage"]["calls"] == 2, output
    assert output["status"] == "answered"
    return time.perf_counter() - started


def answer(request: dict[str, Any]) -> Answer:
    if schema_of(request) == "SearchQueries":
        queries = ", ".join(f'"egg query {at}"' for at in range(4))
        text = f'{{"reason": "r", "kind": "paraphrase", "queries": [{queries}]}}'
        return Answer(text, latency=LATENCY)
    return Answer("Egg 0 of it is the largest [1].", latency=LATENCY)


if __name__ == "__main__":
    main()
