"""DRIFT search over real graphs against a scripted model over HTTP."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from ragweave.graphs.drift import build
from ragweave.models.offline.sections import all_of
from ragweave.models.prompt import parse
from ragweave.models.tokens import token_counter
from ragweave.nodes.drift.tree import current
from ragweave.state.errors import IndexMissing
from tests.graphs.drift_script import DriftScript, is_reduce
from tests.graphs.running import Run, run
from tests.servers import Answer, Fault, OpenAIStub, prompt_of, schema_of

QUESTION = "What does the squad prepare for?"


async def drift(context: dict[str, Any], question: str = QUESTION, **settings: Any) -> Run:
    return await run(build(), question, {**context, **settings})


def kinds(stub: OpenAIStub) -> Counter[str]:
    """Requests by what they asked for."""
    return Counter(
        schema_of(request) or ("reduce" if is_reduce(request) else "hypothesis")
        for request in stub.chats
    )


def statuses(result: Run) -> Counter[str]:
    return Counter(action["status"] for action in current(result.state["actions"]).values())


# --- the shape of a run ------------------------------------------------------------------------


async def test_a_run_goes_from_hypothesis_to_answer(
    dulce: dict[str, Any], openai_stub: OpenAIStub, script: DriftScript
) -> None:
    result = await drift(dulce, primer_folds=2, n_depth=2, drift_k_followups=3)

    assert kinds(openai_stub) == {
        "hypothesis": 1,
        "PrimerAnswer": 2,
        "LocalAnswer": 6,
        "reduce": 1,
    }
    assert result.output["status"] == "answered"
    assert result.output["answer"] == "The squad prepares Operation: Dulce [1][2]. All agree [1]."
    assert result.streamed == result.output["answer"]
    assert result.output["usage"]["calls"] == 10
    assert set(result.output["usage"]["stages"]) == {
        "hypothesize",
        "prime",
        "local_search",
        "reduce",
    }
    assert "tree" not in result.output


async def test_every_call_is_hidden_but_the_last_which_streams(
    dulce: dict[str, Any], openai_stub: OpenAIStub, script: DriftScript
) -> None:
    await drift(dulce, drift_k_followups=2)

    streamed = [is_reduce(request) for request in openai_stub.chats if request.get("stream")]
    assert streamed == [True]


async def test_the_tree_holds_every_question_with_its_parent(
    dulce: dict[str, Any], script: DriftScript
) -> None:
    result = await drift(dulce, primer_folds=2, drift_k_followups=3)

    actions = current(result.state["actions"])
    assert statuses(result)["answered"] == 7
    assert statuses(result)["pending"] == 0
    for action in actions.values():
        if action["id"] != "0":
            assert action["id"].startswith(f"{action['parent_id']}.")
            assert action["depth"] == actions[action["parent_id"] or ""]["depth"] + 1
    assert actions["0"]["answer"] == (
        f"# First\nThe reports speak of {QUESTION} [1].\n\n"
        f"# First\nThe reports speak of {QUESTION} [5]."
    )


async def test_without_reduce_a_run_ends_with_the_tree(
    dulce: dict[str, Any], openai_stub: OpenAIStub, script: DriftScript
) -> None:
    result = await drift(dulce, reduce=False, drift_k_followups=2, n_depth=1)

    assert result.output["answer"] == ""
    tree = result.output["tree"]
    assert kinds(openai_stub)["reduce"] == 0
    assert {edge["target"] for edge in tree["edges"]} == {
        node["id"] for node in tree["nodes"] if node["parent_id"]
    }
    assert sum(node["status"] == "answered" for node in tree["nodes"]) == 3


async def test_without_depth_the_first_answers_are_the_answer(
    dulce: dict[str, Any], openai_stub: OpenAIStub, script: DriftScript
) -> None:
    result = await drift(dulce, n_depth=0)

    assert kinds(openai_stub)["LocalAnswer"] == 0
    assert result.output["status"] == "answered"


async def test_events_tell_the_tree_as_it_grows(dulce: dict[str, Any], script: DriftScript) -> None:
    result = await drift(dulce, primer_folds=2, drift_k_followups=3, n_depth=1)

    types = Counter(event["type"] for event in result.events)
    assert (types["hypothesized"], types["primed"], types["reduced"]) == (1, 2, 1)
    told = Counter(event["status"] for event in result.of_type("follow_up"))
    assert told == {"pending": 3, "answered": 3}


# --- what is asked ------------------------------------------------------------------------------


async def test_local_calls_know_both_questions_and_ask_for_structure(
    dulce: dict[str, Any], openai_stub: OpenAIStub, script: DriftScript
) -> None:
    await drift(dulce, n_depth=1)

    calls = [request for request in openai_stub.chats if schema_of(request) == "LocalAnswer"]
    assert calls
    for request in calls:
        sections = {section.tag: section for section in parse(prompt_of(request))}
        assert sections["overall"].text == QUESTION
        assert sections["question"].text.startswith("Who is person")
        assert sections["sources"].children


async def test_never_more_folds_than_reports_and_none_is_empty(
    dulce: dict[str, Any], openai_stub: OpenAIStub, script: DriftScript
) -> None:
    await drift(dulce, primer_folds=20, k_reports=3, n_depth=0)

    primers = [request for request in openai_stub.chats if schema_of(request) == "PrimerAnswer"]
    assert len(primers) == 3
    assert all(len(all_of(parse(prompt_of(request)), "source")) == 1 for request in primers)


async def test_reports_finer_than_the_level_are_not_read(
    dulce: dict[str, Any], openai_stub: OpenAIStub, script: DriftScript
) -> None:
    result = await drift(dulce, community_level=0, n_depth=0, k_reports=50)

    assert len(result.state["reports"]) == 7


@pytest.mark.parametrize(
    "follow_ups",
    [
        ["Who leads?", "who leads", "WHO  LEADS?!", "Who, leads?", "Ｗｈｏ ｌｅａｄｓ？", QUESTION],
        [QUESTION.upper(), "Who leads?", "Who leads ?"],
    ],
)
async def test_what_was_asked_before_is_not_searched_again(
    dulce: dict[str, Any], script: DriftScript, follow_ups: list[str]
) -> None:
    script.follow_ups = lambda question: follow_ups

    result = await drift(dulce, n_depth=3)

    assert script.asked == {"Who leads?": 1}
    dropped = [a for a in current(result.state["actions"]).values() if a["status"] == "dropped"]
    assert dropped
    assert all(action["reason"].startswith("It was asked before, as 0") for action in dropped)


async def test_what_means_nearly_the_same_can_be_dropped(
    dulce: dict[str, Any], script: DriftScript
) -> None:
    script.follow_ups = lambda question: [
        "Who is the leader of the squad?",
        "Who is the leader of that squad?",
        "Which signal did they receive?",
    ]

    result = await drift(dulce, similar_above=0.95, n_depth=1)

    assert len(script.asked) == 2
    assert script.asked["Which signal did they receive?"] == 1
    assert "nearly the same" in " ".join(a["reason"] for a in result.state["actions"])


async def test_the_best_answers_follow_ups_come_first(
    dulce: dict[str, Any], script: DriftScript
) -> None:
    script.follow_ups = lambda question: (
        ["Bad lead?", "Good lead?"] if question == QUESTION else [f"After {question}"]
    )
    script.score = lambda question: 90 if "Good" in question else 60

    await drift(dulce, drift_k_followups=2, n_depth=1)
    assert list(script.asked) == ["Bad lead?", "Good lead?"] or len(script.asked) == 2
    script.asked.clear()
    result = await drift(dulce, drift_k_followups=1, n_depth=3)

    searched = [a for a in current(result.state["actions"]).values() if a["status"] == "answered"]
    assert len(searched) == 4


async def test_the_ranking_can_be_replaced(dulce: dict[str, Any], script: DriftScript) -> None:
    def last_first(candidates: Any) -> Any:
        return sorted(candidates, key=lambda item: item.action["id"], reverse=True)

    result = await run(
        build(ranking=last_first),
        QUESTION,
        {**dulce, "drift_k_followups": 1, "n_depth": 1, "primer_folds": 1},
    )

    answered = [a["id"] for a in current(result.state["actions"]).values() if a["answer"]]
    assert answered == ["0", "0.4"]


async def test_it_stops_when_scores_rise_no_more(
    dulce: dict[str, Any], script: DriftScript
) -> None:
    script.score = lambda question: 70

    result = await drift(dulce, stop_when_flat=True, n_depth=5, drift_k_followups=2)

    assert sum(script.asked.values()) == 2
    assert "Scores rise no more" in result.state["decisions"][-2]["reason"]


async def test_it_stops_when_nothing_new_is_suggested(
    dulce: dict[str, Any], script: DriftScript
) -> None:
    script.follow_ups = lambda question: ["Who leads?"] if question == QUESTION else []

    result = await drift(dulce, n_depth=5)

    assert script.asked == {"Who leads?": 1}
    assert result.output["status"] == "answered"


@pytest.mark.parametrize("follow_ups", [None, [], "", 7, [None], "N/A"])
async def test_without_follow_ups_the_question_itself_is_searched(
    dulce: dict[str, Any], script: DriftScript, follow_ups: Any
) -> None:
    script.follow_ups = lambda question: follow_ups if question == QUESTION else []

    result = await drift(dulce, n_depth=2)

    assert script.asked[QUESTION] == 1 or script.asked["N/A"] == 1
    assert result.output["status"] == "answered"


async def test_follow_ups_in_one_string_are_questions_not_letters(
    dulce: dict[str, Any], script: DriftScript
) -> None:
    script.follow_ups = lambda question: (
        "1. Who leads?\n2. What was heard?" if question == QUESTION else []
    )

    await drift(dulce)

    assert sorted(script.asked) == ["What was heard?", "Who leads?"]


# --- bounds -------------------------------------------------------------------------------------


@pytest.mark.parametrize("concurrency", [1, 2, 8])
async def test_concurrency_is_what_it_says(
    dulce: dict[str, Any], script: DriftScript, concurrency: int
) -> None:
    script.crowd, script.latency = concurrency, 0.05
    script.follow_ups = lambda question: [f"What is part {number}?" for number in range(12)]

    await drift(dulce, max_concurrency=concurrency, drift_k_followups=12, n_depth=1)

    assert script.most_in_flight == concurrency


BUDGETS = [
    pytest.param(calls, marks=[] if calls in (0, 1, 2, 4, 8, 13, 30) else pytest.mark.slow)
    for calls in range(31)
]


@pytest.mark.parametrize("calls", BUDGETS)
async def test_a_budget_of_calls_is_kept_and_there_is_always_an_answer(
    dulce: dict[str, Any], openai_stub: OpenAIStub, script: DriftScript, calls: int
) -> None:
    result = await drift(dulce, max_model_calls=calls)

    assert len(openai_stub.chats) <= calls
    assert result.output["usage"]["calls"] == len(openai_stub.chats)
    assert result.output["answer"]
    assert result.output["status"] == ("answered" if calls else "partial")
    if calls >= 13:
        assert kinds(openai_stub)["reduce"] == 1


async def test_partial_answers_and_sources_share_the_tokens_of_the_last_call(
    dulce: dict[str, Any], openai_stub: OpenAIStub, script: DriftScript
) -> None:
    script.odd_local = lambda number: {
        "response": f"Answer {number}. " + "It is said at length [1]. " * 200,
        "score": 80 - number,
        "follow_up_queries": [],
    }

    await drift(dulce, data_max_tokens=2_000, drift_k_followups=8, n_depth=1)

    [request] = [request for request in openai_stub.chats if is_reduce(request)]
    [size] = (await token_counter())([prompt_of(request)])
    assert size < 2_600
    scores = [float(s.attributes["score"]) for s in all_of(parse(prompt_of(request)), "answer")]
    assert scores == sorted(scores, reverse=True)


async def test_answers_of_score_zero_are_left_out(
    dulce: dict[str, Any], openai_stub: OpenAIStub, script: DriftScript
) -> None:
    script.score = lambda question: 0 if "person 1" in question else 60

    await drift(dulce, n_depth=1, primer_folds=1)

    [request] = [request for request in openai_stub.chats if is_reduce(request)]
    answers = all_of(parse(prompt_of(request)), "answer")
    assert len(answers) == 5
    assert not any("person 1" in answer.attributes["question"] for answer in answers)


# --- faults -------------------------------------------------------------------------------------

ODD = [
    '["a list", "of strings"]',
    '[{"response": "In a list [1].", "score": 60, "follow_up_queries": []}]',
    '"A JSON string that says something."',
    "null",
    "",
    "Plain prose instead of JSON, which still answers [1].",
    '```json\n{"response": "Fenced [1].", "score": 70, "follow_up_queries": ["x?"]}\n```',
    '{"response": "Cut off [1]. And then',
    "{'response': 'Single quotes [1].', 'score': 50, 'follow_up_queries': []}",
    '{"response": "High [1].", "score": "high", "follow_up_queries": null}',
    '{"response": "Null [1].", "score": null, "follow_up_queries": [{"query": "As object?"}]}',
    '{"response": null, "score": 10}',
    '{"answer": "Under another name [1].", "score": "85/100", "follow_up_queries": "One?"}',
    '{"query": "q", "query": "q", "response": {"text": "Nested [1]."}, "score": NaN}',
]


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
async def test_odd_answers_break_nothing(
    dulce: dict[str, Any], script: DriftScript, odd: str
) -> None:
    script.odd_local = lambda number: Answer(odd) if number % 3 == 0 else None
    script.odd_primer = lambda number: Answer(odd) if number == 0 else None

    result = await drift(dulce, n_depth=1, drift_k_followups=6)

    assert result.output["status"] == "answered"
    assert statuses(result)["answered"] >= 4
    for action in current(result.state["actions"]).values():
        assert action["status"] != "pending"
        assert action["status"] != "failed" or action["reason"]
        assert isinstance(action["answer"], str | None)
        assert all(len(query) > 1 for query in action["follow_ups"])


async def test_a_model_that_fails_on_some_calls_is_listed_and_answered_around(
    dulce: dict[str, Any], script: DriftScript
) -> None:
    script.fails = lambda question: "person 1" in question or "person 3" in question

    result = await drift(dulce, n_depth=1, drift_k_followups=5)

    failed = [a for a in current(result.state["actions"]).values() if a["status"] == "failed"]
    assert len(failed) == 2
    assert all("form asked for" in action["reason"] for action in failed)
    assert result.output["status"] == "answered"


async def test_if_no_report_can_be_read_the_question_is_searched_locally(
    dulce: dict[str, Any], script: DriftScript
) -> None:
    script.odd_primer = lambda number: Answer("null")

    result = await drift(dulce, n_depth=1)

    assert script.asked == {QUESTION: 1}
    assert result.output["status"] == "answered"
    assert any("was searched for as it is" in text for text in result.output["warnings"])


async def test_if_nothing_is_answered_the_records_themselves_are(
    dulce: dict[str, Any], openai_stub: OpenAIStub, script: DriftScript
) -> None:
    script.odd_primer = script.odd_local = lambda number: Answer("null")

    result = await drift(dulce, n_depth=1)

    assert result.output["status"] == "answered"
    assert kinds(openai_stub)["reduce"] == 0
    assert result.output["sources"]


async def test_if_the_last_call_fails_the_best_partial_answers_stand(
    dulce: dict[str, Any], script: DriftScript
) -> None:
    script.odd_text = lambda number: None if number == 0 else Fault(503)

    result = await drift(dulce, n_depth=1, drift_k_followups=2)

    assert result.output["status"] == "partial"
    assert "The records say so of" in result.output["answer"]
    assert result.streamed == result.output["answer"]
    assert result.output["warnings"]


async def test_a_hypothesis_that_fails_leaves_the_question_to_search_with(
    dulce: dict[str, Any], script: DriftScript
) -> None:
    script.odd_text = lambda number: Fault(503) if number < 3 else None

    result = await drift(dulce, n_depth=0)

    assert result.state["hypothesis"] == QUESTION
    assert result.output["status"] == "answered"


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder without an index."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("empty_folder")
async def test_a_default_index_without_a_graph_says_how_to_make_one(script: DriftScript) -> None:
    result = await drift({"model": "openai:stub"})

    assert result.output["status"] == "no_evidence"
    assert any("ragweave graph-index" in text for text in result.output["warnings"])


async def test_a_named_graph_that_is_missing_raises(tmp_path: Path, script: DriftScript) -> None:
    with pytest.raises(IndexMissing):
        await drift({"index": f"graphrag:{tmp_path / 'none'}", "model": "openai:stub"})


# --- the answer ---------------------------------------------------------------------------------


async def test_citations_keep_their_meaning_from_local_answers_to_the_final_one(
    dulce: dict[str, Any], openai_stub: OpenAIStub, script: DriftScript
) -> None:
    script.odd_text = lambda number: None

    result = await drift(dulce, n_depth=1, drift_k_followups=3)

    [request] = [request for request in openai_stub.chats if is_reduce(request)]
    shown = {
        int(source.attributes["number"]): source.attributes.get("title")
        for source in all_of(parse(prompt_of(request)), "source")
    }
    actions = current(result.state["actions"])
    best = max(
        (action for action in actions.values() if action["answer"]),
        key=lambda action: action["score"] or 0,
    )
    first, second = best["source_ids"][:2]
    numbers = {source["id"]: source["number"] for source in result.output["sources"]}
    assert (numbers[first], numbers[second]) == (1, 2)
    assert {s["number"]: s["title"] for s in result.output["sources"][: len(shown)]} == shown


async def test_the_context_is_the_union_of_what_all_calls_saw(
    dulce: dict[str, Any], script: DriftScript
) -> None:
    result = await drift(dulce, n_depth=1, drift_k_followups=3)

    seen = {source for action in result.state["actions"] for source in action["source_ids"]}
    sources = result.output["sources"]
    assert {source["id"] for source in sources} == seen
    assert [source["number"] for source in sources] == list(range(1, len(sources) + 1))


async def test_the_answer_can_cite_as_graphrag_does(
    dulce: dict[str, Any], script: DriftScript
) -> None:
    result = await drift(dulce, n_depth=1, citation_style="graphrag")

    by_number = {source["number"]: source["metadata"] for source in result.output["sources"]}
    names = [f"{by_number[n]['table'].capitalize()} ({by_number[n]['number']})" for n in (1, 2)]
    assert f"Dulce [Data: {'; '.join(names)}]." in result.output["answer"]
    assert result.of_type("revised")[-1]["answer"] == result.output["answer"]
    assert result.output["messages"][-1].text == result.output["answer"]


async def test_general_knowledge_is_allowed_only_on_request(
    dulce: dict[str, Any], openai_stub: OpenAIStub, script: DriftScript
) -> None:
    await drift(dulce, n_depth=1, drift_k_followups=1)
    assert not any("general knowledge" in str(request) for request in openai_stub.chats)

    await drift(dulce, n_depth=1, drift_k_followups=1, allow_general_knowledge=True)
    marked = [r for r in openai_stub.chats if "(general knowledge)" in str(r["messages"][0])]
    assert {schema_of(request) for request in marked} == {"LocalAnswer", None}


async def test_a_chinese_question_names_its_language_in_every_prompt(
    dulce: dict[str, Any], openai_stub: OpenAIStub, script: DriftScript
) -> None:
    await drift(dulce, "小队在准备什么任务？", n_depth=1, drift_k_followups=2)

    assert kinds(openai_stub)["LocalAnswer"] == 2
    for request in openai_stub.chats:
        [language] = all_of(parse(prompt_of(request)), "language")
        assert language.text == "Chinese"


# --- runs do not touch each other -----------------------------------------------------------------


async def test_the_same_question_gives_the_same_requests_and_answer(
    dulce: dict[str, Any], openai_stub: OpenAIStub, script: DriftScript
) -> None:
    seen = []
    for _ in range(3):
        before = len(openai_stub.chats)
        result = await drift(dulce, hyde="random", seed=7)
        requests = sorted(str(request["messages"]) for request in openai_stub.chats[before:])
        seen.append((requests, result.output["answer"], result.state["actions"][-1]["id"]))

    assert seen[0] == seen[1] == seen[2]


async def test_questions_at_once_do_not_mix(
    dulce: dict[str, Any], openai_stub: OpenAIStub, script: DriftScript
) -> None:
    questions = [f"What is thing {number}?" for number in range(4)]
    alone = [await drift(dulce, question) for question in questions]

    together = await asyncio.gather(*(drift(dulce, question) for question in questions))

    for one, other in zip(alone, together, strict=True):
        for kind in ("query", "answer", "score", "status", "source_ids"):
            mine, theirs = (
                [action[kind] for action in current(result.state["actions"]).values()]
                for result in (one, other)
            )
            assert mine == theirs


async def test_a_second_question_in_a_thread_starts_with_an_empty_tree(
    dulce: dict[str, Any], script: DriftScript
) -> None:
    graph = build().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    context: Any = {**dulce, "n_depth": 1, "drift_k_followups": 2}
    await graph.ainvoke({"question": QUESTION}, config, context=context)

    await graph.ainvoke({"question": "Who is Alex Mercer?"}, config, context=context)

    state = (await graph.aget_state(config)).values
    actions = current(state["actions"])
    assert actions["0"]["query"] != QUESTION
    assert sum(action["depth"] == 1 and bool(action["answer"]) for action in actions.values()) == 2
