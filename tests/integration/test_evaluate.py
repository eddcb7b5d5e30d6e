"""The page on tracing, run as it stands: feedback and evaluations reach a stub of LangSmith.

It runs in a process of its own, traced by environment variables as a user would have it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.langsmith_datasets import LangSmithDatasets

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "tracing.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
KNOWN = "What does the Aurora carry to Port Vale?"
UNKNOWN = "Who invented the telephone?"
PROGRAM = """
import asyncio, sys
from langsmith import Client, evaluate
from langsmith.run_trees import get_cached_client
from ragweave.serving import ask

known, unknown, page = sys.argv[1:]
exec(page)

client = Client()
dataset = client.create_dataset("questions")
wanted = {"status": "answered", "document_ids": ["annals.md", "other.md"]}
examples = [
    {"inputs": {"question": known}, "reference_outputs": wanted},
    {"inputs": {"question": unknown}, "reference_outputs": {"status": "no_evidence"}},
]
client.create_examples(dataset_id=dataset.id, examples=examples)

asyncio.run(evaluate_dataset("questions"))
evaluators = [citation_groundedness, status_match, retrieval_recall]
answer = lambda inputs: ask(inputs["question"], technique="citation")
evaluate(answer, data="questions", evaluators=evaluators)
local = evaluate(answer, data="questions", evaluators=evaluators, upload_results=False)
assert len(list(local)) == len(examples)

asyncio.run(ask_and_judge(known))
get_cached_client().flush(timeout=60)
client.flush(timeout=60)
"""


@pytest.fixture(scope="module")
def langsmith(town: str, tmp_path_factory: pytest.TempPathFactory) -> LangSmithDatasets:
    """What the stub was sent."""
    code = "\n".join(BLOCK.findall(PAGE.read_text("utf-8")))
    with LangSmithDatasets() as stub:
        ended = subprocess.run(
            [sys.executable, "-c", PROGRAM, KNOWN, UNKNOWN, code],
            env={
                **os.environ,
                "LANGSMITH_TRACING": "true",
                "LANGSMITH_API_KEY": "lsv2-test-0123456789",
                "LANGSMITH_ENDPOINT": stub.url,
                "RAGWEAVE_INDEX": town,
                "PYTHONWARNINGS": "error,default:'upload_runs'",
            },
            cwd=tmp_path_factory.mktemp("evaluated"),
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert ended.returncode == 0, ended.stderr
    return stub


def test_every_evaluator_scores_every_answer(langsmith: LangSmithDatasets) -> None:
    scores = {
        KNOWN: {"citation_groundedness": 1.0, "status_match": 1.0, "retrieval_recall": 0.5},
        UNKNOWN: {"citation_groundedness": None, "status_match": 1.0, "retrieval_recall": None},
    }
    by_aevaluate, by_evaluate = (
        langsmith.scores(id)
        for id, experiment in langsmith.experiments.items()
        if experiment.get("reference_dataset_id")
    )
    assert by_aevaluate == scores
    assert by_evaluate == scores


def test_an_answer_of_an_experiment_is_traced_as_any_other(langsmith: LangSmithDatasets) -> None:
    examples = {example["id"] for example in langsmith.examples}
    answered = [
        root for root in langsmith.roots if root.fields.get("reference_example_id") in examples
    ]
    assert len(answered) == 4
    for root in answered:
        assert [child.name for child in root.children] == ["citation"]
        assert root.of("retriever")


def test_feedback_names_its_run_and_project(langsmith: LangSmithDatasets) -> None:
    (helpful,) = (verdict for verdict in langsmith.feedback if verdict["key"] == "helpful")
    (asked,) = (root for root in langsmith.roots if root.fields["id"] == helpful["run_id"])
    assert asked.name == "crag"
    assert langsmith.experiments[helpful["session_id"]]["name"] == asked.fields["session_name"]
