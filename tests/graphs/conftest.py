"""What the graphs' tests share: a small index on disk, and a run with its events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ragweave.graphs.ingest import graph as ingest
from ragweave.models import attempts
from ragweave.models.embedding import embed_texts
from ragweave.state.ingest import IngestContext
from ragweave.stores import open_index
from ragweave.stores.base import Chunk, DocumentRecord, IndexSpec
from ragweave.stores.registry import aclose_all
from tests.graphs.drift_script import DriftScript
from tests.servers import OpenAIStub
from tests.stores.backends import BACKENDS, IndexString

Library = Callable[..., Awaitable[str]]


FAST_AND_SLOW_BACKENDS = [
    "lance",
    pytest.param("weaviate_double", marks=pytest.mark.slow),
    pytest.param("weaviate_live", marks=pytest.mark.slow),
]


@pytest.fixture(params=FAST_AND_SLOW_BACKENDS)
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[IndexString]:
    """A store of each kind."""
    with BACKENDS[request.param](tmp_path) as string:
        yield string


@pytest.fixture
async def index_string(backend: IndexString) -> AsyncIterator[IndexString]:
    """Gives the string of an index on each backend, by a name; what was opened is closed."""
    yield backend
    await aclose_all()


@pytest.fixture
def library(index_string: IndexString) -> Library:
    """Make an index of some texts, embedded offline; its name is what a context calls `index`."""

    async def make(texts: Sequence[str], *, folder: str = "index") -> str:
        name = index_string(folder)
        index = await open_index(name)
        vectors = await embed_texts(texts, embeddings="offline")
        await index.ensure(IndexSpec(dimension=len(vectors[0]), embeddings="offline"))
        pairs = enumerate(zip(texts, vectors, strict=True), 1)
        chunks = [
            Chunk(
                id=f"d{number}#1",
                document_id=f"d{number}",
                text=text,
                vector=vector,
                title=f"Document {number}",
                path=f"d{number}.txt",
                start=0,
                end=len(text),
            )
            for number, (text, vector) in pairs
        ]
        await index.upsert(chunks)
        await index.upsert_documents([DocumentRecord(c.document_id, "h", chunks=1) for c in chunks])
        return name

    return make


@pytest.fixture
def script(openai_stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch) -> DriftScript:
    """A model's behaviour in a DRIFT search, to be changed by a test."""
    monkeypatch.setattr(attempts, "_backoff", lambda state: 0)
    script = DriftScript()
    openai_stub.script = script
    return script


@pytest.fixture
def dulce(data: Path) -> dict[str, Any]:
    """Settings for a DRIFT search of the small real graph."""
    return {
        "index": f"graphrag:{data / 'graphrag/dulce'}",
        "model": "openai:stub",
        "embeddings": "offline",
        "similar_above": 1,
        "stop_when_flat": False,
        "local_search_max_data_tokens": 2_000,
    }


@pytest.fixture(scope="session")
def demo_index(data: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The demo corpus (PEPs, A Christmas Carol, two statutes by article), ingested as it is."""
    name = f"lance:{tmp_path_factory.mktemp('demo') / 'index'}"
    demo = data / "demo"
    articles = sorted(demo.glob("law_zh/*.articles.jsonl"))
    paths = [str(path) for path in (demo / "peps", demo / "christmas_carol.txt", *articles)]

    async def make() -> list[Any]:
        report = await ingest.ainvoke({"paths": paths}, context=IngestContext(index=name))
        return list(report["failed"])

    assert asyncio.run(make()) == []
    return name
