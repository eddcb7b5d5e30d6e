"""What the graphs' tests share: a small index on disk, and a run with its events."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from ragweave.models.embedding import embed_texts
from ragweave.stores import open_index
from ragweave.stores.base import Chunk, DocumentRecord, IndexSpec

Library = Callable[..., Awaitable[str]]


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """Make an index of some texts, embedded offline; its name is what a context calls `index`."""

    async def make(texts: Sequence[str], *, folder: str = "index") -> str:
        name = f"lance:{tmp_path / folder}"
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
