"""Recall of Weaviate beside the embedded index, and how often both find the same.

    RAGWEAVE_DATA=FOLDER python benchmarks/weaviate_recall.py weaviate:http://HOST:8080

The passages and questions of `benchmarks/retrieval.py`, with offline embeddings; hybrid is relative
score at alpha 0.25. `same 10` is the share of questions whose ten best passages are the same set.
The embedded index is copied to the server as `ragweave copy` does it, so both hold the same
vectors. Collections named `Recall...` are made there, and deleted afterwards with `--delete`.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import httpx
from retrieval import Question, filled, read_collections

from ragweave.models.embedding import embed_texts
from ragweave.stores import open_index
from ragweave.stores.base import Index, SearchMode, SearchSpec
from ragweave.stores.copy import copy_index
from ragweave.stores.registry import aclose_all

MODES: tuple[SearchMode, ...] = ("keyword", "vector", "hybrid")


def main() -> None:
    """Print one row for each set and kind of search."""
    data = os.environ.get("RAGWEAVE_DATA")
    if not data or len(sys.argv) < 2:
        sys.exit("Usage: RAGWEAVE_DATA=FOLDER python benchmarks/weaviate_recall.py weaviate:URL")
    asyncio.run(measure(Path(data), sys.argv[1], delete="--delete" in sys.argv))


async def measure(data: Path, url: str, *, delete: bool) -> None:
    print(
        f"{'set':<15} {'search':<8} {'weaviate R@5':>13} {'R@10':>6} {'lance R@5':>10} {'R@10':>6} "
        f"{'same 10':>8} {'same 1st':>9}"
    )
    with tempfile.TemporaryDirectory() as place:
        for number, collection in enumerate(await asyncio.to_thread(read_collections, data)):
            name = f"Recall{number}"
            near = await filled(f"lance:{place}/{number}", collection.chunks)
            far = await open_index(f"{url}{'&' if '?' in url else '?'}collection={name}")
            await copy_index(near, far)
            for set_name, questions in collection.questions.items():
                for mode in MODES:
                    await compare(set_name, mode, questions, far, near)
            if delete:
                await drop(url, name)
        await aclose_all()


async def compare(
    name: str, mode: SearchMode, questions: Sequence[Question], far: Index, near: Index
) -> None:
    found = [await search(index, questions, mode) for index in (far, near)]
    pairs = list(zip(*found, strict=True))
    same = sum(set(one) == set(other) for one, other in pairs) / len(pairs)
    first = sum(one[:1] == other[:1] for one, other in pairs) / len(pairs)
    recalls = [recall(ids, questions, k) for ids in found for k in (5, 10)]
    print(
        f"{name:<15} {mode:<8} {recalls[0]:>13.3f} {recalls[1]:>6.3f} "
        f"{recalls[2]:>10.3f} {recalls[3]:>6.3f} {same:>8.1%} {first:>9.1%}",
        flush=True,
    )


async def search(index: Index, questions: Sequence[Question], mode: SearchMode) -> list[list[str]]:
    texts = [question.text for question in questions]
    found = []
    for text, vector in zip(texts, await embed_texts(texts, embeddings="offline"), strict=True):
        hits = await index.search(SearchSpec(text=text, vector=vector, mode=mode, k=10))
        found.append([hit.chunk.id for hit in hits])
    return found


def recall(found: Sequence[Sequence[str]], questions: Sequence[Question], k: int) -> float:
    shares = [
        len(question.gold & set(ids[:k])) / len(question.gold)
        for ids, question in zip(found, questions, strict=True)
    ]
    return sum(shares) / len(shares)


async def drop(url: str, collection: str) -> None:
    server = url.removeprefix("weaviate:").partition("?")[0]
    async with httpx.AsyncClient() as client:
        for name in (collection, f"{collection}_parents", f"{collection}_documents"):
            await client.delete(f"{server}/v1/schema/{name}")


if __name__ == "__main__":
    main()
