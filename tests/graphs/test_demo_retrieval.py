"""The demo corpus, ingested and searched with the offline defaults as a user would do it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from ragweave.graphs.ingest import graph
from ragweave.models.embedding import embed_query
from ragweave.stores import open_index
from ragweave.stores.base import SearchSpec

PEPS, ARTICLES = 23, 380


@pytest.fixture(scope="module")
def demo(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    """An index of PEPs, A Christmas Carol and two statutes by article, and ingest's report."""
    folder = data / "demo"
    laws = sorted((folder / "law_zh").glob("*.articles.jsonl"))
    paths = [str(path) for path in (folder / "peps", folder / "christmas_carol.txt", *laws)]
    index = f"lance:{tmp_path_factory.mktemp('demo')}/index"
    context: Any = {"index": index}
    return index, asyncio.run(graph.ainvoke({"paths": paths}, context=context))


def questions(data: Path) -> list[dict[str, Any]]:
    lines = (data / "demo" / "questions.jsonl").read_text("utf-8").splitlines()
    return [question for line in lines if (question := json.loads(line))["gold_docs"]]


async def search(index: str, question: str) -> list[str]:
    """Documents of the first five hits."""
    vector = await embed_query(question, embeddings="offline")
    opened = await open_index(index)
    hits = await opened.search(SearchSpec(text=question, vector=vector, k=5))
    return [hit.chunk.document_id for hit in hits]


def found(gold: str, documents: list[str]) -> bool:
    return any(document.endswith(gold.removeprefix("law_zh/")) for document in documents)


def test_every_document_is_ingested(demo: tuple[str, dict[str, Any]]) -> None:
    _, report = demo
    assert report["failed"] == []
    assert report["added"] == PEPS + 1 + ARTICLES
    assert report["chunks"] == asyncio.run(count(demo[0]))


async def count(index: str) -> int:
    return await (await open_index(index)).count()


def test_every_article_is_one_chunk(demo: tuple[str, dict[str, Any]]) -> None:
    async def chunks() -> list[int]:
        opened = await open_index(demo[0])
        return [r.chunks async for r in opened.documents() if str(r.path).endswith(".jsonl")]

    assert asyncio.run(chunks()) == [1] * ARTICLES


async def missed(index: str, asked: list[dict[str, Any]]) -> list[str]:
    """Questions whose gold documents are not found; of two articles both are needed."""
    failed = []
    for question in asked:
        documents = await search(index, question["question"])
        needed = any if question["lang"] == "en" else all
        if not needed(found(gold, documents) for gold in question["gold_docs"]):
            failed.append(question["id"])
    return failed


@pytest.mark.parametrize(("language", "number"), [("en", 24), ("zh", 9)])
def test_gold_documents_are_among_the_first_five_hits(
    data: Path, demo: tuple[str, dict[str, Any]], language: str, number: int
) -> None:
    asked = [question for question in questions(data) if question["lang"] == language]
    assert len(asked) == number
    assert asyncio.run(missed(demo[0], asked)) == []
