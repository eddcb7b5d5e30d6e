"""People in the loop: picking sources, approving a run's cost, and answers that do not fit."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from tests.graphs.techniques import ANSWER, BUILDERS, QUESTION, THOROUGH, script
from tests.servers import OpenAIStub, prompt_of

THREAD = RunnableConfig(configurable={"thread_id": "1"})
PICKING = ["crag", "rag_fusion", "longrag", "citation", "local_search"]


class Paused:
    """A run up to where it waits for a person."""

    def __init__(self, technique: str, town: str, **settings: Any) -> None:
        self.graph = BUILDERS[technique]().compile(checkpointer=InMemorySaver())
        more = {name: value for name, value in THOROUGH[technique].items() if "tokens" not in name}
        self.context = {"index": town, "model": "openai:stub", **more, **settings}

    async def begin(self) -> dict[str, Any]:
        return await self._asked(
            self.graph.ainvoke({"question": QUESTION}, THREAD, context=self.context)
        )

    async def resume(self, answer: object) -> dict[str, Any]:
        """What is asked again, or the output."""
        return await self._asked(self.graph.ainvoke(Command(resume=answer), THREAD))

    async def _asked(self, running: Any) -> dict[str, Any]:
        output: dict[str, Any] = await running
        if not (waiting := output.get("__interrupt__")):
            return output
        assert waiting[0].response_schema["type"] == "object"
        asked: dict[str, Any] = waiting[0].value
        return asked


@pytest.fixture(autouse=True)
def model(openai_stub: OpenAIStub) -> OpenAIStub:
    openai_stub.script = script
    return openai_stub


@pytest.mark.parametrize("technique", PICKING)
async def test_a_person_picks_the_sources(technique: str, town: str, model: OpenAIStub) -> None:
    run = Paused(technique, town, pick_sources=True)
    asked = await run.begin()
    offered = asked["sources"]
    assert asked["question"] == QUESTION
    assert [source["number"] for source in offered] == list(range(1, len(offered) + 1))
    assert len(offered) >= 2
    before = len(model.chats)
    output = await run.resume([2])
    assert len(output["sources"]) == 1
    assert output["sources"][0]["text"].startswith(offered[1]["text"][:40])
    assert output["sources"][0]["number"] == 1
    assert output["answer"].startswith("The Aurora carries salt and rope [1].")
    for request in model.chats[before:]:
        assert 'number="2"' not in prompt_of(request)


@pytest.mark.parametrize("answer", [True, None, {"numbers": None}])
async def test_a_person_keeps_all(town: str, answer: object) -> None:
    run = Paused("citation", town, pick_sources=True)
    offered = (await run.begin())["sources"]
    if answer is None:
        answer = ", ".join(str(source["number"]) for source in offered)
    output = await run.resume(answer)
    assert len(output["sources"]) == len(offered)
    assert output["status"] == "answered"


@pytest.mark.parametrize("technique", PICKING)
async def test_a_person_keeps_none(technique: str, town: str, model: OpenAIStub) -> None:
    run = Paused(technique, town, pick_sources=True)
    await run.begin()
    before = len(model.chats)
    output = await run.resume(False)
    assert output["status"] == "no_evidence"
    assert len(model.chats) == before


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("the second", "such as [1, 3]"),
        ({"numbers": ["x"]}, "numbers.0"),
        ([99], "There is no source 99."),
        (3.5, "such as [1, 3]"),
    ],
)
async def test_what_is_no_choice_is_asked_again(town: str, answer: object, problem: str) -> None:
    run = Paused("citation", town, pick_sources=True)
    first = await run.begin()
    again = await run.resume(answer)
    assert problem in again["problem"]
    assert again["sources"] == first["sources"]
    output = await run.resume({"numbers": [1]})
    assert len(output["sources"]) == 1


async def test_a_web_query_that_is_none_is_asked_again(
    town: str, openai_stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", "tvly-test")
    run = Paused("crag", town, web_search="ask", search_web_when="any_irrelevant", max_rewrites=0)
    openai_stub.script = lambda request: (
        {"reason": "", "verdict": "irrelevant"}
        if "verdict" in str(request.get("response_format"))
        else ANSWER
    )
    asked = await run.begin()
    assert asked["query"]
    again = await run.resume({"approve": "perhaps"})
    assert "approve" in again["problem"]
    output = await run.resume(False)
    assert "A person refused the web search." in output["warnings"]


async def test_a_cheap_run_asks_nobody(town: str) -> None:
    output = await Paused("drift", town, approve_above_calls=20).begin()
    assert output["answer"] == ANSWER


async def test_a_person_approves_the_cost(town: str, model: OpenAIStub) -> None:
    run = Paused("drift", town, approve_above_calls=5)
    asked = await run.begin()
    assert asked == {"question": QUESTION, "calls": 1 + 2 + 6 + 1, "model": "openai:stub"}
    assert model.chats == []
    output = await run.resume(True)
    assert output["answer"] == ANSWER
    assert 5 < output["usage"]["calls"] <= asked["calls"]


async def test_a_person_allows_fewer_calls(town: str, model: OpenAIStub) -> None:
    run = Paused("drift", town, approve_above_calls=5)
    await run.begin()
    assert "max_model_calls" in (await run.resume(0))["problem"]
    output = await run.resume(4)
    assert output["answer"]
    assert len(model.chats) == output["usage"]["calls"] <= 4


async def test_a_refused_run_ends_with_one_local_search(town: str, model: OpenAIStub) -> None:
    run = Paused("drift", town, approve_above_calls=0)
    await run.begin()
    output = await run.resume(False)
    assert output["status"] == "answered"
    assert len(model.chats) == 1
    assert "A person refused up to 10 model calls" in output["warnings"][0]
