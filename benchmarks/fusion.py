"""Recall on MuSiQue of each way to fuse the question's list with those of its sub-questions.

    RAGWEAVE_DATA=FOLDER python benchmarks/fusion.py

The gold sub-questions (`sub_queries`) are taken as the generated queries. Search is the embedded
index over title and text, offline embeddings, lists of `DEPTH`; recall is over all gold passages.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ragweave.models.embedding import embed_texts
from ragweave.nodes.fuse import (
    Fused,
    Ranking,
    dist_based_score,
    relative_score,
    round_robin,
    rrf,
)
from ragweave.stores import open_index
from ragweave.stores.base import Chunk, Index, IndexSpec, SearchMode, SearchSpec

DEPTH = 100
"""Hits of each list that enter the fusion."""
SHALLOW = 20
"""The default of RAG-Fusion's `list_size`."""
BATCH = 500

Fuse = Callable[[Sequence[Ranking]], list[Fused]]


def main() -> None:
    """Print one row for each way."""
    folder = os.environ.get("RAGWEAVE_DATA")
    if not folder:
        sys.exit("RAGWEAVE_DATA is not set: it names the folder that holds bench/multihop.")
    asyncio.run(measure(Path(folder) / "bench/multihop"))


async def measure(folder: Path) -> None:
    questions = [q for q in records(folder / "questions.jsonl") if q["dataset"] == "musique"]
    passages = records(folder / "passages.jsonl")
    with tempfile.TemporaryDirectory() as place:
        index = await make_index(f"lance:{place}/index", passages)
        asked = [[q["question"], *q["sub_queries"]] for q in questions]
        hybrid = [await search(index, queries, "hybrid") for queries in asked]
        keyword = [await search(index, queries, "keyword") for queries in asked]
    gold = [set(q["gold_passages"]) for q in questions]
    print(f"{len(questions)} questions, {len(passages):,} passages")
    print(f"{'lists fused':<36} {'fusion':<18} {'R@5':>6} {'R@10':>6}   R@10, lists of {SHALLOW}")
    for name, lists, method, fuse in ways(hybrid, keyword):
        deep = [[item.id for item in fuse(found)] for found in lists]
        short = [[item.id for item in fuse([one[:SHALLOW] for one in found])] for found in lists]
        five, ten, shallow = recall(deep, gold, 5), recall(deep, gold, 10), recall(short, gold, 10)
        print(f"{name:<36} {method:<18} {five:>6.3f} {ten:>6.3f}   {shallow:.3f}")


def ways(
    hybrid: list[list[Ranking]], keyword: list[list[Ranking]]
) -> list[tuple[str, list[list[Ranking]], str, Fuse]]:
    alone = [found[:1] for found in hybrid]
    without = [found[1:] for found in hybrid]
    both = "question + sub-questions, hybrid"
    return [
        ("question alone, hybrid", alone, "-", round_robin),
        ("question + sub-questions, keyword", keyword, "rrf 60", rrf),
        (both, hybrid, "rrf 60", rrf),
        (both, hybrid, "rrf 10", lambda lists: rrf(lists, constant=10)),
        ("sub-questions only, hybrid", without, "rrf 60", rrf),
        (both, hybrid, "relative_score", relative_score),
        (both, hybrid, "dist_based_score", dist_based_score),
        (both, hybrid, "round_robin", round_robin),
    ]


async def make_index(name: str, passages: Sequence[dict[str, Any]]) -> Index:
    index = await open_index(name)
    await index.ensure(IndexSpec(dimension=256, embeddings="offline"))
    for first in range(0, len(passages), BATCH):
        batch = passages[first : first + BATCH]
        texts = [f"{passage['title']}\n{passage['text']}" for passage in batch]
        vectors = await embed_texts(texts, embeddings="offline")
        await index.upsert(
            [
                Chunk(p["id"], p["id"], p["text"], vector=vector, title=p["title"])
                for p, vector in zip(batch, vectors, strict=True)
            ]
        )
    await index.optimize()
    return index


async def search(index: Index, queries: Sequence[str], mode: SearchMode) -> list[Ranking]:
    vectors = await embed_texts(queries, embeddings="offline")
    found = await index.search_many(
        [
            SearchSpec(text=query, vector=vector, mode=mode, k=DEPTH)
            for query, vector in zip(queries, vectors, strict=True)
        ]
    )
    return [[(hit.chunk.id, hit.score) for hit in hits] for hits in found]


def recall(found: list[list[str]], gold: list[set[str]], k: int) -> float:
    shares = [
        len(wanted & set(ids[:k])) / len(wanted) for ids, wanted in zip(found, gold, strict=True)
    ]
    return sum(shares) / len(shares)


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


if __name__ == "__main__":
    main()
