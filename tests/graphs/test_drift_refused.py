"""A DRIFT run goes on when one request is refused, and ends when the key is."""

from __future__ import annotations

from typing import Any

import pytest

from ragweave.graphs.drift import build
from ragweave.nodes.drift.tree import current
from ragweave.serving.graph_context import show_context
from ragweave.state.errors import ModelRefused
from tests.graphs.drift_script import DriftScript
from tests.graphs.running import run
from tests.servers import Fault, OpenAIStub

QUESTION = "What does the squad prepare for?"


@pytest.fixture
def dulce(dulce: dict[str, Any]) -> dict[str, Any]:
    """Settings for nine calls: a hypothesis, three folds, four searches, an answer."""
    return {**dulce, "n_depth": 1, "drift_k_followups": 4}


@pytest.mark.parametrize(
    "refusal",
    [Fault(400, "Your prompt was flagged."), Fault(400, "Filtered.", code="content_filter")],
    ids=["refused", "filtered"],
)
async def test_a_refused_request_is_a_failure_that_is_listed(
    dulce: dict[str, Any], script: DriftScript, refusal: Fault
) -> None:
    script.odd_local = lambda number: refusal if number == 1 else None
    script.odd_primer = lambda number: refusal if number == 0 else None

    result = await run(build(), QUESTION, dulce)

    actions = current(result.state["actions"]).values()
    failed = [action for action in actions if action["status"] == "failed"]
    assert len(failed) == 1
    assert refusal.message in failed[0]["reason"]
    assert result.output["status"] == "answered"
    assert len([action for action in actions if action["status"] == "answered"]) == 4
    assert any(refusal.message in warning for warning in result.output["warnings"])
    assert result.output["usage"]["calls"] == 9


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_ends_the_run(
    dulce: dict[str, Any], script: DriftScript, status: int
) -> None:
    script.odd_local = lambda number: Fault(status, "No.") if number == 1 else None

    with pytest.raises(ModelRefused, match="OPENAI_API_KEY"):
        await run(build(), QUESTION, dulce)


async def test_if_every_request_is_refused_so_is_the_run(
    dulce: dict[str, Any], openai_stub: OpenAIStub
) -> None:
    openai_stub.script = lambda request: Fault(400, "There is no such parameter.")

    with pytest.raises(ModelRefused, match="no such parameter"):
        await run(build(), QUESTION, dulce)


@pytest.fixture
def o200k() -> None:
    """What counts tokens as GraphRAG does; it is imported outside of async code."""
    pytest.importorskip("bpe_openai", reason="needs the extra graphrag")


@pytest.mark.usefixtures("o200k")
@pytest.mark.parametrize("mode", ["shared", "graphrag"])
async def test_a_context_does_not_depend_on_earlier_questions(
    dulce: dict[str, Any], mode: str
) -> None:
    given: Any = {
        "index": dulce["index"],
        "embeddings": "offline",
        "context_mode": mode,
        "text_unit_prop": 0.3,
        "community_prop": 0.2,
    }

    before = await show_context(QUESTION, **given)
    await show_context("Who is Alex Mercer?", **given)

    assert await show_context(QUESTION, **given) == before
