"""A large embedded index: time to build, memory, recall against exact search, time of a search.

    RAGWEAVE_DATA=FOLDER python benchmarks/large_index.py 100000

The chunks are sentences of public texts, three drawn together, with the offline embeddings (256
dimensions); the questions are those of HotpotQA and MuSiQue. Vectors of text are easier to index
than random ones, where no index comes near exact search.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ragweave.models.embedding import embed_texts
from ragweave.stores.base import Chunk, IndexSpec, SearchSpec
from ragweave.stores.lance.index import LanceIndex

BATCH = 2_000
EXACT_QUESTIONS = 50
K = 10


def main() -> None:
    """Build an index of as many chunks as the argument says, and measure it."""
    data = os.environ.get("RAGWEAVE_DATA")
    if not data:
        sys.exit("Set RAGWEAVE_DATA to the folder with the texts and questions.")
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as place:
        asyncio.run(measure(LanceIndex(place), Path(data), size))


async def measure(index: LanceIndex, data: Path, size: int) -> None:
    questions = await asyncio.to_thread(read_questions, data)
    vectors = await embed_texts(questions, embeddings="offline")
    specs = [
        SearchSpec(text=text, vector=vector, k=K)
        for text, vector in zip(questions, vectors, strict=True)
    ]
    await index.ensure(IndexSpec(len(vectors[0]), "offline"))
    print(f"{size:,} chunks, {len(questions)} questions")
    await write(index, data, size)
    exact = [await nearest(index, spec) for spec in specs[:EXACT_QUESTIONS]]
    started = time.perf_counter()
    await index.optimize()
    print(f"indexes built in {time.perf_counter() - started:.1f} s")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")
    found = [await nearest(index, spec) for spec in specs[:EXACT_QUESTIONS]]
    same = sum(len(set(a) & set(b)) for a, b in zip(exact, found, strict=True))
    print(f"recall@{K} of vector search {same / (K * len(exact)):.3f}")
    seconds = sorted([await timed(index, spec) for spec in specs])
    for name, share in (("p50", 0.5), ("p95", 0.95)):
        print(f"hybrid search {name} {seconds[int(share * len(seconds))] * 1000:.1f} ms")


async def write(index: LanceIndex, data: Path, size: int) -> None:
    """Write the chunks, and print what embedding and what writing took."""
    embedding = writing = 0.0
    for first, texts in enumerate(batches(data, size)):
        started = time.perf_counter()
        vectors = await embed_texts(texts, embeddings="offline")
        embedded = time.perf_counter()
        await index.upsert(
            [
                Chunk(f"{first}-{number}", f"{first}", text, vector)
                for number, (text, vector) in enumerate(zip(texts, vectors, strict=True))
            ]
        )
        embedding += embedded - started
        writing += time.perf_counter() - embedded
    print(f"embedded in {embedding:.1f} s, written in {writing:.1f} s")


async def nearest(index: LanceIndex, spec: SearchSpec) -> list[str]:
    hits = await index.search(SearchSpec(vector=spec.vector, mode="vector", k=K))
    return [hit.chunk.id for hit in hits]


async def timed(index: LanceIndex, spec: SearchSpec) -> float:
    started = time.perf_counter()
    await index.search(spec)
    return time.perf_counter() - started


def batches(data: Path, size: int) -> Iterator[list[str]]:
    sentences = read_sentences(data)
    draw = random.Random(7)
    for first in range(0, size, BATCH):
        yield [" ".join(draw.sample(sentences, 3)) for _ in range(min(BATCH, size - first))]


def read_sentences(data: Path) -> list[str]:
    bench = data / "bench"
    texts = [
        json.loads(line)["text"]
        for name in ("multihop", "clapnq")
        for line in (bench / name / "passages.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    demo = data / "demo"
    files = [*sorted((demo / "peps").glob("*.rst")), demo / "christmas_carol.txt"]
    texts += [path.read_text(encoding="utf-8") for path in files]
    sentences = (sentence for text in texts for sentence in re.split(r"(?<=[.!?])\s+", text))
    return [sentence for sentence in sentences if 30 < len(sentence) < 400]


def read_questions(data: Path) -> list[str]:
    path = data / "bench" / "multihop" / "questions.jsonl"
    return [json.loads(line)["question"] for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
