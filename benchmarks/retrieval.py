"""Recall of keyword, vector and hybrid search in the embedded index, over public questions.

    RAGWEAVE_DATA=FOLDER python benchmarks/retrieval.py

Passages are one chunk each, title and text together, with the offline embeddings. Recall is the
mean over questions of the share of gold passages among the first k hits; below each figure, in
brackets, stands the one that the index has to reach, `TARGETS`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragweave.indexing.chunks import text_to_embed
from ragweave.models.embedding import embed_texts
from ragweave.stores import open_index
from ragweave.stores.base import Chunk, Hit, Index, IndexSpec, SearchSpec
from ragweave.stores.registry import aclose_all

SEARCHES: Mapping[str, Mapping[str, Any]] = {
    "BM25": {"mode": "keyword"},
    "vector": {"mode": "vector"},
    "RRF 60": {"fusion": "rrf", "alpha": 0.5},
    "alpha 0.25": {"alpha": 0.25},
    "alpha 0.5": {"alpha": 0.5},
}
DEFAULT = "alpha 0.25"
TARGETS: Mapping[tuple[str, int], Sequence[float]] = {  # in the order of SEARCHES
    ("HotpotQA", 10): (0.915, 0.838, 0.895, 0.930, 0.907),
    ("MuSiQue", 10): (0.620, 0.630, 0.670, 0.670, 0.685),
    ("CLAP-NQ", 5): (0.967, 0.987, 0.993, 0.993, 0.993),
    ("CMRC 2018 (zh)", 1): (0.983, 0.621, 0.797, 0.979, 0.933),
    ("CMRC 2018 (zh)", 5): (0.992, 0.773, 0.923, 0.994, 0.996),
    ("statutes (zh)", 5): (0.889, 0.722, 0.778, 1.000, 0.889),
}
AT_ONCE = 32


@dataclass(frozen=True)
class Question:
    text: str
    gold: frozenset[str]


@dataclass(frozen=True)
class Collection:
    """Passages that share an index, and the sets of questions asked of them."""

    chunks: Sequence[Chunk]
    questions: Mapping[str, Sequence[Question]]


def main() -> None:
    """Print one row for each set of questions."""
    data = os.environ.get("RAGWEAVE_DATA")
    if not data:
        sys.exit("Set RAGWEAVE_DATA to the folder with the questions and passages.")
    found = asyncio.run(measure_all(Path(data)))
    print(f"{'':<22}" + "".join(f"{name:>12}" for name in SEARCHES))
    for (name, k), recalls in found.items():
        print(f"{f'{name} R@{k}':<22}" + "".join(f"{recall:>12.3f}" for recall in recalls))
        print(f"{'':<22}" + "".join(f"{f'({target:.3f})':>12}" for target in TARGETS[name, k]))


async def measure_all(data: Path) -> dict[tuple[str, int], list[float]]:
    """Recall by set and k, in the order of `SEARCHES`."""
    found: dict[tuple[str, int], list[float]] = {}
    with tempfile.TemporaryDirectory() as place:
        for number, collection in enumerate(await asyncio.to_thread(read_collections, data)):
            found |= await measure(collection, f"lance:{place}/{number}", SEARCHES.values())
        await aclose_all()
    return found


async def measure(
    collection: Collection, name: str, searches: Iterable[Mapping[str, Any]]
) -> dict[tuple[str, int], list[float]]:
    """Recall by set and k, in the order of `searches`, over an index that is made as `name`."""
    index = await filled(name, collection.chunks)
    found: dict[tuple[str, int], list[float]] = {}
    for set_name, questions in collection.questions.items():
        recalls = [await recall_of(index, questions, search) for search in searches]
        for k in (k for target, k in TARGETS if target == set_name):
            found[set_name, k] = [recall[k] for recall in recalls]
    return found


async def filled(name: str, chunks: Sequence[Chunk]) -> Index:
    """An index of the chunks, embedded."""
    vectors = await embed_texts([text_to_embed(c) for c in chunks], embeddings="offline")
    index = await open_index(name)
    await index.ensure(IndexSpec(len(vectors[0]), "offline"))
    await index.upsert(
        [Chunk(c.id, c.id, c.text, v, title=c.title) for c, v in zip(chunks, vectors, strict=True)]
    )
    await index.optimize()
    return index


async def recall_of(
    index: Index, questions: Sequence[Question], search: Mapping[str, Any]
) -> dict[int, float]:
    """Recall at 1, 5 and 10."""
    vectors = await embed_texts([question.text for question in questions], embeddings="offline")
    specs = [
        SearchSpec(text=question.text, vector=vector, k=10, **search)
        for question, vector in zip(questions, vectors, strict=True)
    ]
    hits: list[list[Hit]] = []
    for first in range(0, len(specs), AT_ONCE):
        hits += await index.search_many(specs[first : first + AT_ONCE])
    ids = [[hit.chunk.id for hit in found] for found in hits]
    return {
        k: sum(
            len(question.gold & set(found[:k])) / len(question.gold)
            for question, found in zip(questions, ids, strict=True)
        )
        / len(questions)
        for k in (1, 5, 10)
    }


def read_collections(data: Path) -> list[Collection]:
    """The passages and questions of the table."""
    multihop, clapnq = data / "bench" / "multihop", data / "bench" / "clapnq"
    hops = records(multihop / "questions.jsonl")
    laws = sorted((data / "demo" / "law_zh").glob("*.articles.jsonl"))
    cmrc = data / "cmrc2018"
    return [
        Collection(
            passages(records(multihop / "passages.jsonl")),
            {
                name: asked(
                    [question for question in hops if question["dataset"] == dataset],
                    lambda q: q["gold_passages"],
                )
                for name, dataset in (("HotpotQA", "hotpotqa"), ("MuSiQue", "musique"))
            },
        ),
        Collection(
            passages(records(clapnq / "passages.jsonl")),
            {
                "CLAP-NQ": asked(
                    records(clapnq / "questions.jsonl"),
                    lambda q: [q["gold_passage"]],
                    lambda q: q["answerable"],
                )
            },
        ),
        Collection(
            passages(records(cmrc / "public_trial.passages.jsonl")),
            {
                "CMRC 2018 (zh)": asked(  # two of its questions are empty
                    records(cmrc / "public_trial.questions.jsonl"),
                    lambda q: [q["gold_passage"]],
                    lambda q: q["question"].strip(),
                )
            },
        ),
        Collection(
            passages([record for law in laws for record in records(law)]),
            {
                "statutes (zh)": asked(
                    records(data / "demo" / "questions.jsonl"),
                    lambda q: [gold.removeprefix("law_zh/") for gold in q["gold_docs"]],
                    lambda q: q["lang"] == "zh" and q["gold_docs"],
                )
            },
        ),
    ]


def passages(found: Iterable[Mapping[str, Any]]) -> list[Chunk]:
    return [Chunk(p["id"], p["id"], p["text"], title=p.get("title")) for p in found]


def asked(
    found: Iterable[Mapping[str, Any]],
    gold: Callable[[Mapping[str, Any]], list[str]],
    wanted: Callable[[Mapping[str, Any]], Any] = bool,
) -> list[Question]:
    return [Question(q["question"], frozenset(gold(q))) for q in found if wanted(q)]


def records(path: Path) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
