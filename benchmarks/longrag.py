"""LongRAG over eight documents of 150 kB: calls, tokens and waits, for a small and a large reader.

    PYTHONPATH=. python benchmarks/longrag.py

The model takes 200 ms a call. The small reader has room for 32,000 tokens, so that the documents
are cut at paragraphs, read in batches at the same time and merged; the large one, of 400,000,
reads them in one call.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.stub_process import stub_process
from ragweave.graphs.longrag import graph
from ragweave.serving import aingest
from ragweave.serving.ingesting import agroup
from tests.servers import Answer, prompt_of

LATENCY = 0.2
RUNS = 5
DOCUMENTS, SIZE = 8, 150_000
QUESTION = "What does the keeper of the lamp polish?"


def main() -> None:
    """Print one row for each reader."""
    with stub_process(answer):
        asyncio.run(measure())


async def measure() -> None:
    with tempfile.TemporaryDirectory() as place:
        index = f"lance:{place}/index"
        write(Path(place) / "lamps")
        await aingest(f"{place}/lamps", index=index)
        await agroup(index=index)
        print(f"latency {LATENCY * 1000:.0f} ms a call, median of {RUNS}")
        print("| reader | calls | tokens read | seconds |")
        print("|---|---|---|---|")
        for tokens in (32_000, 400_000):
            await row(index, tokens)


async def row(index: str, tokens: int) -> None:
    context: Any = {"index": index, "model": "openai:stub", "reader_tokens": tokens}
    seconds, output = [], {}
    for _ in range(RUNS + 1):  # the first imports and connects
        started = time.perf_counter()
        output = await graph.ainvoke({"question": QUESTION}, context=context)
        seconds.append(time.perf_counter() - started)
    used = output["usage"]
    print(
        f"| {tokens:,} | {used['calls']} | {used['input_tokens']:,} "
        f"| {statistics.median(seconds[1:]):.2f} |"
    )


def write(folder: Path) -> None:
    folder.mkdir()
    for number in range(DOCUMENTS):
        sentences = [
            f"In house {number} the keeper of the lamp polishes the brass every morning before the "
            f"visitors come, and so it was on day {day}."
            for day in range(SIZE // 116)
        ]
        paragraphs = [" ".join(sentences[at : at + 6]) for at in range(0, len(sentences), 6)]
        (folder / f"lamp{number}.md").write_text("\n\n".join(paragraphs), "utf-8")


def answer(request: dict[str, Any]) -> Answer:
    assert QUESTION in prompt_of(request)
    return Answer("The keeper polishes the brass [1].", latency=LATENCY)


if __name__ == "__main__":
    main()
