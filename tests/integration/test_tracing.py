"""What LangSmith is sent: a run of each technique in a process of its own, and a stub that listens.

The process is traced as a user would have it: by environment variables alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.graphs.techniques import ANSWER, QUESTION, TECHNIQUES, THOROUGH, script
from tests.servers import OpenAIStub
from tests.servers.langsmith_stub import LangSmithStub, TracedRun

SECRETS = {
    "LANGSMITH_API_KEY": "lsv2-test-0123456789",
    "OPENAI_API_KEY": "sk-test-0123456789",
    "TAVILY_API_KEY": "tvly-test-0123456789",
    "WEAVIATE_API_KEY": "weaviate-test-0123456789",
}
PROGRAM = """
import asyncio, json, sys
from langsmith import Client, uuid7
from ragweave.serving import aask

index, question, techniques = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])

async def main():
    for technique, settings in techniques.items():
        run_id = uuid7()
        settings |= {"technique": technique, "index": index, "model": "openai:stub"}
        answer = await aask(question, run_id=run_id, **settings)
        assert answer["status"] == "answered", answer
        Client().create_feedback(run_id, key="helpful", score=1, comment=technique)

asyncio.run(main())
from langsmith.run_trees import get_cached_client
get_cached_client().flush(timeout=60)
"""
SEARCHES = {
    "crag": {"search_index": 1},
    "rag_fusion": {"search_index": 3},
    "longrag": {"search_units": 1},
    "citation": {"search_index": 1},
    "local_search": {"search_records": 1},
    "drift": {"search_reports": 1, "search_records": 5},
}
"""The searches of each technique by name, and how many there are of each."""
CALLS = {
    "crag": {"grade", "answer"},
    "rag_fusion": {"expand", "answer"},
    "longrag": {"read", "merge", "shorten"},
    "citation": {"answer", "refine"},
    "local_search": {"answer"},
    "drift": {"hypothesize", "prime", "local_search", "reduce"},
}
"""The model calls of each technique, by the names of their stages."""


@pytest.fixture(scope="module")
def traced(town: str, tmp_path_factory: pytest.TempPathFactory) -> LangSmithStub:
    """What the stub was sent by one run of each technique."""
    with OpenAIStub(script) as model, LangSmithStub() as langsmith:
        ended = subprocess.run(
            [sys.executable, "-c", PROGRAM, town, QUESTION, json.dumps(THOROUGH)],
            env={
                **os.environ,
                **SECRETS,
                "LANGSMITH_TRACING": "true",
                "LANGSMITH_ENDPOINT": langsmith.url,
                "OPENAI_BASE_URL": model.base_url,
            },
            cwd=tmp_path_factory.mktemp("traced"),
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert ended.returncode == 0, ended.stderr
    return langsmith


@pytest.fixture(scope="module")
def traces(traced: LangSmithStub) -> list[TracedRun]:
    return traced.roots


@pytest.fixture
def run(traces: list[TracedRun], technique: str) -> TracedRun:
    """The trace of one technique."""
    return next(root for root in traces if root.name == technique)


def test_each_question_is_one_trace(traces: list[TracedRun]) -> None:
    assert [root.name for root in traces] == TECHNIQUES


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_a_run_says_what_it_works_with(run: TracedRun, technique: str) -> None:
    assert {"ragweave", technique} <= set(run.fields["tags"])
    assert run.metadata["technique"] == technique
    assert run.metadata["index"].startswith("lance:")
    assert run.metadata["model"] == "openai:stub"
    assert run.metadata["tenant"] is None


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_question_and_answer_are_those_of_the_run(run: TracedRun) -> None:
    assert run.inputs["question"] == QUESTION
    assert run.outputs["answer"] == ANSWER
    assert run.fields.get("error") is None


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_steps_have_the_names_of_their_nodes(run: TracedRun) -> None:
    names = [child.name for child in run.children]
    assert names[0] == "prepare"
    assert "verify_citations" in names
    assert all(child.kind == "chain" for child in run.children)


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_searches_are_retriever_runs_with_documents(run: TracedRun, technique: str) -> None:
    searches = run.of("retriever")
    names = [search.name for search in searches]
    assert {name: names.count(name) for name in names} == SEARCHES[technique]
    for search in searches:
        assert set(search.inputs) == {"query"}
        assert search.outputs["documents"]
        for document in search.outputs["documents"]:
            assert document["type"] == "Document"
            assert document["page_content"]
            assert document["metadata"]["id"]


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_model_runs_have_their_stage_and_usage(run: TracedRun, technique: str) -> None:
    calls = run.of("llm")
    assert {call.name for call in calls} == CALLS[technique]
    spent = [
        call.outputs["generations"][0][0]["message"]["kwargs"]["usage_metadata"] for call in calls
    ]
    assert all(usage["input_tokens"] > 0 and usage["output_tokens"] > 0 for usage in spent)
    total = sum(usage["total_tokens"] for usage in spent)
    usage = run.outputs["usage"]
    assert total == usage["input_tokens"] + usage["output_tokens"]
    assert len(calls) == usage["calls"]


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_steps_and_searches_show_the_beginning_of_long_texts(
    run: TracedRun, technique: str
) -> None:
    steps = [step for step in run.within() if step.kind != "llm" and step is not run]
    shown = [value for step in steps for value in leaves([step.inputs, step.outputs])]
    assert max(len(value) for value in shown if isinstance(value, str)) < 1_100
    cut = any("characters)" in value for value in shown if isinstance(value, str))
    assert cut or technique == "drift"  # which keeps ids of the town's long texts


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_no_vector_is_sent(run: TracedRun) -> None:
    for step in run.within():
        shown = leaves([step.inputs, step.outputs])
        assert sum(isinstance(value, float) for value in shown) < 100


def leaves(value: object) -> Iterator[object]:
    """What stands at the ends of nested data."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from leaves(item)
    else:
        yield value


def test_no_secret_is_sent(traced: LangSmithStub) -> None:
    assert QUESTION in traced.everything
    assert not [name for name, secret in SECRETS.items() if secret in traced.everything]


def test_feedback_finds_its_run(traced: LangSmithStub, traces: list[TracedRun]) -> None:
    runs = {root.fields["id"]: root.name for root in traces}
    given = {runs[verdict["run_id"]]: verdict["comment"] for verdict in traced.feedback}
    assert given == {technique: technique for technique in TECHNIQUES}
