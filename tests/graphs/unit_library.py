"""An index with documents cut into chunks and grouped into retrieval units."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ragweave.indexing.split import split
from ragweave.indexing.unit_text import markup_of
from ragweave.models.embedding import embed_texts
from ragweave.models.tokens import token_counter
from ragweave.nodes.group_units import build_units
from ragweave.state.units import UnitsContext, UnitsReport
from ragweave.stores import open_index
from ragweave.stores.base import Chunk, DocumentRecord, Index, IndexSpec


async def make_documents(
    name: str,
    documents: Mapping[str, str],
    *,
    chunk_tokens: int = 128,
    overlap: int = 0,
    metadata: Mapping[str, Mapping[str, Any]] | None = None,
) -> Index:
    """An index of documents by path, embedded offline, without units."""
    index = await open_index(name)
    count = await token_counter()
    await index.ensure(IndexSpec(dimension=256, embeddings="offline"))
    chunks: list[Chunk] = []
    for path, text in documents.items():
        spans = await asyncio.to_thread(
            split, text, count, markup=markup_of(path), max_tokens=chunk_tokens, overlap=overlap
        )
        chunks += [
            Chunk(
                id=f"{path}#{span.start}",
                document_id=path,
                text=text[span.start : span.end],
                title=path,
                path=path,
                start=span.start,
                end=span.end,
            )
            for span in spans
        ]
    vectors = await embed_texts([chunk.text for chunk in chunks], embeddings="offline")
    embedded = zip(chunks, vectors, strict=True)
    await index.upsert([replace(chunk, vector=vector) for chunk, vector in embedded])
    await index.upsert_documents(
        [
            DocumentRecord(
                path, "h", path=path, title=path, metadata=(metadata or {}).get(path, {})
            )
            for path in documents
        ]
    )
    return index


async def group(index: Index, **settings: Any) -> UnitsReport:
    """Group the documents of an index."""
    return await build_units(index, UnitsContext(index=index.name, **settings))


async def units_of(index: Index) -> list[list[str]]:
    """The documents of each unit, units in the order of their first document."""
    units = [
        [part["document_id"] for part in parent.parts]
        async for page in index.scan_parents()
        for parent in page
    ]
    return sorted(units)
