"""What users of other Weaviate integrations reported, and what happens here instead."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from datetime import date
from typing import Any, ClassVar

import grpc
import pytest
from blockbuster import BlockBuster
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings

from ragweave.state.errors import IndexTimeout, WriteFailed
from ragweave.stores.base import Chunk, IndexSpec, SearchMode, SearchSpec
from ragweave.stores.langchain import RagweaveRetriever, RagweaveVectorStore
from ragweave.stores.weaviate.index import WeaviateIndex
from tests.weaviate_double import Fault, WeaviateDouble
from tests.weaviate_fixtures import NewIndex

SPEC = IndexSpec(dimension=2, embeddings="test", fields={"word": "text"})


def chunk(id: str, **values: object) -> Chunk:
    given = {"document_id": "d", "text": f"text of {id}", "vector": [1.0, 2.0], **values}
    return Chunk(id=id, **given)  # type: ignore[arg-type]


async def opened(string: str, **options: str) -> WeaviateIndex:
    index = WeaviateIndex.from_url(string, **options)
    await index.ensure(SPEC)
    return index


async def test_a_failed_write_is_an_error_not_a_line_in_a_log(new_index: NewIndex) -> None:
    """A vector store logged the objects that failed, and returned their ids as if stored
    (langchain#35572, langchain-weaviate PR#261); millions of objects of a wrong type went nowhere
    without a word (weaviate-python-client#885)."""
    index = await opened(new_index())
    with pytest.raises(WriteFailed) as raised:
        await index.upsert([chunk("a"), chunk("b", vector=[1.0]), chunk("c")])
    assert list(raised.value.failed) == ["b"]
    assert [found.id for found in await index.get(["a", "b", "c"])] == ["a", "c"]
    await index.aclose()


@pytest.mark.parametrize("carried_out", [False, True])
async def test_a_batch_whose_deadline_passed_is_written_again(
    weaviate_double: WeaviateDouble, carried_out: bool
) -> None:
    """A batch met DEADLINE_EXCEEDED and ended the run (weaviate#8017). Here it is sent again, and
    as ids are fixed it does not matter whether the server had stored it after all."""
    index = await opened(weaviate_double.url)
    late = Fault(code=grpc.StatusCode.DEADLINE_EXCEEDED, carried_out=carried_out)
    weaviate_double.fail("BatchObjects", late)
    assert (await index.upsert([chunk(str(at)) for at in range(300)])).ok == 300
    assert await index.count() == 300
    assert len(weaviate_double.calls_of("BatchObjects")) == 3
    await index.aclose()


@pytest.mark.parametrize("carried_out", [False, True])
async def test_a_write_whose_deadlines_all_pass_says_so_and_can_be_repeated(
    weaviate_double: WeaviateDouble, carried_out: bool
) -> None:
    """The error was that of a library of a library, and left open what was stored
    (weaviate#8017)."""
    index = await opened(f"{weaviate_double.url}&write_timeout=1")
    late = Fault(code=grpc.StatusCode.DEADLINE_EXCEEDED, carried_out=carried_out)
    weaviate_double.fail("BatchObjects", late, times=2)
    with pytest.raises(IndexTimeout, match="write_timeout="):
        await index.upsert([chunk("a"), chunk("b")])
    assert (await index.upsert([chunk("a"), chunk("b")])).ok == 2
    assert await index.count() == 2
    await index.aclose()


@pytest.mark.parametrize("first", ["2024-01-01T00:00:00Z", "0d1ca4a5-8a3e-4a8e-8b06-27a8a3b5f6a2"])
async def test_a_string_that_looks_like_a_date_does_not_lose_the_next(
    new_index: NewIndex, first: str
) -> None:
    """A guessed schema made a date of the first value, and refused every later text; the same of
    a UUID (unstructured-ingest PR#710)."""
    index = await opened(new_index())
    values = [first, "12", "not a date", "2024-01-01", "0d1ca4a5-8a3e-4a8e-8b06-27a8a3b5f6a3"]
    await index.upsert(
        [chunk(str(at), metadata={"word": value}) for at, value in enumerate(values)]
    )
    found = await index.get([str(at) for at in range(len(values))])
    assert [item.metadata["word"] for item in found] == values
    await index.aclose()


async def test_metadata_of_any_shape_comes_back(new_index: NewIndex) -> None:
    """Keys with spaces or dots (llama_index#14504), `id` (weaviate-python-client#600), `vector`
    and nested values (docling-langchain#18) failed or overwrote the text."""
    index = await opened(new_index())
    metadata = {
        "id": 1,
        "header 1": "x",
        "a.b": {"$ref": 1},
        "vector": [1],
        "text": "OVERWRITE",
        "n": 2**53 + 1,
        "z": None,
        "empty": [],
        "": {"": []},
    }
    await index.upsert([chunk("a", metadata=metadata)])
    (found,) = await index.get(["a"], vectors=True)
    assert (found.text, found.vector, found.metadata) == ("text of a", [1.0, 2.0], metadata)
    await index.aclose()


@pytest.mark.parametrize("value", [date(2024, 1, 1), {1}, (1,), math.nan, b"x"])
async def test_metadata_that_json_cannot_hold_is_refused_by_key(
    value: object, new_index: NewIndex
) -> None:
    index = await opened(new_index())
    with pytest.raises(WriteFailed, match="the_key"):
        await index.upsert([chunk("a", metadata={"the_key": value})])
    await index.aclose()


async def test_filtering_by_a_stop_word_finds_it(new_index: NewIndex) -> None:
    """Text compared whole went through the stop words, and the server refused the query
    (weaviate#9054)."""
    index = await opened(new_index())
    await index.upsert([chunk("a", metadata={"word": "the"}), chunk("b")])
    query = SearchSpec(vector=[1.0, 2.0], mode="vector", filters={"word": "the"})
    assert [hit.chunk.id for hit in await index.search(query)] == ["a"]
    await index.aclose()


async def test_deleting_a_document_deletes_its_chunks(new_index: NewIndex) -> None:
    """Ids of the application were taken for ids of the server: nothing was deleted, the 404 was
    swallowed, and orphans filled the results (dify#40457)."""
    index = await opened(new_index())
    await index.upsert([chunk("a"), chunk("b", document_id="e")])
    await index.delete_documents(["d"])
    assert await index.count() == 1
    await index.delete(ids=["b"])
    assert await index.count() == 0
    await index.aclose()


@pytest.mark.parametrize("mode", ["vector", "keyword", "hybrid"])
@pytest.mark.parametrize("by_parent", [False, True])
async def test_a_better_hit_has_a_higher_score(
    new_index: NewIndex, mode: Any, by_parent: bool
) -> None:
    """A hybrid score was taken for a distance, so that the best hit scored lowest
    (llama_index#14728); grouped hits had no score at all (typescript-client#192)."""
    index = await opened(new_index())
    texts = ["a red fox", "a fox, a fox", "a hen and a fox in a long text of other things"]
    await index.upsert(
        [
            chunk(str(at), text=text, vector=[1.0, float(at)], parent_id=f"p{at}")
            for at, text in enumerate(texts)
        ]
    )
    query = SearchSpec(
        text="red fox", vector=[1.0, 0.0], mode=mode, alpha=0.5, group_by_parent=by_parent
    )
    hits = await index.search(query)
    assert [hit.rank for hit in hits] == [1, 2, 3]
    assert hits[0].chunk.id == "0"
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > scores[-1]
    await index.aclose()


async def test_a_relative_score_is_not_taken_for_relevance(new_index: NewIndex) -> None:
    """The first hit of a hybrid search scores 1 and the last 0 whatever was asked, which looked
    like a perfect match (llama_index#19481): the score says what it is, and a cosine can be had."""
    index = await opened(new_index())
    await index.upsert([chunk("a", vector=[1.0, 0.1]), chunk("b", vector=[1.0, 0.2])])
    unrelated = SearchSpec(text="nothing of it", vector=[-0.1, 1.0], alpha=1.0)
    hybrid = await index.search(unrelated)
    assert [(hit.score, hit.kind) for hit in hybrid] == [(1.0, "relative"), (0.0, "relative")]
    cosines = await index.search(replace(unrelated, mode="vector"))
    assert {hit.kind for hit in cosines} == {"cosine"}
    assert all(abs(hit.score) < 0.2 for hit in cosines)
    await index.aclose()


class Directions(Embeddings):
    """Vectors of a few known texts."""

    KNOWN: ClassVar = {
        "a red fox": [1.0, 0.1],
        "a red fox of the card game": [0.6, 0.8],
        "a hen": [0.1, 1.0],
        "red fox": [1.0, 0.0],
        "whale": [0.0, -1.0],
    }

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.KNOWN[text]


@pytest.mark.parametrize("mode", ["vector", "keyword", "hybrid"])
def test_a_score_threshold_means_the_same_in_every_search(
    new_index: NewIndex, mode: SearchMode
) -> None:
    """Hybrid search had no threshold of similarity, and its own scores cannot serve as one
    (langchain-weaviate#204)."""
    string, embeddings = new_index(), Directions()
    texts = ["a red fox", "a red fox of the card game", "a hen"]
    with RagweaveVectorStore.from_texts(texts, embeddings, index=string) as store:

        def found(question: str, threshold: float) -> list[str]:
            theirs = store.as_retriever(
                search_type="similarity_score_threshold",
                search_kwargs={"score_threshold": threshold, "mode": mode},
            )
            ours = RagweaveRetriever(
                index=string, embeddings=embeddings, mode=mode, score_threshold=threshold
            )
            answers = [
                [document.page_content for document in retriever.invoke(question)]
                for retriever in (theirs, ours)
            ]
            ours.close()
            assert answers[0] == answers[1]
            return answers[0]

        assert found("red fox", 0.9) == texts[:1]
        assert found("red fox", 0.5) == texts[:2]
        assert found("whale", 0.1) == []
        relevant = store.similarity_search_with_relevance_scores("red fox", mode=mode)
        assert {document.page_content: score for document, score in relevant[:2]} == {
            "a red fox": pytest.approx(0.995, abs=1e-3),
            "a red fox of the card game": pytest.approx(0.6),
        }


def test_a_vector_store_is_made_for_a_tenant(new_index: NewIndex) -> None:
    """A vector store took its tenant from each call, and only one way of making it knew any
    (langchain-weaviate#210)."""
    string, embeddings = new_index(), DeterministicFakeEmbedding(size=4)
    with (
        RagweaveVectorStore(string, embeddings, tenant="acme") as first,
        RagweaveVectorStore(string, embeddings, tenant="globex") as second,
    ):
        first.add_texts(["a text of acme"])
        second.add_texts(["a text of globex"])
        for store, text in ((first, "a text of acme"), (second, "a text of globex")):
            found = store.similarity_search("text", k=5)
            assert [document.page_content for document in found] == [text]
            assert store.as_retriever().invoke("text") == found


def test_documents_keep_the_ids_that_they_were_given(new_index: NewIndex) -> None:
    """`get_by_ids` was promised and not there (langchain-weaviate#221), and hits bore no id by
    which records elsewhere could point to them (langchain-weaviate#226)."""
    ids = ["invoice/7", "客户 12", "0d1ca4a5-8a3e-4a8e-8b06-27a8a3b5f6a2"]
    with RagweaveVectorStore(new_index(), DeterministicFakeEmbedding(size=4)) as store:
        assert store.add_texts(["one", "two", "three"], ids=ids) == ids
        fetched = store.get_by_ids([ids[1], "unknown", ids[0]])
        assert [(item.id, item.page_content) for item in fetched] == [
            (ids[1], "two"),
            (ids[0], "one"),
        ]
        assert {item.id for item in store.similarity_search("one", k=9)} == set(ids)
        store.add_documents([Document("another one", id=ids[0])])
        assert [item.page_content for item in store.get_by_ids(ids[:1])] == ["another one"]
        [made] = store.add_documents([Document("without an id")])
        assert [item.page_content for item in store.get_by_ids([made])] == ["without an id"]
        assert {item.id for item in store.as_retriever().invoke("one")} == {*ids, made}
        store.delete(ids[:2])
        assert [item.id for item in store.get_by_ids(ids)] == ids[2:]


@pytest.mark.slow
async def test_20_000_vectors_of_1536_dimensions_are_written(new_index: NewIndex) -> None:
    """One message of 124 MB was refused, or the stream was removed (weaviate#3853)."""
    string = new_index()
    index = WeaviateIndex.from_url(string)
    await index.ensure(IndexSpec(dimension=1536, embeddings="test"))
    vector = [1.0] * 1535
    await index.upsert(
        [chunk(str(at), vector=[float(at), *vector], text="x") for at in range(20_000)]
    )
    assert await index.count() == 20_000
    await index.aclose()


async def test_a_search_does_not_block_the_event_loop(
    new_index: NewIndex, no_blocking_calls: BlockBuster
) -> None:
    """A development server refused every call that blocked (langgraph#4218), and a synchronous
    client left warnings of open sockets in asynchronous code (langchain-weaviate#207)."""
    index = await opened(new_index())
    await index.upsert([chunk("a")])
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0)
            ticks += 1

    ticking = asyncio.create_task(tick())
    for mode in ("vector", "keyword", "hybrid"):
        assert await index.search(SearchSpec(text="text", vector=[1.0, 2.0], mode=mode))
    ticking.cancel()
    assert ticks > 3
    await index.aclose()
