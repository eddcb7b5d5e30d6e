"""RAG-Fusion against a scripted model over HTTP: queries, fusion, and what the model is given."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun, Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.retrievers import BaseRetriever

from ragweave.graphs.rag_fusion import build, graph
from ragweave.nodes.rerank import register_reranker
from ragweave.state.errors import InvalidSetting
from ragweave.state.rag_fusion import RagFusionContext
from ragweave.stores import open_index, register
from ragweave.stores.base import Chunk, IndexSpec
from tests.graphs.conftest import Library
from tests.graphs.running import run
from tests.servers import Answer, Fault, OpenAIStub, by_schema, prompt_of, schema_of

QUESTION = "Which bird lays the largest egg, and where does it live?"
TEXTS = [
    "The ostrich lays the largest egg of any living bird. It weighs about 1.4 kilograms.",
    "The ostrich lives on the savannas of Africa.",
    "The kiwi lays a very large egg for its size.",
    "Granite is an igneous rock.",
]
A, B, C = "largest bird egg", "where ostriches live", "weight of eggs"
QUERIES = {"reason": "two sides", "kind": "decompose", "queries": [A, B]}
ANSWER = "The ostrich lays the largest egg [1]."


def context(index: str, **settings: Any) -> dict[str, Any]:
    return {"index": index, "model": "openai:stub", "top_k": 4, **settings}


class Lists(BaseRetriever):
    """A retriever that finds, for each query, the documents it was given."""

    found: dict[str, list[Document]]

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return self.found.get(query, [])


def lists(**found: Sequence[str]) -> Lists:
    """Documents named by their ids, for each query."""
    return Lists(
        found={
            query: [Document(f"text of {id}", id=id) for id in ids] for query, ids in found.items()
        }
    )


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder where nothing was ingested."""
    monkeypatch.chdir(tmp_path)


# --- the queries --------------------------------------------------------------------------------

LISTED = f"1. {A}\n2. {B}"
REPLIES = {
    "structured": (json.dumps(QUERIES), [A, B]),
    "preamble and numbers": (f"Here are the queries:\n{LISTED}", [A, B]),
    "brackets": (f"1) {A}\n2) {B}", [A, B]),
    "dashes": (f"- {A}\n- {B}", [A, B]),
    "asterisks, bold, quotes": (f'* **"{A}"**\n* **"{B}"**', [A, B]),
    "code fence": (f"```\n{LISTED}\n```", [A, B]),
    "headings and blank lines": (f"## Queries\n\n- {A}\n\n## More\n\n- {B}\n", [A, B]),
    "duplicates and the question": (f"- {A}\n- {A.upper()}\n- {QUESTION}\n- {B}", [A, B]),
    "closing remark": (f"{LISTED}\n\nLet me know if you need more!", [A, B]),
    "too many": (f"{LISTED}\n3. {C}\n4. one more\n5. and another", [A, B, C]),
    "too few": (f"1. {A}", [A]),
    "none": ("I cannot help with that.", []),
    "nothing": ("", []),
}


@pytest.mark.parametrize(("reply", "queries"), REPLIES.values(), ids=REPLIES.keys())
async def test_the_exact_queries_of_any_reply_with_the_question_once(
    library: Library, openai_stub: OpenAIStub, reply: str, queries: list[str]
) -> None:
    openai_stub.script = by_schema(ANSWER, SearchQueries=reply)
    result = await run(build(), QUESTION, context(await library(TEXTS)))
    assert result.state["search_queries"] == [QUESTION, *queries]
    (expanded,) = result.of_type("expanded")
    assert expanded["queries"] == [QUESTION, *queries]
    assert result.output["answer"] == result.streamed == ANSWER


async def test_without_the_original_only_the_generated_are_searched(
    library: Library, openai_stub: OpenAIStub
) -> None:
    index = await library(TEXTS)
    openai_stub.script = by_schema(ANSWER, SearchQueries=QUERIES)
    result = await run(build(), QUESTION, context(index, include_original=False))
    assert result.state["search_queries"] == [A, B]
    openai_stub.script = by_schema(ANSWER, SearchQueries="nothing to say:")
    result = await run(build(), QUESTION, context(index, include_original=False))
    assert result.state["search_queries"] == [QUESTION]


async def test_a_failed_expansion_searches_for_the_question(
    library: Library, openai_stub: OpenAIStub
) -> None:
    openai_stub.script = by_schema(ANSWER, SearchQueries=Fault(400, "no such thing"))
    index = await library(TEXTS)
    result = await run(build(), QUESTION, context(index, max_model_calls=1))
    assert result.state["search_queries"] == [QUESTION]
    assert result.output["answer"] == ANSWER
    assert "max_model_calls" in result.output["warnings"][0]
    assert result.output["usage"]["calls"] == 1


async def test_no_queries_wanted_costs_no_call(library: Library, openai_stub: OpenAIStub) -> None:
    openai_stub.script = by_schema(ANSWER)
    result = await run(build(), QUESTION, context(await library(TEXTS), query_count=0))
    assert result.output["usage"]["calls"] == 1
    assert result.state["search_queries"] == [QUESTION]


async def test_the_kind_is_the_models_choice_or_the_contexts(
    library: Library, openai_stub: OpenAIStub
) -> None:
    index = await library(TEXTS)
    openai_stub.script = by_schema(ANSWER, SearchQueries=QUERIES)
    chosen = await run(build(), QUESTION, context(index))
    assert (chosen.state["expansion"], chosen.state["fusion"]) == ("decompose", "round_robin")
    fixed = await run(build(), QUESTION, context(index, expansion="paraphrase"))
    assert (fixed.state["expansion"], fixed.state["fusion"]) == ("paraphrase", "rrf")
    assert "Kind: paraphrase." in prompt_of(openai_stub.chats[-2])
    named = await run(build(), QUESTION, context(index, fusion="relative_score"))
    assert named.state["fusion"] == "relative_score"
    decisions = [(d["node"], d["choice"]) for d in named.state["decisions"]]
    assert decisions == [("expand_question", "decompose"), ("fuse_results", "relative_score")]


# --- the fusion ---------------------------------------------------------------------------------


async def test_two_lists_are_fused_and_the_state_tells_what_found_what(
    openai_stub: OpenAIStub,
) -> None:
    register("two-lists", lists(dense="XaY", sparse="bcY"))
    openai_stub.script = by_schema(
        ANSWER, SearchQueries={"kind": "paraphrase", "queries": ["sparse"]}
    )
    result = await run(build(), "dense", context("two-lists", top_k=5))
    assert [source["id"] for source in result.output["sources"]] == ["Y", "X", "b", "a", "c"]
    assert [source["number"] for source in result.output["sources"]] == [1, 2, 3, 4, 5]
    assert {source["score_kind"] for source in result.output["sources"]} == {"rrf"}
    found = {
        id: [(finding["query"], finding["rank"]) for finding in findings]
        for id, findings in result.state["found_by"].items()
    }
    assert found == {
        "Y": [("dense", 3), ("sparse", 3)],
        "X": [("dense", 1)],
        "b": [("sparse", 1)],
        "a": [("dense", 2)],
        "c": [("sparse", 2)],
    }
    assert result.state["results"] == []


@pytest.mark.parametrize(
    ("settings", "order"),
    [
        ({"fusion": "round_robin"}, ["X", "b", "a", "c", "Y"]),
        ({"fusion": "rrf", "weights": [1, 3]}, ["Y", "b", "c", "X", "a"]),
        ({"fusion": "rrf", "weights": [0]}, ["b", "c", "Y", "X", "a"]),
        ({"fusion": "rrf", "rrf_constant": 1}, ["X", "b", "Y", "a", "c"]),
    ],
)
async def test_methods_and_weights(
    openai_stub: OpenAIStub, settings: dict[str, Any], order: list[str]
) -> None:
    register("weighed", lists(dense="XaY", sparse="bcY"))
    openai_stub.script = by_schema(ANSWER, SearchQueries='["sparse"]')
    result = await run(build(), "dense", context("weighed", top_k=5, **settings))
    assert [source["id"] for source in result.output["sources"]] == order


async def test_metadata_of_the_same_document_merges_whatever_its_type(
    openai_stub: OpenAIStub,
) -> None:
    when = datetime(2024, 5, 1, tzinfo=UTC)
    found = {
        "one": [Document("same", id="x", metadata={"when": when, "size": np.float32(1.5)})],
        "two": [
            Document("other text", id="y", metadata={}),
            Document("same", id="x", metadata={"when": None, "tags": np.array([1, 2])}),
        ],
    }
    register("typed", Lists(found=found))
    openai_stub.script = by_schema(ANSWER, SearchQueries='["two"]')
    result = await run(build(), "one", context("typed", fusion="rrf"))
    first = result.output["sources"][0]
    assert first["id"] == "x"
    assert first["metadata"] == {"when": when.isoformat(), "size": 1.5, "tags": [1, 2]}


async def test_vector_and_keyword_lists_can_enter_apart(
    library: Library, openai_stub: OpenAIStub
) -> None:
    openai_stub.script = by_schema(ANSWER, SearchQueries=QUERIES)
    index = await library(TEXTS)
    result = await run(build(), QUESTION, context(index, legs="separate"))
    legs = {finding["leg"] for found in result.state["found_by"].values() for finding in found}
    assert legs == {"vector", "keyword"}
    assert len(result.of_type("retrieved")) == 6
    together = await run(build(), QUESTION, context(index))
    assert len(together.of_type("retrieved")) == 3


# --- what the model is given --------------------------------------------------------------------


async def test_the_answer_is_to_the_users_words_and_no_score_is_shown(
    library: Library, openai_stub: OpenAIStub
) -> None:
    openai_stub.script = by_schema(ANSWER, SearchQueries=QUERIES)
    result = await run(build(), QUESTION, context(await library(TEXTS), top_k=2))
    shown = prompt_of(openai_stub.chats[-1])
    assert f"<question>\n{QUESTION}\n</question>" in shown
    assert A not in shown
    assert B not in shown
    assert shown.count("<source ") == 2 == len(result.output["sources"])
    assert "score" not in shown
    for source in result.output["sources"]:
        assert str(source["score"]) not in shown
    assert result.output["usage"]["calls"] == 2
    assert set(result.output["usage"]["stages"]) == {"expand", "answer"}


async def test_all_queries_are_embedded_in_one_call(
    tmp_path: Path, openai_stub: OpenAIStub
) -> None:
    index = await open_index(name := f"lance:{tmp_path / 'embedded'}")
    spec = IndexSpec(dimension=16, embeddings="openai:embed")
    await index.ensure(spec)
    chunk = Chunk("c", "d", "The ostrich lays the largest egg.", vector=[1.0] * 16)
    await index.upsert([chunk])
    openai_stub.script = by_schema(ANSWER, SearchQueries=QUERIES)
    await run(build(), QUESTION, context(name))
    embedded = [call.body for call in openai_stub.calls if call.path == "/v1/embeddings"]
    assert [body["input"] for body in embedded] == [[QUESTION, A, B]]


async def test_no_vector_stands_in_the_state(library: Library, openai_stub: OpenAIStub) -> None:
    openai_stub.script = by_schema(ANSWER, SearchQueries=QUERIES)
    result = await run(build(), QUESTION, context(await library(TEXTS)))
    assert not re.search(r"\[-?\d\.\d+, -?\d\.\d+", json.dumps(result.state, default=str))


async def test_nothing_found_is_said_without_an_answering_call(
    openai_stub: OpenAIStub,
) -> None:
    register("finds-nothing", lists())
    openai_stub.script = by_schema(ANSWER, SearchQueries=QUERIES)
    result = await run(build(), QUESTION, context("finds-nothing"))
    assert result.output["status"] == "no_evidence"
    assert result.output["usage"]["calls"] == 1
    assert result.output["answer"] == result.streamed


async def test_a_default_index_that_is_not_there_is_named(
    openai_stub: OpenAIStub, empty_folder: None
) -> None:
    openai_stub.script = by_schema(ANSWER, SearchQueries=QUERIES)
    result = await run(build(), QUESTION, {"model": "openai:stub"})
    assert result.output["status"] == "no_evidence"
    assert "ragweave ingest" in result.output["warnings"][0]


# --- reranking ----------------------------------------------------------------------------------


class Backwards(BaseDocumentCompressor):
    """Turns the order round, drops one document and shortens the others."""

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks = None
    ) -> Sequence[Document]:
        assert query == "dense"
        return [
            Document(
                document.page_content.upper(), metadata={**document.metadata, "relevance_score": at}
            )
            for at, document in enumerate(reversed(documents))
            if "b" not in document.page_content
        ]


class Broken(BaseDocumentCompressor):
    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks = None
    ) -> Sequence[Document]:
        raise RuntimeError("out of memory")


async def test_any_document_compressor_reranks(openai_stub: OpenAIStub) -> None:
    register("reranked", lists(dense="XaY", sparse="bcY"))
    register_reranker("backwards", Backwards())
    openai_stub.script = by_schema(ANSWER, SearchQueries='["sparse"]')
    result = await run(
        build(), "dense", context("reranked", reranker="backwards", fusion="rrf", top_k=3)
    )
    assert [source["id"] for source in result.output["sources"]] == ["c", "a", "X"]
    assert result.output["sources"][0]["score_kind"] == "reranker"
    assert result.output["sources"][0]["text"] == "text of c"
    assert "TEXT OF C" in prompt_of(openai_stub.chats[-1])


async def test_a_reranker_that_fails_costs_a_warning(openai_stub: OpenAIStub) -> None:
    register("kept", lists(dense="XaY"))
    register_reranker("broken", Broken())
    openai_stub.script = by_schema(ANSWER)
    result = await run(build(), "dense", context("kept", reranker="broken", query_count=0))
    assert [source["id"] for source in result.output["sources"]] == ["X", "a", "Y"]
    assert result.output["warnings"] == ["The reranker broken failed: out of memory"]


async def test_an_unknown_reranker_is_named(openai_stub: OpenAIStub) -> None:
    register("unranked", lists(dense="X"))
    openai_stub.script = by_schema(ANSWER)
    with pytest.raises(InvalidSetting, match='no reranker "gone"'):
        await run(build(), "dense", context("unranked", reranker="gone", query_count=0))


# --- on real documents, and at once -------------------------------------------------------------


@pytest.fixture
def articles(data: Path) -> list[str]:
    """The articles of a Chinese statute."""
    lines = (data / "demo/law_zh/证券法.articles.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines]


async def test_a_chinese_question_finds_its_article_first(
    library: Library, articles: list[str]
) -> None:
    question = "公司首次公开发行新股，应当符合哪些条件？"
    result = await run(build(), question, {"index": await library(articles)})
    assert result.output["sources"][0]["text"].startswith("第十二条")
    assert len(result.state["search_queries"]) > 1
    assert result.output["status"] == "answered"
    assert "具备健全且运行良好的组织机构" in result.output["answer"]


async def test_fifty_at_once_equal_one_by_one(library: Library, openai_stub: OpenAIStub) -> None:
    def script(request: dict[str, Any]) -> Any:
        asked = prompt_of(request)
        if schema_of(request) == "SearchQueries":
            return {"kind": "paraphrase", "queries": [f"egg {len(asked)}", A, B]}
        return Answer(f"Said of {len(asked)} characters [1].", latency=0.01)

    openai_stub.script = script
    settings = RagFusionContext(**context(await library(TEXTS)))
    questions = [f"{QUESTION} {'x' * number}" for number in range(50)]

    async def ask(question: str) -> Any:
        output = await graph.ainvoke({"question": question}, context=settings)
        return output["answer"], [source["id"] for source in output["sources"]]

    together = await asyncio.gather(*map(ask, questions))
    assert together == [await ask(question) for question in questions]
    assert len({answer for answer, _ in together}) == 50
