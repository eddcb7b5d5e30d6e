"""Recall of Weaviate beside the embedded index, and how often both find the same.

    RAGWEAVE_DATA=FOLDER python benchmarks/weaviate_recall.py weaviate:http://HOST:8080

Passages are one chunk each, with offline embeddings; hybrid is relative score at alpha 0.25.
`same 10` is the share of questions whose ten best passages are the same set. Collections named
`Recall...` are made on the server; `--delete` removes them afterwards.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import httpx

from ragweave.models.embedding import embed_texts
from ragweave.stores import open_index
from ragweave.stores.base import Chunk, Index, IndexSpec, SearchMode, SearchSpec
from ragweave.stores.registry import aclose_all

SETS = {  # name: folder, prefix of the files, which questions
    "HotpotQA": ("bench/multihop", "", lambda q: q["dataset"] == "hotpotqa"),
    "MuSiQue": ("bench/multihop", "", lambda q: q["dataset"] == "musique"),
    "CLAP-NQ": ("bench/clapnq", "", lambda q: q["answerable"]),
    "CMRC 2018": ("cmrc2018", "public_trial.", lambda q: bool(q["question"].strip())),
}
MODES: tuple[SearchMode, ...] = ("keyword", "vector", "hybrid")


def main() -> None:
    """Print one row for each set and kind of search."""
    data = os.environ.get("RAGWEAVE_DATA")
    if not data or len(sys.argv) < 2:
        sys.exit("Usage: RAGWEAVE_DATA=FOLDER python benchmarks/weaviate_recall.py weaviate:URL")
    asyncio.run(measure(Path(data), sys.argv[1], delete="--delete" in sys.argv))


async def measure(data: Path, url: str, *, delete: bool) -> None:
    print(
        f"{'set':<10} {'search':<8} {'weaviate R@5':>13} {'R@10':>6} {'lance R@5':>10} {'R@10':>6} "
        f"{'same 10':>8} {'same 1st':>9}"
    )
    with tempfile.TemporaryDirectory() as place:
        for name, (folder, prefix, wanted) in SETS.items():
            passages = records(data / folder / f"{prefix}passages.jsonl")
            questions = [
                q for q in records(data / folder / f"{prefix}questions.jsonl") if wanted(q)
            ]
            collection = f"Recall{Path(folder).name.capitalize()}"
            join = "&" if "?" in url else "?"
            remote = await filled(f"{url}{join}collection={collection}", passages)
            local = await filled(f"lance:{place}/index?name={collection}", passages)
            for mode in MODES:
                await compare(name, mode, questions, remote, local)
            if delete and name != "HotpotQA":  # MuSiQue, next, searches the same passages
                await drop(url, collection)
    await aclose_all()


async def compare(
    name: str, mode: SearchMode, questions: list[dict[str, Any]], remote: Index, local: Index
) -> None:
    gold = [set(q.get("gold_passages") or [q["gold_passage"]]) for q in questions]
    texts = [q["question"] for q in questions]
    far, near = [await search(index, texts, mode) for index in (remote, local)]
    pairs = list(zip(far, near, strict=True))
    same = sum(set(one) == set(other) for one, other in pairs) / len(pairs)
    first = sum(one[:1] == other[:1] for one, other in pairs) / len(pairs)
    print(
        f"{name:<10} {mode:<8} {recall(far, gold, 5):>13.3f} {recall(far, gold, 10):>6.3f} "
        f"{recall(near, gold, 5):>10.3f} {recall(near, gold, 10):>6.3f} "
        f"{same:>8.1%} {first:>9.1%}",
        flush=True,
    )


async def filled(string: str, passages: list[dict[str, Any]]) -> Index:
    index = await open_index(string)
    await index.ensure(IndexSpec(dimension=256, embeddings="offline"))
    if await index.count() < len(passages):
        texts = [f"{passage['title']}\n{passage['text']}" for passage in passages]
        vectors = await embed_texts(texts, embeddings="offline")
        await index.upsert(
            [
                Chunk(p["id"], p["id"], p["text"], vector=vector, title=p["title"])
                for p, vector in zip(passages, vectors, strict=True)
            ]
        )
        await index.optimize()
    return index


async def search(index: Index, texts: list[str], mode: SearchMode) -> list[list[str]]:
    vectors = await embed_texts(texts, embeddings="offline")
    found = []
    for text, vector in zip(texts, vectors, strict=True):
        hits = await index.search(SearchSpec(text=text, vector=vector, mode=mode, k=10))
        found.append([hit.chunk.id for hit in hits])
    return found


def recall(found: list[list[str]], gold: list[set[str]], k: int) -> float:
    shares = [
        len(wanted & set(ids[:k])) / len(wanted) for ids, wanted in zip(found, gold, strict=True)
    ]
    return sum(shares) / len(shares)


async def drop(url: str, collection: str) -> None:
    server = url.removeprefix("weaviate:").partition("?")[0]
    async with httpx.AsyncClient() as client:
        for name in (collection, f"{collection}_parents", f"{collection}_documents"):
            await client.delete(f"{server}/v1/schema/{name}")


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


if __name__ == "__main__":
    main()
