"""A LangChain retriever behind the index contract: every row of the table in docs/stores.md."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from ragweave.state.errors import (
    IndexFailure,
    IndexSchemaMismatch,
    IndexTimeout,
    IndexUnavailable,
    InvalidSetting,
)
from ragweave.stores.base import Chunk, DocumentRecord, Index, IndexSpec, Parent, SearchSpec
from ragweave.stores.retriever import RetrieverIndex


class Library(BaseRetriever):
    """Answers every query with the same documents, or whatever `then` does."""

    documents: list[Document]
    queries: list[str]
    then: Callable[[], Any] | None = None

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        self.queries.append(query)
        if self.then:
            self.then()
        return self.documents


def library(*documents: Document, **more: Any) -> Library:
    return Library(documents=list(documents), queries=[], **more)


def test_it_is_an_index() -> None:
    assert isinstance(RetrieverIndex(library()), Index)


async def test_documents_become_chunks() -> None:
    metadata = {"title": "A title", "source": "docs/a.md", "page": 3, "deep": {"x": [1]}}
    index = RetrieverIndex(library(Document(id="a", page_content="text", metadata=metadata)))
    [hit] = await index.search(SearchSpec(text="question", k=5))
    assert hit.chunk == Chunk(
        id="a",
        document_id="docs/a.md",
        text="text",
        title="A title",
        path="docs/a.md",
        page=3,
        metadata=metadata,
    )
    assert (hit.kind, hit.rank, hit.score) == ("retriever", 1, 1.0)
    assert await index.get(["a", "unknown"]) == [hit.chunk]


async def test_ids_are_made_from_source_and_text() -> None:
    documents = [
        Document(page_content="same", metadata={"source": "a"}),
        Document(page_content="same", metadata={"source": "b"}),
        Document(page_content="same", metadata={"source": "a", "score": 0.1}),
        Document(page_content="other", metadata={"source": "a"}),
    ]
    index = RetrieverIndex(library(*documents))
    first, second = await index.search_many([SearchSpec(text="x"), SearchSpec(text="y")])
    ids = [hit.chunk.id for hit in first]
    assert ids == [hit.chunk.id for hit in second]
    assert len(ids) == len(set(ids)) == 3
    assert [hit.rank for hit in first] == [1, 2, 3]


@pytest.mark.parametrize("mode", ["vector", "keyword", "hybrid"])
async def test_every_mode_asks_with_the_text(mode: Any) -> None:
    retriever = library(Document(page_content="text"))
    spec = SearchSpec(text="question", vector=[1.0], mode=mode, group_by_parent=True)
    assert len(await RetrieverIndex(retriever).search(spec)) == 1
    assert retriever.queries == ["question"]


async def test_k_and_the_retrievers_own_order_and_scores() -> None:
    documents = [
        Document(page_content="first", metadata={"score": 0.3}),
        Document(page_content="second", metadata={"relevance_score": 0.9}),
        Document(page_content="third"),
    ]
    index = RetrieverIndex(library(*documents))
    hits = await index.search(SearchSpec(text="question", k=3))
    assert [(hit.chunk.text, hit.score) for hit in hits] == [
        ("first", 0.3),
        ("second", 0.9),
        ("third", 1 / 3),
    ]
    assert len(await index.search(SearchSpec(text="question", k=2))) == 2
    assert await index.search(SearchSpec(text="question", k=0)) == []


async def test_filters_are_refused() -> None:
    with pytest.raises(IndexSchemaMismatch, match=r"cannot filter\. Leave the filters out"):
        await RetrieverIndex(library()).search(SearchSpec(text="a", filters={"year": 1}))


async def test_a_search_without_text_is_refused() -> None:
    for text in (None, ""):
        with pytest.raises(InvalidSetting, match="needs a text"):
            await RetrieverIndex(library()).search(SearchSpec(text=text, vector=[1.0]))


async def test_it_cannot_be_written_to() -> None:
    index = RetrieverIndex(library(), name="mine")
    for call in (
        index.ensure(IndexSpec(1, "test")),
        index.upsert([]),
        index.upsert_parents([Parent("p", "text")]),
        index.upsert_documents([DocumentRecord("d", "hash")]),
        index.delete(ids=["a"]),
        index.delete_documents(["d"]),
        index.delete_parents(),
    ):
        with pytest.raises(IndexFailure, match="mine is a LangChain retriever and cannot be wri"):
            await call


async def test_it_cannot_list_what_it_holds() -> None:
    index = RetrieverIndex(library())
    for call in (
        index.count(),
        anext(index.scan()),
        anext(index.scan_parents()),
        anext(index.documents()),
        anext(index.chunks_of(["d"])),
    ):
        with pytest.raises(IndexFailure, match="cannot list what it holds"):
            await call


async def test_what_it_does_not_have_is_empty() -> None:
    index = RetrieverIndex(library())
    assert await index.spec() == IndexSpec(dimension=0, embeddings="")
    assert await index.parents(["p"]) == []
    assert await index.get_documents(["d"]) == []
    await index.optimize()
    await index.aclose()
    assert await index.ping() == "LangChain retriever Library"


async def test_whatever_a_retriever_raises_is_an_index_error() -> None:
    def fail() -> None:
        raise KeyError("secret")

    with pytest.raises(IndexUnavailable, match="mine failed: KeyError: 'secret'") as caught:
        await RetrieverIndex(library(then=fail), name="mine").search(SearchSpec(text="a"))
    assert isinstance(caught.value.__cause__, KeyError)


async def test_a_retriever_has_a_deadline() -> None:
    class Slow(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
            return []

        async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
            await asyncio.sleep(60)

    with pytest.raises(IndexTimeout, match=r"did not answer within 0\.01 s"):
        await RetrieverIndex(Slow(), timeout=0.01).search(SearchSpec(text="a"))


async def test_it_remembers_a_bounded_number_of_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragweave.stores.retriever._REMEMBERED", 2)
    index = RetrieverIndex(library(*(Document(id=id, page_content=id) for id in "abc")))
    await index.search(SearchSpec(text="x"))
    assert [chunk.id for chunk in await index.get(["a", "b", "c"])] == ["b", "c"]
