"""What LangChain's own suites do not ask of the vector store and the retriever."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Awaitable, Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from blockbuster import BlockBuster
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from pydantic import ValidationError

from ragweave.models.offline.embeddings import OfflineEmbeddings
from ragweave.serving import aask
from ragweave.state.errors import (
    IndexFailure,
    IndexMissing,
    IndexSchemaMismatch,
    InvalidSetting,
    WriteFailed,
)
from ragweave.stores import open_index
from ragweave.stores.base import Chunk, IndexSpec, SearchSpec
from ragweave.stores.lance.index import LanceIndex
from ragweave.stores.langchain import RagweaveRetriever, RagweaveVectorStore
from ragweave.stores.registry import aclose_all
from ragweave.stores.retriever import RetrieverIndex

TEXTS = ["red apple", "red apples", "green pear", "blue whale"]


class Letters(Embeddings):
    """Counts letters: texts of the same letters are near each other."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return [0.1 + text.count(letter) for letter in "abdeghlnprw"]


@pytest.fixture
def name(tmp_path: Path) -> str:
    return f"lance:{tmp_path / 'index'}"


@pytest.fixture
def store(name: str) -> Iterator[RagweaveVectorStore]:
    with RagweaveVectorStore(name, Letters(), fields={"year": "int"}) as made:
        made.add_texts(
            TEXTS, [{"year": 2020 + number} for number in range(4)], ids=["a", "b", "c", "d"]
        )
        yield made


def ids(documents: list[Document]) -> list[str | None]:
    return [document.id for document in documents]


def test_scores_are_cosines_and_higher_is_better(store: RagweaveVectorStore) -> None:
    found = store.similarity_search_with_score("red apple", k=4)
    assert found[0][0].id == "a"
    assert found[0][1] == pytest.approx(1)
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    relevant = store.similarity_search_with_relevance_scores("red apple", score_threshold=0.99)
    assert [document.id for document, _ in relevant] == ["a", "b"]


def test_filters_and_modes(store: RagweaveVectorStore) -> None:
    late = store.similarity_search("pear", filter={"year": {"$gte": 2022}}, k=9)
    assert ids(late) == ["c", "d"]
    assert ids(store.similarity_search("whale", mode="keyword")) == ["d"]
    assert ids(store.similarity_search("green apple", mode="hybrid", alpha=0.5))[0] == "c"
    with pytest.raises(IndexSchemaMismatch, match="Cannot filter on 'colour'"):
        store.similarity_search("apple", filter={"colour": "red"})


WRONG_OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"mode": "fuzzy"}, 'There is no mode "fuzzy". There are: vector, keyword, hybrid.'),
    ({"mode": "Hybrid"}, 'There is no mode "Hybrid". Did you mean hybrid?'),
    ({"fusion": "xx"}, 'There is no fusion "xx". There are: relative, rrf.'),
    ({"alpha": 7}, "alpha must be a number from 0 to 1, not 7."),
    ({"alpha": float("nan")}, "alpha must be a number from 0 to 1, not nan."),
    ({"k": -3}, "k must be a whole number, 0 or more, not -3."),
    ({"k": "3"}, "k must be a whole number, 0 or more, not '3'."),
    ({"kk": 3}, 'There is no search option "kk". Did you mean k?'),
    ({"colour": "red"}, 'There is no search option "colour".'),
]


@pytest.mark.parametrize(("options", "complaint"), WRONG_OPTIONS)
async def test_what_no_search_knows_is_refused_by_every_method(
    tmp_path: Path, options: dict[str, Any], complaint: str
) -> None:
    """It gave the ranking by vectors, as if nothing had been asked for."""
    store = RagweaveVectorStore(f"lance:{tmp_path}", Letters())
    vector = Letters().embed_query("whale")
    methods: list[tuple[Callable[..., Any], Callable[..., Awaitable[Any]], Any]] = [
        (store.similarity_search, store.asimilarity_search, "whale"),
        (store.similarity_search_with_score, store.asimilarity_search_with_score, "whale"),
        (
            store.similarity_search_with_relevance_scores,
            store.asimilarity_search_with_relevance_scores,
            "whale",
        ),
        (store.similarity_search_by_vector, store.asimilarity_search_by_vector, vector),
        (store.max_marginal_relevance_search, store.amax_marginal_relevance_search, "whale"),
        (
            store.max_marginal_relevance_search_by_vector,
            store.amax_marginal_relevance_search_by_vector,
            vector,
        ),
    ]
    for search, asearch, query in methods:
        with pytest.raises(InvalidSetting) as refused:
            search(query, **options)
        assert str(refused.value).startswith(complaint)
        with pytest.raises(InvalidSetting) as refused:
            await asearch(query, **options)
        assert str(refused.value).startswith(complaint)


def test_numbers_of_a_search_at_their_ends(store: RagweaveVectorStore, name: str) -> None:
    assert store.similarity_search("whale", k=0) == []
    assert store.max_marginal_relevance_search("whale", k=0) == []
    assert ids(store.similarity_search("blue whale", mode="hybrid", alpha=1, k=1)) == ["d"]
    with pytest.raises(InvalidSetting, match="fetch_k must be a whole number"):
        store.max_marginal_relevance_search("whale", fetch_k=-1)
    with pytest.raises(InvalidSetting, match="lambda_mult must be a number from 0 to 1, not 2"):
        store.max_marginal_relevance_search("whale", lambda_mult=2)
    retriever = RagweaveRetriever(index=name, mode="keyword")
    with pytest.raises(InvalidSetting, match="k must be a whole number"):
        retriever.invoke("whale", k=-3)
    retriever.close()


def test_search_by_vector(store: RagweaveVectorStore) -> None:
    assert ids(store.similarity_search_by_vector(Letters().embed_query("blue whale"), k=1)) == ["d"]


async def test_the_same_asynchronously(name: str) -> None:
    embeddings = Letters()
    store = await RagweaveVectorStore.afrom_texts(TEXTS, embeddings, ids=list("abcd"), index=name)
    vector = embeddings.embed_query("blue whale")
    assert ids(await store.asimilarity_search_by_vector(vector, k=1)) == ["d"]
    assert ids(
        await store.amax_marginal_relevance_search("red apple", k=2, fetch_k=4, lambda_mult=0.1)
    ) == [
        "a",
        "d",
    ]
    found = await store.asimilarity_search_with_relevance_scores("red apple", k=1)
    assert found[0][1] == pytest.approx(1)
    await asyncio.to_thread(store.close)


def test_marginal_relevance_leaves_out_what_is_alike(store: RagweaveVectorStore) -> None:
    assert ids(store.similarity_search("red apple", k=2)) == ["a", "b"]
    assert ids(
        store.max_marginal_relevance_search("red apple", k=2, fetch_k=4, lambda_mult=0.1)
    ) == ["a", "d"]
    assert ids(store.max_marginal_relevance_search("red apple", 2, 4, lambda_mult=1)) == ["a", "b"]


def test_as_a_retriever_of_langchains_own(store: RagweaveVectorStore) -> None:
    retriever = store.as_retriever(search_kwargs={"k": 1, "filter": {"year": 2023}})
    assert ids(retriever.invoke("apple")) == ["d"]


def test_from_documents(name: str) -> None:
    documents = [Document(page_content=text, metadata={"source": "s"}) for text in TEXTS]
    with RagweaveVectorStore.from_documents(documents, Letters(), index=name) as store:
        assert len(store.similarity_search("apple", k=9)) == 4


def test_metadata_that_json_cannot_hold_is_refused_by_key(store: RagweaveVectorStore) -> None:
    with pytest.raises(WriteFailed, match=r"metadata\['when'\] is of type date"):
        store.add_texts(["text"], [{"when": date(2024, 1, 1)}])


def test_delete_of_everything(store: RagweaveVectorStore) -> None:
    assert store.delete() is True
    assert store.similarity_search("apple") == []


async def test_sync_methods_work_where_a_loop_runs(
    name: str, no_blocking_calls: BlockBuster
) -> None:
    no_blocking_calls.deactivate()  # they block it, as in a notebook
    with RagweaveVectorStore(name, Letters()) as store:
        store.add_texts(["red apple"], ids=["a"])
        assert ids(store.similarity_search("apple")) == ["a"]


async def test_what_ingest_knows_of_a_chunk_is_in_the_metadata(name: str) -> None:
    index = await open_index(name)
    await index.ensure(IndexSpec(11, "Letters"))
    vector = Letters().embed_query("red apple")
    await index.upsert(
        [Chunk("a", "doc", "red apple", vector, title="Fruit", path="f.md", metadata={"x": 1})]
    )
    store = RagweaveVectorStore(name, Letters())
    [document] = await store.aget_by_ids(["a"])
    assert document.metadata == {"x": 1, "document_id": "doc", "title": "Fruit", "path": "f.md"}
    await asyncio.to_thread(store.close)
    await aclose_all()


def test_graphs_search_what_the_store_wrote(store: RagweaveVectorStore, name: str) -> None:
    async def search() -> list[str]:
        index = await open_index(name)
        hits = await index.search(SearchSpec(text="whale", mode="keyword"))
        spec = await index.spec()
        assert spec is not None
        assert (spec.embeddings, spec.fields) == ("Letters", {"year": "int"})
        await aclose_all()
        return [hit.chunk.id for hit in hits]

    assert asyncio.run(search()) == ["d"]


def test_other_embeddings_are_noticed(store: RagweaveVectorStore, name: str) -> None:
    with (
        RagweaveVectorStore(name, Letters(), embeddings_name="openai:m") as other,
        pytest.raises(IndexSchemaMismatch, match="holds vectors of 'Letters', not 'openai:m'"),
    ):
        other.add_texts(["text"])


@pytest.mark.parametrize("named", ["offline", None])
async def test_questions_are_asked_of_what_offline_embeddings_made(
    name: str, named: str | None
) -> None:
    store = RagweaveVectorStore(name, OfflineEmbeddings())
    await store.aadd_texts(["The blue whale is the largest animal."])
    await asyncio.to_thread(store.close)
    answer = await aask("Which animal is the largest?", index=name, embeddings=named)
    assert "blue whale" in answer["answer"]
    await aclose_all()


async def test_what_helps_with_embeddings_of_ones_own_is_said(
    store: RagweaveVectorStore, name: str
) -> None:
    assert store.embeddings
    with pytest.raises(IndexSchemaMismatch, match=r"'Letters', not 'offline'.*embeddings_name="):
        await aask("Which animal is the largest?", index=name, embeddings="offline")
    with pytest.raises(InvalidSetting, match=r'no embeddings "Letters".*models\.register.*_name='):
        await aask("Which animal is the largest?", index=name)
    await aclose_all()


def test_an_index_object_is_used_as_it_is(tmp_path: Path) -> None:
    index = LanceIndex(tmp_path / "index")
    with RagweaveVectorStore(index, Letters()) as store:
        store.add_texts(["red apple"], ids=["a"])
    assert asyncio.run(index.count()) == 1


def test_retriever(store: RagweaveVectorStore, name: str) -> None:
    retriever = RagweaveRetriever(index=name, embeddings=Letters(), k=2, filters={"year": 2022})
    [document] = retriever.invoke("green pear")
    assert document.metadata == {"year": 2022, "score": 1.0, "score_kind": "relative"}
    retriever.close()
    words = RagweaveRetriever(index=name, mode="keyword")
    assert ids(words.invoke("whale")) == ["d"]
    words.close()


async def test_an_index_that_is_not_there_is_not_one_without_answers(
    store: RagweaveVectorStore, name: str
) -> None:
    there = RagweaveRetriever(index=name, mode="keyword")
    assert await there.ainvoke("zebra") == []
    missing = RagweaveRetriever(index=f"{name}x", mode="keyword")
    with pytest.raises(IndexMissing, match=f"There is no index at {name}x. Make it with"):
        await asyncio.to_thread(missing.invoke, "whale")
    with pytest.raises(IndexMissing, match="ragweave ingest PATH"):
        await missing.ainvoke("whale")
    nobodys = RagweaveRetriever(index=f"{name}x", mode="keyword", tenant="nobody")
    with pytest.raises(IndexMissing, match=r'\(tenant "nobody"\).* --tenant nobody`'):
        await nobodys.ainvoke("whale")
    for retriever in (there, missing, nobodys):
        await asyncio.to_thread(retriever.close)


def test_settings_of_the_retriever_are_not_passed_over(name: str) -> None:
    """A misspelt setting looked like one that works."""
    with pytest.raises(ValidationError, match="treshold"):
        RagweaveRetriever(index=name, embeddings=Letters(), score_treshold=0.5)  # type: ignore[call-arg]
    with pytest.raises(ValidationError, match="give embeddings too"):
        RagweaveRetriever(index=name, mode="keyword", score_threshold=0.5)


async def test_a_threshold_holds_for_the_asynchronous_methods(store: RagweaveVectorStore) -> None:
    found = await store.asimilarity_search_with_relevance_scores(
        "red apple", mode="hybrid", score_threshold=0.99
    )
    assert [(document.id, score > 0.99) for document, score in found] == [("a", True), ("b", True)]
    retriever = store.as_retriever(
        search_type="similarity_score_threshold",
        search_kwargs={"score_threshold": 0.99, "mode": "keyword"},
    )
    assert ids(await retriever.ainvoke("apple pear")) == []


def test_a_retriever_of_others_has_no_relevance(store: RagweaveVectorStore) -> None:
    """Its scores may mean anything, and it gives no vectors to tell by."""
    index = RetrieverIndex(store.as_retriever())
    with (
        RagweaveVectorStore(index, Letters()) as other,
        pytest.raises(IndexFailure, match="no vectors to tell relevance by"),
    ):
        other.similarity_search_with_relevance_scores("apple")


def test_threads_end_with_their_owner(name: str) -> None:
    def threads() -> int:
        return sum(thread.name == "ragweave-index" for thread in threading.enumerate())

    before = threads()
    store = RagweaveVectorStore(name, Letters())
    retriever = RagweaveRetriever(index=name, mode="keyword")
    assert threads() == before
    store.add_texts(["red apple"])
    assert retriever.invoke("apple")
    assert threads() == before + 2
    store.close()
    store.close()
    assert threads() == before + 1
    assert store.similarity_search("apple")
    del store, retriever
    gc.collect()
    assert threads() == before
