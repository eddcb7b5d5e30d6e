"""Budgets, for every technique: kept, counted over branches and sub-graphs, and always answered."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.graphs.running import Run, run
from tests.graphs.techniques import BUILDERS, QUESTION, TECHNIQUES, THOROUGH, script
from tests.servers import Answer, OpenAIStub


@pytest.fixture(autouse=True)
def model(openai_stub: OpenAIStub) -> OpenAIStub:
    openai_stub.script = script
    return openai_stub


async def asked(technique: str, town: str, **budget: Any) -> Run:
    context = {"index": town, "model": "openai:stub", **THOROUGH[technique], **budget}
    return await run(BUILDERS[technique](), QUESTION, context)


def check(result: Run, model: OpenAIStub, limit: str, *, ended: bool) -> None:
    """An answer, a warning exactly if the budget ended the run, and no call uncounted."""
    output = result.output
    assert output["answer"].strip()
    assert output["status"] in ("answered", "partial")
    assert output["usage"]["calls"] == len(model.chats)
    stages = output["usage"]["stages"].values()
    assert sum(stage["calls"] for stage in stages) == len(model.chats)
    warned = [warning for warning in output["warnings"] if limit in warning]
    assert bool(warned) == ended
    if output["status"] == "partial":
        assert warned


@pytest.fixture
async def unbounded(technique: str, town: str, model: OpenAIStub) -> int:
    """How many calls a technique makes when nothing bounds it."""
    await asked(technique, town)
    calls = len(model.chats)
    model.calls.clear()
    return calls


@pytest.mark.parametrize("technique", TECHNIQUES)
async def test_calls(technique: str, town: str, model: OpenAIStub, unbounded: int) -> None:
    for most in range(13):
        model.calls.clear()
        result = await asked(technique, town, max_model_calls=most)
        assert len(model.chats) <= most
        output = result.output
        assert output["answer"].strip()
        assert output["usage"]["calls"] == len(model.chats)
        if most > unbounded:  # the last call is kept for an answer that is seen being written
            check(result, model, "max_model_calls", ended=False)
            assert output["status"] == "answered"
        elif most == 0:
            check(result, model, "max_model_calls", ended=True)
            assert output["status"] == "partial"


@pytest.mark.parametrize("technique", TECHNIQUES)
async def test_tokens(technique: str, town: str, model: OpenAIStub) -> None:
    result = await asked(technique, town, max_tokens=1, max_concurrency=1)
    check(result, model, "max_tokens", ended=technique != "local_search")
    assert len(model.chats) == 1  # the one that spent them


@pytest.mark.parametrize("technique", TECHNIQUES)
async def test_the_deadline(technique: str, town: str, model: OpenAIStub) -> None:
    def slow(request: dict[str, Any]) -> Answer:
        said = script(request)
        return Answer(said if isinstance(said, str) else json.dumps(said), latency=2)

    model.script = slow
    result = await asked(technique, town, deadline_seconds=0.5)
    output = result.output
    assert output["status"] == "partial"
    assert output["answer"].strip()
    assert any("deadline_seconds" in warning for warning in output["warnings"])
    assert output["usage"]["calls"] >= len(model.chats)  # some are cut off before they are sent
