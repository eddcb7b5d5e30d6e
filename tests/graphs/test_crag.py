"""Corrective RAG against a scripted model over HTTP: what it does with each kind of answer."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from ragweave.graphs.crag import build, graph
from ragweave.state.crag import CragContext
from ragweave.state.errors import (
    IndexMissing,
    IndexSchemaMismatch,
    InvalidQuestion,
    InvalidSetting,
    ModelRefused,
)
from tests.graphs.conftest import Library
from tests.graphs.running import run
from tests.servers import (
    Answer,
    Fault,
    Json,
    OpenAIStub,
    TavilyStub,
    by_schema,
    prompt_of,
    schema_of,
    web_result,
)

QUESTION = "Which bird lays the largest egg?"
TEXTS = [
    "The ostrich lays the largest egg of any living bird. It weighs about 1.4 kilograms.",
    "The kiwi lays a very large egg for its size.",
    "Penguins breed on ice and guard their egg between their feet.",
    "Granite is an igneous rock.",
]
WEB = [web_result("The ostrich egg is the largest of all eggs.", url="https://example.org/egg")]

RELEVANT = {"reason": "names it", "verdict": "relevant"}
PARTLY = {"reason": "about eggs", "verdict": "partly"}
IRRELEVANT = {"reason": "off topic", "verdict": "irrelevant"}
ANSWER = "The ostrich lays the largest egg [1]."
REWRITTEN = {"query": "largest bird egg", "reason": "fewer words"}


def grades(*verdicts: str) -> dict[str, Any]:
    """A batch of grades, numbered from 1."""
    return {
        "grades": [
            {"reason": "so", "verdict": verdict, "number": number}
            for number, verdict in enumerate(verdicts, 1)
        ]
    }


def context(index: str, **settings: Any) -> CragContext:
    return CragContext(index=index, **{"model": "openai:stub", "top_k": 4, **settings})


def calls(stub: OpenAIStub) -> dict[str | None, int]:
    """Requests by the schema that they asked for; None is the answer."""
    names = [schema_of(request) for request in stub.chats]
    return {name: names.count(name) for name in names}


# --- the three actions -------------------------------------------------------------------------


async def test_correct_answers_from_the_relevant_documents_alone(
    library: Library, openai_stub: OpenAIStub, tavily_stub: TavilyStub
) -> None:
    def script(request: dict[str, Any]) -> Any:
        if schema_of(request) is None:
            return ANSWER
        return RELEVANT if "ostrich" in prompt_of(request) else IRRELEVANT

    openai_stub.script = script
    result = await run(build(), QUESTION, context(await library(TEXTS)))
    assert result.output["answer"] == result.streamed == ANSWER
    assert result.output["status"] == "answered"
    assert [source["document_id"] for source in result.output["sources"]] == ["d1"]
    assert [c["status"] for c in result.output["citations"]] == ["grounded"]
    assert result.state["action"] == "correct"
    assert calls(openai_stub) == {"DocumentGrade": 4, None: 1}
    assert tavily_stub.queries == []


async def test_incorrect_answers_from_the_web_alone(
    library: Library, openai_stub: OpenAIStub, tavily_stub: TavilyStub
) -> None:
    openai_stub.script = by_schema(
        ANSWER, DocumentGrade=IRRELEVANT, SearchQuery=REWRITTEN, DocumentGrades=grades("relevant")
    )
    tavily_stub.search = lambda _: WEB
    result = await run(build(), QUESTION, context(await library(TEXTS)))
    (source,) = result.output["sources"]
    assert (source["url"], source["score_kind"]) == ("https://example.org/egg", "web")
    assert tavily_stub.queries == ["largest bird egg"]
    assert result.state["action"] == "incorrect"
    assert calls(openai_stub) == {
        "DocumentGrade": 4,
        "SearchQuery": 1,
        "DocumentGrades": 1,
        None: 1,
    }
    assert result.output["usage"]["calls"] == 7
    assert set(result.output["usage"]["stages"]) == {"grade", "rewrite", "answer"}


async def test_ambiguous_answers_from_both(
    library: Library, openai_stub: OpenAIStub, tavily_stub: TavilyStub
) -> None:
    def script(request: dict[str, Any]) -> Any:
        match schema_of(request):
            case "DocumentGrade":
                return PARTLY if "kiwi" in prompt_of(request) else IRRELEVANT
            case "SearchQuery":
                return REWRITTEN
            case "DocumentGrades":
                return grades("relevant")
        return "The ostrich lays the largest egg [2], the kiwi a large one for its size [1]."

    openai_stub.script = script
    tavily_stub.search = lambda _: WEB
    result = await run(build(), QUESTION, context(await library(TEXTS)))
    assert result.state["action"] == "ambiguous"
    assert [s["document_id"] for s in result.output["sources"]] == ["d2", "https://example.org/egg"]
    assert {c["number"] for c in result.output["citations"]} == {1, 2}


async def test_the_answer_is_to_the_users_own_words(
    library: Library, openai_stub: OpenAIStub, tavily_stub: TavilyStub
) -> None:
    openai_stub.script = by_schema(
        ANSWER, DocumentGrade=IRRELEVANT, SearchQuery=REWRITTEN, DocumentGrades=grades("relevant")
    )
    tavily_stub.search = lambda _: WEB
    await run(build(), QUESTION, context(await library(TEXTS)))
    asked = prompt_of(openai_stub.chats[-1])
    assert f"<question>\n{QUESTION}\n</question>" in asked
    assert "largest bird egg" not in asked


async def test_one_irrelevant_document_is_enough_where_that_is_asked_for(
    library: Library, openai_stub: OpenAIStub, tavily_stub: TavilyStub
) -> None:
    def script(request: dict[str, Any]) -> Any:
        match schema_of(request):
            case "DocumentGrade":
                return IRRELEVANT if "Granite" in prompt_of(request) else RELEVANT
            case "SearchQuery":
                return REWRITTEN
            case "DocumentGrades":
                return grades("relevant")
        return ANSWER

    openai_stub.script = script
    tavily_stub.search = lambda _: WEB
    settings = context(await library(TEXTS), search_web_when="any_irrelevant")
    result = await run(build(), QUESTION, settings)
    assert len(tavily_stub.queries) == 1
    assert len(result.output["sources"]) == 4


@pytest.mark.parametrize(("web_search", "searches"), [("always", 1), ("never", 0)])
async def test_web_search_can_be_forced_or_forbidden(
    library: Library,
    openai_stub: OpenAIStub,
    tavily_stub: TavilyStub,
    web_search: str,
    searches: int,
) -> None:
    openai_stub.script = by_schema(
        ANSWER, DocumentGrade=RELEVANT, SearchQuery=REWRITTEN, DocumentGrades=grades("relevant")
    )
    tavily_stub.search = lambda _: WEB
    settings = context(await library(TEXTS), web_search=web_search)
    result = await run(build(), QUESTION, settings)
    assert len(tavily_stub.queries) == searches
    assert len(result.output["sources"]) == 4 + searches


async def test_batch_grading_is_one_call(library: Library, openai_stub: OpenAIStub) -> None:
    openai_stub.script = by_schema(
        ANSWER, DocumentGrades=grades("relevant", "irrelevant", "irrelevant")
    )
    settings = context(await library(TEXTS), grading="batch")
    result = await run(build(), QUESTION, settings)
    assert calls(openai_stub) == {"DocumentGrades": 1, None: 1}
    assert [grade["verdict"] for grade in result.state["grades"]] == [
        "relevant",
        "irrelevant",
        "irrelevant",
        "ungraded",
    ]


# --- graders that answer otherwise than asked ----------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "verdict", "requests"),
    [
        ("yes", "relevant", 1),
        ("Yes.", "relevant", 1),
        ("yes, it is relevant", "relevant", 1),
        ("**yes**", "relevant", 1),
        ("no", "irrelevant", 1),
        ("No.", "irrelevant", 1),
        ("no - off topic", "irrelevant", 1),
        ("irrelevant", "irrelevant", 1),
        ("not relevant", "irrelevant", 1),
        ('```json\n{"reason": "r", "verdict": "relevant",}\n```', "relevant", 1),
        ("I cannot judge", "ungraded", 2),
        ("", "ungraded", 2),
        ('{"verdict": ', "ungraded", 2),
    ],
)
async def test_grader_replies(
    library: Library, openai_stub: OpenAIStub, reply: str, verdict: str, requests: int
) -> None:
    openai_stub.script = by_schema(ANSWER, DocumentGrade=reply)
    settings = context(await library(TEXTS), top_k=1)
    result = await run(build(), QUESTION, settings)
    (grade,) = result.state["grades"]
    assert grade["verdict"] == verdict
    assert calls(openai_stub)["DocumentGrade"] == requests
    assert (result.state["action"] == "correct") == (verdict == "relevant")


async def test_a_rate_limited_grade_is_asked_for_again(
    library: Library, openai_stub: OpenAIStub
) -> None:
    refused = iter([Fault(429, "Slow down.", retry_after=0)])

    def script(request: dict[str, Any]) -> Any:
        if schema_of(request) is None:
            return ANSWER
        return next(refused, RELEVANT)

    openai_stub.script = script
    result = await run(build(), QUESTION, context(await library(TEXTS)))
    assert {grade["verdict"] for grade in result.state["grades"]} == {"relevant"}
    assert calls(openai_stub)["DocumentGrade"] == 5
    assert result.output["warnings"] == []


async def test_a_grade_that_stays_rate_limited_leaves_one_document_ungraded(
    library: Library, openai_stub: OpenAIStub
) -> None:
    def script(request: dict[str, Any]) -> Any:
        if schema_of(request) is None:
            return ANSWER
        if "Granite" in prompt_of(request):
            return Fault(429, "Slow down.", retry_after=0)
        return RELEVANT

    openai_stub.script = script
    result = await run(build(), QUESTION, context(await library(TEXTS)))
    verdicts = [grade["verdict"] for grade in result.state["grades"]]
    assert sorted(verdicts) == ["relevant", "relevant", "relevant", "ungraded"]
    assert result.output["status"] == "answered"
    assert "429" in result.output["warnings"][0]


# --- the web loop ------------------------------------------------------------------------------


@pytest.mark.parametrize("max_rewrites", [0, 1, 2, 3])
async def test_the_loop_ends_honestly(
    library: Library, openai_stub: OpenAIStub, tavily_stub: TavilyStub, max_rewrites: int
) -> None:
    queries = iter(["first try", "second try", "third try"])

    def script(request: dict[str, Any]) -> Any:
        if schema_of(request) == "SearchQuery":
            return {"query": next(queries), "reason": "r"}
        return IRRELEVANT

    openai_stub.script = script
    settings = context(await library(TEXTS), max_rewrites=max_rewrites)
    result = await run(build(), QUESTION, settings)
    assert calls(openai_stub).get("SearchQuery", 0) == max_rewrites
    assert len(tavily_stub.queries) == max(1, max_rewrites)
    assert result.output["status"] == "no_evidence"
    assert result.output["citations"] == []
    assert len(result.output["sources"]) == 4
    assert result.streamed == result.output["answer"]
    for query in result.state["queries"]:
        assert query in result.output["answer"]


async def test_a_later_rewrite_knows_what_was_tried(
    library: Library, openai_stub: OpenAIStub, tavily_stub: TavilyStub
) -> None:
    openai_stub.script = by_schema(DocumentGrade=IRRELEVANT, SearchQuery=REWRITTEN)
    await run(build(), QUESTION, context(await library(TEXTS), max_rewrites=2))
    first, second = (r for r in openai_stub.chats if schema_of(r) == "SearchQuery")
    assert "<tried>" not in prompt_of(first)
    assert "<tried>\nlargest bird egg\n</tried>" in prompt_of(second)


async def test_a_long_query_is_cut_at_a_word(
    library: Library, openai_stub: OpenAIStub, tavily_stub: TavilyStub
) -> None:
    written = {"query": "largest egg " * 75, "reason": "long"}
    openai_stub.script = by_schema(DocumentGrade=IRRELEVANT, SearchQuery=written)
    await run(build(), QUESTION, context(await library(TEXTS), max_rewrites=1))
    (query,) = tavily_stub.queries
    assert 380 < len(query) <= 400
    assert query.endswith(("largest", "egg"))


@pytest.mark.parametrize(
    "found",
    [
        Fault(500, "broken"),
        Fault(400, "bad request"),
        Json([]),
        Json("results"),
        Json({"results": "none"}),
        Json({"results": ["text", 3, None]}),
        [web_result(None)],
        [{"url": "https://example.org"}],
        [],
    ],
)
async def test_a_failed_search_leaves_the_documents(
    library: Library, openai_stub: OpenAIStub, tavily_stub: TavilyStub, found: Any
) -> None:
    openai_stub.script = by_schema(ANSWER, DocumentGrade=PARTLY, SearchQuery=REWRITTEN)
    tavily_stub.search = lambda _: found
    settings = context(await library(TEXTS), max_rewrites=1)
    result = await run(build(), QUESTION, settings)
    assert result.output["status"] == "answered"
    assert {source["score_kind"] for source in result.output["sources"]} == {"relative"}
    assert bool(result.output["warnings"]) == (found != [])


async def test_a_refused_web_key_is_said(
    library: Library,
    openai_stub: OpenAIStub,
    tavily_stub: TavilyStub,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", "tvly-wrong-key-00")
    openai_stub.script = by_schema(ANSWER, DocumentGrade=PARTLY, SearchQuery=REWRITTEN)
    result = await run(build(), QUESTION, context(await library(TEXTS), max_rewrites=1))
    assert result.output["status"] == "answered"
    (warning,) = result.output["warnings"]
    assert "TAVILY_API_KEY" in warning
    assert "tvly-wrong" not in warning


async def test_each_web_page_is_one_source(
    library: Library, openai_stub: OpenAIStub, tavily_stub: TavilyStub
) -> None:
    openai_stub.script = by_schema(
        ANSWER,
        DocumentGrade=IRRELEVANT,
        SearchQuery=REWRITTEN,
        DocumentGrades=grades("relevant", "relevant"),
    )
    other = web_result("Ostriches are birds.", url="https://example.org/ostrich")
    tavily_stub.search = lambda _: [*WEB, other, *WEB]
    result = await run(build(), QUESTION, context(await library(TEXTS)))
    assert [source["url"] for source in result.output["sources"]] == [
        "https://example.org/egg",
        "https://example.org/ostrich",
    ]


async def test_questions_share_a_connection_to_the_web(
    library: Library, openai_stub: OpenAIStub, tavily_stub: TavilyStub
) -> None:
    openai_stub.script = by_schema(
        ANSWER,
        DocumentGrade=IRRELEVANT,
        SearchQuery=REWRITTEN,
        DocumentGrades=grades("relevant"),
    )
    tavily_stub.search = lambda _: WEB
    settings = context(await library(TEXTS))
    for _ in range(3):
        assert (await run(build(), QUESTION, settings)).output["status"] == "answered"
    assert (len(tavily_stub.calls), tavily_stub.connections) == (3, 1)


async def test_without_a_key_the_web_is_left_alone(
    library: Library, openai_stub: OpenAIStub
) -> None:
    openai_stub.script = by_schema(DocumentGrade=IRRELEVANT)
    result = await run(build(), QUESTION, context(await library(TEXTS)))
    assert result.output["status"] == "no_evidence"
    assert result.output["warnings"] == ["The web was not searched: TAVILY_API_KEY is not set."]
    assert calls(openai_stub) == {"DocumentGrade": 4}


# --- a person in the loop ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("resume", "query"),
    [
        (True, "largest bird egg"),
        ({"approve": True}, "largest bird egg"),
        ("ostrich egg weight", "ostrich egg weight"),
        ({"approve": True, "query": "ostrich egg"}, "ostrich egg"),
        (False, None),
        ({"approve": False}, None),
    ],
)
async def test_a_person_decides_about_the_query(
    library: Library,
    openai_stub: OpenAIStub,
    tavily_stub: TavilyStub,
    resume: Any,
    query: str | None,
) -> None:
    openai_stub.script = by_schema(
        ANSWER, DocumentGrade=IRRELEVANT, SearchQuery=REWRITTEN, DocumentGrades=grades("relevant")
    )
    tavily_stub.search = lambda _: WEB
    compiled = build().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    settings = context(await library(TEXTS), web_search="ask")
    paused = await compiled.ainvoke({"question": QUESTION}, config, context=settings)
    (question,) = paused["__interrupt__"]
    assert question.value == {"question": QUESTION, "query": "largest bird egg"}
    assert tavily_stub.queries == []
    output = await compiled.ainvoke(Command(resume=resume), config)
    assert tavily_stub.queries == ([query] if query else [])
    assert output["status"] == ("answered" if query else "no_evidence")
    assert calls(openai_stub)["DocumentGrade"] == 4


# --- indexes -----------------------------------------------------------------------------------


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder that has no index yet."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("empty_folder")
async def test_a_default_index_that_is_not_there_says_how_to_make_it() -> None:
    result = await run(build(), QUESTION, {})
    assert result.output["status"] == "no_evidence"
    assert "ragweave ingest" in result.output["warnings"][0]


@pytest.mark.usefixtures("empty_folder")
async def test_a_default_index_that_is_not_there_leaves_the_web(
    openai_stub: OpenAIStub, tavily_stub: TavilyStub
) -> None:
    openai_stub.script = by_schema(ANSWER, SearchQuery=REWRITTEN, DocumentGrades=grades("relevant"))
    tavily_stub.search = lambda _: WEB
    result = await run(build(), QUESTION, {"model": "openai:stub"})
    assert result.output["status"] == "answered"
    assert result.state["action"] == "incorrect"


async def test_a_named_index_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IndexMissing, match=r"ragweave ingest PATH --index"):
        await graph.ainvoke(
            {"question": QUESTION}, context=CragContext(index=f"lance:{tmp_path}/none")
        )


async def test_other_embeddings_than_the_indexs_are_an_error(library: Library) -> None:
    settings = CragContext(index=await library(TEXTS), embeddings="openai:other")
    with pytest.raises(IndexSchemaMismatch, match=r"made with embeddings 'offline'"):
        await graph.ainvoke({"question": QUESTION}, context=settings)


# --- mistakes and limits -------------------------------------------------------------------------


async def test_an_empty_question_is_refused() -> None:
    with pytest.raises(InvalidQuestion):
        await graph.ainvoke({"question": " "})


async def test_an_unknown_model_is_named(library: Library) -> None:
    settings = CragContext(index=await library(TEXTS), model="nonsense")
    with pytest.raises(InvalidSetting, match="nonsense"):
        await graph.ainvoke({"question": QUESTION}, context=settings)


async def test_a_refused_key_ends_the_run(
    library: Library, openai_stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong-0000000000")
    with pytest.raises(ModelRefused, match="OPENAI_API_KEY") as refused:
        await run(build(), QUESTION, context(await library(TEXTS)))
    assert "sk-wrong" not in str(refused.value)


@pytest.mark.parametrize("limit", range(8))
async def test_a_budget_of_calls_is_kept_and_always_answered(
    library: Library, openai_stub: OpenAIStub, tavily_stub: TavilyStub, limit: int
) -> None:
    openai_stub.script = by_schema(
        ANSWER, DocumentGrade=PARTLY, SearchQuery=REWRITTEN, DocumentGrades=grades("relevant")
    )
    tavily_stub.search = lambda _: WEB
    settings = context(await library(TEXTS), max_model_calls=limit)
    result = await run(build(), QUESTION, settings)
    assert len(openai_stub.chats) <= limit
    assert result.output["usage"]["calls"] == len(openai_stub.chats)
    assert result.output["status"] == ("partial" if limit == 0 else "answered")
    assert result.output["answer"] == result.streamed
    spent = [warning for warning in result.output["warnings"] if "max_model_calls" in warning]
    assert bool(spent) == (limit < 7)


async def test_a_deadline_keeps_what_was_said(
    library: Library, openai_stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model decides when the time is over: before it says its tenth word."""
    late = 0

    def say(piece: int) -> None:
        nonlocal late
        late = 1_000 if piece >= 9 else 0

    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + late)
    monkeypatch.setattr("ragweave.models.budget.time", clock)
    whole = f"{ANSWER} " * 40
    openai_stub.script = by_schema(Answer(whole, pause=0.02, before=say), DocumentGrade=RELEVANT)
    settings = context(await library(TEXTS), deadline_seconds=300)
    result = await run(build(), QUESTION, settings)
    assert result.output["status"] == "partial"
    assert result.output["answer"]
    assert whole.startswith(result.output["answer"].strip())
    assert any("deadline_seconds" in warning for warning in result.output["warnings"])


# --- citations and conversation ------------------------------------------------------------------


async def test_markers_that_name_no_source_never_survive(
    library: Library, openai_stub: OpenAIStub
) -> None:
    openai_stub.script = by_schema(
        "The ostrich lays the largest egg [1][9]. It is a bird [0].", DocumentGrade=RELEVANT
    )
    result = await run(build(), QUESTION, context(await library(TEXTS)))
    assert result.output["answer"] == result.streamed
    assert result.output["answer"] == "The ostrich lays the largest egg [1]. It is a bird."
    assert result.output["invalid_markers"] == ["[9]", "[0]"]


async def test_a_follow_up_is_condensed_and_starts_clean(
    library: Library, openai_stub: OpenAIStub
) -> None:
    openai_stub.script = by_schema(
        ANSWER,
        DocumentGrade=RELEVANT,
        StandaloneQuestion={"question": "How heavy is the egg of an ostrich?"},
    )
    compiled = build().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    settings = context(await library(TEXTS))
    await compiled.ainvoke({"question": QUESTION}, config, context=settings)
    follow_up: list[AnyMessage] = [HumanMessage("How heavy is it?")]
    output = await compiled.ainvoke({"messages": follow_up}, config, context=settings)
    state = (await compiled.aget_state(config)).values
    assert state["question"] == "How heavy is it?"
    assert state["search_question"] == "How heavy is the egg of an ostrich?"
    assert len(state["grades"]) == 4
    assert [message.type for message in output["messages"]] == ["human", "ai", "human", "ai"]
    asked = prompt_of(openai_stub.chats[-1])
    assert "<question>\nHow heavy is it?\n</question>" in asked
    assert f'<history>\n<turn by="human">\n{QUESTION}\n</turn>' in asked
    assert output["usage"]["calls"] == 6


async def test_fifty_runs_at_once_equal_one_alone(
    library: Library, openai_stub: OpenAIStub
) -> None:
    openai_stub.script = by_schema(ANSWER, DocumentGrade=RELEVANT)
    settings = context(await library(TEXTS))
    alone = await graph.ainvoke({"question": QUESTION}, context=settings)
    together = await asyncio.gather(
        *(graph.ainvoke({"question": QUESTION}, context=settings) for _ in range(50))
    )
    for output in together:
        assert output["answer"] == alone["answer"]
        assert output["sources"] == alone["sources"]
        assert output["usage"]["calls"] == alone["usage"]["calls"]
