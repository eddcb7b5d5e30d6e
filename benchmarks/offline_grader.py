"""Does the offline grader tell questions that the index answers from those that it does not?

    RAGWEAVE_DATA=... python benchmarks/offline_grader.py

Ingests the demo documents, retrieves 8 chunks for each question (hybrid, alpha 0.25) and grades
each as CRAG does. A question searches the web unless a chunk is graded relevant. To reach: at
least 24 of the 27 questions on PEPs and statutes do not search, at least 5 of the 6 that nothing
in the index answers do. AUC is the chance that an answerable question's best chunk scores higher
than an unanswerable one's; on `clapnq` and `cmrc2018`, that a gold passage scores higher than any
other of the 8 best.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ragweave.graphs.ingest import graph as ingest
from ragweave.models.embedding import embed_texts
from ragweave.models.offline.relevance import RELEVANT, relevance
from ragweave.stores import open_index
from ragweave.stores.base import Hit, Index, SearchSpec

Record = dict[str, Any]


def read(path: Path) -> list[Record]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def filled(folder: Path, paths: Iterable[Path]) -> Index:
    context = {"index": f"lance:{folder}", "embeddings": "offline"}
    await ingest.ainvoke({"paths": [str(path) for path in paths]}, context=context)  # type: ignore[arg-type]
    return await open_index(context["index"])


async def found(index: Index, questions: Sequence[Record]) -> list[list[Hit]]:
    texts = [question["question"] for question in questions]
    vectors = await embed_texts(texts, embeddings="offline")
    specs = [
        SearchSpec(text=text, vector=vector) for text, vector in zip(texts, vectors, strict=True)
    ]
    return await index.search_many(specs)


def scores(question: Record, hits: Sequence[Hit]) -> list[float]:
    shown = [f"{hit.chunk.title}\n{hit.chunk.text}" if hit.chunk.title else hit.chunk.text
             for hit in hits]  # fmt: skip
    return [judged.score for judged in relevance(question["question"], shown)]


def auc(higher: Sequence[float], lower: Sequence[float]) -> float:
    pairs = [(high > low) + 0.5 * (high == low) for high in higher for low in lower]
    return sum(pairs) / len(pairs)


async def demo(folder: Path, data: Path) -> None:
    statutes = sorted((data / "law_zh").glob("*.articles.jsonl"))
    index = await filled(folder, [data / "peps", data / "christmas_carol.txt", *statutes])
    questions = read(data / "questions.jsonl")
    best = {}
    for question, hits in zip(questions, await found(index, questions), strict=True):
        best[question["id"]] = max(scores(question, hits), default=0.0)
        kind = f"{question['lang']} {question['type']}"
        verdict = "relevant" if best[question["id"]] >= RELEVANT else ""
        print(f"{question['id']}  {kind:16} {best[question['id']]:5.2f}  {verdict}")
    answerable = [
        best[question["id"]]
        for question in questions
        if question["type"] in ("single", "multi") and not question["id"].startswith("cc")
    ]
    others = [best[q["id"]] for q in questions if q["type"] == "unanswerable"]
    print(f"\ndemo: AUC {auc(answerable, others):.3f}")
    print(f"answerable, not searching: {count(answerable)} of {len(answerable)}")
    print(f"unanswerable, searching: {len(others) - count(others)} of {len(others)}")


def count(values: Iterable[float]) -> int:
    return sum(value >= RELEVANT for value in values)


async def passages(name: str, folder: Path, texts: Path, questions: Sequence[Record]) -> None:
    index = await filled(folder, [texts])
    gold, others = [], []
    for question, hits in zip(questions, await found(index, questions), strict=True):
        for hit, score in zip(hits, scores(question, hits), strict=True):
            is_gold = hit.chunk.document_id.endswith(question["gold_passage"])
            (gold if is_gold else others).append(score)
    print(
        f"{name}: AUC {auc(gold, others):.3f}; graded relevant {count(gold)} of {len(gold)} gold "
        f"passages and {count(others)} of {len(others)} others"
    )


async def main() -> None:
    if not (root := os.environ.get("RAGWEAVE_DATA")):
        sys.exit("Set RAGWEAVE_DATA to the folder that holds demo, bench and cmrc2018.")
    data = Path(root)
    clapnq = [q for q in read(data / "bench/clapnq/questions.jsonl") if q["answerable"]]
    cmrc = read(data / "cmrc2018/public_trial.questions.jsonl")[::5]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        await demo(folder / "demo", data / "demo")
        await passages("clapnq", folder / "clapnq", data / "bench/clapnq/passages.jsonl", clapnq)
        texts = data / "cmrc2018/public_trial.passages.jsonl"
        await passages("cmrc2018", folder / "cmrc", texts, cmrc)


if __name__ == "__main__":
    asyncio.run(main())
