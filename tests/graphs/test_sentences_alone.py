"""What is answered where the budget ends before the model has written anything."""

from __future__ import annotations

import pytest

from ragweave.nodes.answer import SENTENCES_ALONE
from tests.graphs.conftest import Library
from tests.graphs.running import run
from tests.graphs.techniques import BUILDERS
from tests.servers import OpenAIStub

TEXTS = [
    "The harbour tariff is 40 crowns a day [2]. It is paid at the office (Source 2).",
    "The harbour has 12 berths for ships. The mole of the harbour is long.",
]


@pytest.mark.parametrize("technique", ["crag", "rag_fusion", "longrag", "citation"])
async def test_they_are_sentences_of_the_sources_cited_as_ours_and_a_warning_says_so(
    technique: str, library: Library, openai_stub: OpenAIStub
) -> None:
    context = {"index": await library(TEXTS), "model": "openai:stub", "max_model_calls": 0}
    result = await run(BUILDERS[technique](), "What is the harbour tariff?", context)
    output = result.output
    numbers = {source["text"]: source["number"] for source in output["sources"]}
    tariff, berths = (numbers[text] for text in TEXTS)
    assert openai_stub.chats == []
    assert f"The harbour tariff is 40 crowns a day [{tariff}]." in output["answer"]
    assert f"The harbour has 12 berths for ships [{berths}]." in output["answer"]
    assert [(c["number"], c["status"]) for c in output["citations"]] == [
        (1, "grounded"),
        (2, "grounded"),
    ]
    assert result.streamed == output["answer"]
    assert output["status"] == "partial"
    assert output["warnings"].count(SENTENCES_ALONE) == 1


async def test_an_answer_that_a_model_wrote_has_no_such_warning(
    library: Library, openai_stub: OpenAIStub
) -> None:
    openai_stub.script = lambda request: "The tariff is 40 crowns a day [1]."
    context = {
        "index": await library(TEXTS),
        "model": "openai:stub",
        "max_model_calls": 1,
    }
    output = (await run(BUILDERS["rag_fusion"](), "What is the harbour tariff?", context)).output
    assert output["answer"] == "The tariff is 40 crowns a day [1]."
    assert SENTENCES_ALONE not in output["warnings"]
