"""Copying indexes between stores: whole, again, after changes, and after an interruption."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragweave.serving.copying import acopy
from ragweave.state.errors import (
    IndexMissing,
    IndexSchemaMismatch,
    IndexUnavailable,
    InvalidSetting,
)
from ragweave.stores.base import Chunk, DocumentRecord, Index, IndexSpec, Parent, SearchSpec
from ragweave.stores.copy import copy_index
from ragweave.stores.registry import aclose_all, open_index
from tests.stores.backends import BACKENDS
from tests.weaviate_fixtures import NewIndex

SPEC = IndexSpec(dimension=2, embeddings="test", fields={"year": "int"})
DOCUMENTS, CHUNKS_EACH = 12, 3
WAYS = [
    ("lance", "weaviate_double"),
    ("weaviate_double", "lance"),
    ("lance", "weaviate_live"),
    ("weaviate_live", "lance"),
]


@pytest.fixture(params=WAYS, ids=["-to-".join(way) for way in WAYS])
def names(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Names of a source and of a target, on different stores."""
    with ExitStack() as stack:
        one, other = (stack.enter_context(BACKENDS[kind](tmp_path)) for kind in request.param)
        yield one("source"), other("target")


@pytest.fixture
async def indexes(names: tuple[str, str]) -> AsyncIterator[tuple[Index, Index]]:
    """A source with chunks, documents and parents, and a target that does not exist."""
    source, target = [await open_index(name) for name in names]
    await source.ensure(SPEC)
    await source.upsert_parents([Parent("p", "all of it", "Title", [{"document_id": "d0"}])])
    for number in range(DOCUMENTS):
        await write_document(source, number)
    await source.upsert([chunk("alone", "no document")])  # as LangChain's vector stores write
    yield source, target
    await aclose_all()


def chunk(id: str, document: str, at: int = 0, **values: Any) -> Chunk:
    given = {
        "text": f"Chunk {at} of {document} 文本",
        "vector": [0.1, float(at + 1)],
        "title": "T",
        "path": f"{document}.md",
        "page": 1,
        "start": at,
        "end": at + 1,
        "content_hash": "h",
        "metadata": {"year": 2000 + at, "any": [{"a.b": None}]},
        **values,
    }
    return Chunk(id=id, document_id=document, **given)


async def write_document(index: Index, number: int, *, chunks: int = CHUNKS_EACH) -> None:
    document = f"d{number}"
    parent = "p" if number == 0 else None
    await index.upsert(
        [chunk(f"{document}#{at}", document, at, parent_id=parent) for at in range(chunks)]
    )
    await index.upsert_documents(
        [DocumentRecord(document, f"{chunks}", f"{document}.md", "T", None, chunks, {"k": 1})]
    )


async def content(index: Index) -> Any:
    """All that an index holds."""
    chunks = [item async for page in index.scan() for item in page]
    parents = [item async for page in index.scan_parents() for item in page]
    return (
        await index.spec(),
        chunks,
        [replace(parent, parts=[*parent.parts]) for parent in parents],
        [document async for document in index.documents()],
    )


async def test_a_copy_holds_the_same_and_finds_the_same(indexes: tuple[Index, Index]) -> None:
    source, target = indexes
    seen: list[tuple[int, int]] = []

    copied = await copy_index(source, target, on_progress=lambda *now: seen.append(now))

    assert await content(target) == await content(source)
    total = DOCUMENTS * CHUNKS_EACH + 1
    assert (copied.documents, copied.chunks, copied.parents) == (DOCUMENTS, total, 1)
    assert seen == sorted(seen)
    assert seen[-1] == (total, total)
    query = SearchSpec(text="文本", vector=[0.1, 2.0], k=50, filters={"year": 2001})
    found = [[hit.chunk.id for hit in await index.search(query)] for index in indexes]
    assert len(found[0]) == DOCUMENTS
    assert set(found[0]) == set(found[1])


async def test_a_second_copy_writes_nothing(indexes: tuple[Index, Index]) -> None:
    source, target = indexes
    await copy_index(source, target)

    copied = await copy_index(source, target)

    assert (copied.documents, copied.chunks, copied.parents) == (0, 0, 0)
    assert copied.unchanged == DOCUMENTS + 1


async def test_a_later_copy_brings_what_changed(indexes: tuple[Index, Index]) -> None:
    source, target = indexes
    await copy_index(source, target)
    await target.upsert([chunk("mine", "another")])
    await source.delete_documents(["d3"])
    await write_document(source, 3, chunks=1)
    (regrouped,) = await source.get(["d5#0"], vectors=True)
    await source.upsert([replace(regrouped, parent_id="p")])

    copied = await copy_index(source, target)

    assert (copied.documents, copied.chunks) == (1, 2)
    assert (await target.get(["d5#0"]))[0].parent_id == "p"
    assert await target.get(["d3#1"]) == []
    assert await target.count() == await source.count() + 1
    assert await target.get(["mine"])


async def test_a_copy_cut_short_goes_on(
    indexes: tuple[Index, Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragweave.stores.copy._DOCUMENTS_AT_ONCE", 4)
    monkeypatch.setattr("ragweave.stores.copy._CHUNKS_PER_WRITE", 5)
    source, target = indexes
    upsert, sizes = target.upsert, list[int]()

    async def cut_short(chunks: Sequence[Chunk]) -> Any:
        sizes.append(len(chunks))
        if len(sizes) == 5:
            raise IndexUnavailable("gone")
        return await upsert(chunks)

    monkeypatch.setattr(target, "upsert", cut_short)
    with pytest.raises(IndexUnavailable):
        await copy_index(source, target)
    assert max(sizes) == 5
    monkeypatch.setattr(target, "upsert", upsert)

    copied = await copy_index(source, target)

    assert copied.documents == DOCUMENTS - 4  # the first group was whole
    assert await content(target) == await content(source)


async def test_a_target_made_for_something_else_is_refused(indexes: tuple[Index, Index]) -> None:
    source, target = indexes
    await target.ensure(IndexSpec(dimension=2, embeddings="other"))

    with pytest.raises(IndexSchemaMismatch, match="'other', not 'test'"):
        await copy_index(source, target)
    with pytest.raises(IndexSchemaMismatch, match="made with embeddings 'test'"):
        await copy_index(source, target, embeddings="other")


async def test_there_must_be_a_source(names: tuple[str, str]) -> None:
    source, target = names

    with pytest.raises(IndexMissing, match="nothing to copy"):
        await acopy(source, target)
    with pytest.raises(InvalidSetting, match="to itself"):
        await acopy(source, source)
    assert await (await open_index(target)).spec() is None
    await aclose_all()


async def test_a_tenant_becomes_another_of_another_store(
    new_index: NewIndex, tmp_path: Path
) -> None:
    name = new_index()
    source = await open_index(f"lance:{tmp_path / 'a'}", tenant="acme")
    await source.ensure(SPEC)
    await write_document(source, 1)

    report = await acopy(source.name, name, from_tenant="acme", to_tenant="globex")

    target = await open_index(name, tenant="globex")
    assert await content(target) == await content(source)
    assert (report["chunks"], report["graph"]) == (CHUNKS_EACH, None)
    with pytest.raises(IndexSchemaMismatch, match="name one"):
        await acopy(source.name, name, from_tenant="acme")
    await aclose_all()
