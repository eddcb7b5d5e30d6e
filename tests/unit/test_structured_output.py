"""Structured answers in every shape that models give them."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from ragweave.models import register
from ragweave.models.calls import Reply, ask_structured
from ragweave.models.parsing import Unfit, parse
from ragweave.models.schemas import DocumentGrade, DocumentGrades
from ragweave.state.context import RagContext
from ragweave.state.errors import BudgetReached, MalformedAnswer, ModelRefused
from tests.servers import Answer, Fault, OpenAIStub, schema_of

RELEVANT = DocumentGrade(reason="says so", verdict="relevant")
GRADE = RELEVANT.model_dump()
MESSAGES = [SystemMessage("Judge."), HumanMessage("a document")]


async def ask(
    model: str = "openai:stub",
    context: RagContext | None = None,
    salvage: Callable[[str], DocumentGrade | None] | None = None,
) -> Reply[DocumentGrade]:
    return await ask_structured(
        DocumentGrade,
        MESSAGES,
        model=model,
        stage="grade",
        state={"settings": {"run_id": uuid.uuid4().hex}},
        context=context or RagContext(),
        salvage=salvage,
    )


def said_yes(text: str) -> DocumentGrade | None:
    return DocumentGrade(reason=text, verdict="relevant") if text.startswith("yes") else None


@pytest.mark.parametrize(
    "text",
    [
        '{"reason": "says so", "verdict": "relevant"}',
        '```json\n{"reason": "says so", "verdict": "relevant"}\n```',
        'Here you are:\n{"reason": "says so", "verdict": "relevant"}\nAnything else?',
        "{'reason': 'says so', 'verdict': 'relevant'}",
        '{"reason": "says so", "verdict": "relevant",}',
        '{"reason": "says so", "verdict": "relevant"',
        '{reason: "says so", verdict: "relevant"}',
        '[{"reason": "says so", "verdict": "relevant"}]',
        '{"DocumentGrade": {"reason": "says so", "verdict": "relevant"}}',
        '{"reason": "says so", "verdict": "relevant", "confidence": NaN}',
        '{"verdict": "?"} No: {"reason": "says so", "verdict": "relevant"}',
        '<think>{"verdict": "irrelevant"}?</think>{"reason": "says so", "verdict": "relevant"}',
    ],
)
async def test_a_bent_answer_is_read_without_asking_again(
    openai_stub: OpenAIStub, text: str
) -> None:
    openai_stub.say(text)
    reply = await ask()
    assert reply.value == RELEVANT
    assert reply.usage["calls"] == len(openai_stub.calls) == 1


@pytest.mark.parametrize(
    "text",
    [
        '{"grades": [{"number": 1, "reason": "so", "verdict": "partly"}]}',
        '[{"number": 1, "reason": "so", "verdict": "partly"}]',
        '{"number": "1", "reason": "so", "verdict": "partly"}',
    ],
)
def test_a_list_is_read_with_or_without_what_is_around_it(text: str) -> None:
    grades = parse(DocumentGrades, AIMessage(text)).grades
    assert [(grade.number, grade.verdict) for grade in grades] == [(1, "partly")]


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        (AIMessage(""), "no JSON"),
        (AIMessage("yes"), "no JSON"),
        (AIMessage("null"), "no JSON"),
        (AIMessage('"relevant"'), "no JSON"),
        (AIMessage("as [1] says"), "answer: "),
        (AIMessage('{"reason": "x"}'), "verdict: Field required"),
        (AIMessage('{"reason": NaN, "verdict": "relevant"}'), "reason: "),
        (AIMessage(json.dumps(GRADE), response_metadata={"finish_reason": "length"}), "cut off"),
        (AIMessage("I can't", response_metadata={"stop_reason": "refusal"}), "refused"),
    ],
)
def test_what_does_not_fit_is_told(message: AIMessage, problem: str) -> None:
    with pytest.raises(Unfit, match=problem):
        parse(DocumentGrade, message)


def test_arguments_of_a_tool_are_an_answer_too() -> None:
    called = AIMessage("", tool_calls=[{"name": "DocumentGrade", "args": GRADE, "id": "1"}])
    broken = {"name": "x", "args": json.dumps(GRADE)[:-1], "id": "1", "error": "bad JSON"}
    almost = AIMessage("", invalid_tool_calls=[{**broken, "type": "invalid_tool_call"}])
    assert parse(DocumentGrade, called) == parse(DocumentGrade, almost) == RELEVANT


async def test_the_schema_goes_over_the_wire(openai_stub: OpenAIStub) -> None:
    openai_stub.say(GRADE)
    await ask()
    request = openai_stub.chats[0]
    assert schema_of(request) == "DocumentGrade"
    assert request["response_format"]["json_schema"]["strict"] is True
    schema = request["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["verdict"]["enum"] == ["relevant", "partly", "irrelevant"]
    assert schema["additionalProperties"] is False


async def test_prose_that_can_be_salvaged_costs_no_second_call(openai_stub: OpenAIStub) -> None:
    openai_stub.say("yes, it is")
    reply = await ask(salvage=said_yes)
    assert reply.value.reason == "yes, it is"
    assert len(openai_stub.calls) == 1


async def test_the_model_is_shown_its_mistake_once(openai_stub: OpenAIStub) -> None:
    openai_stub.say('{"verdict": "good", "reason": ""}', GRADE)
    reply = await ask()
    assert reply.value.verdict == "relevant"
    assert reply.usage["calls"] == 2
    mistake, correction = openai_stub.chats[1]["messages"][-2:]
    assert mistake == {"role": "assistant", "content": '{"verdict": "good", "reason": ""}'}
    assert "verdict: Input should be 'relevant', 'partly' or 'irrelevant'" in correction["content"]


@pytest.mark.parametrize(
    "answer", ["I cannot judge.", "", "{", '{"verdict": 7}', Answer("{}", finish_reason="length")]
)
async def test_two_mistakes_are_a_malformed_answer(
    openai_stub: OpenAIStub, answer: str | Answer
) -> None:
    openai_stub.say("I cannot judge.", answer)
    with pytest.raises(MalformedAnswer) as raised:
        await ask(salvage=said_yes)
    assert raised.value.text == (answer.text if isinstance(answer, Answer) else answer)
    assert raised.value.usage is not None
    assert raised.value.usage["calls"] == len(openai_stub.calls) == 2


async def test_a_filtered_answer_is_malformed(openai_stub: OpenAIStub) -> None:
    openai_stub.script = lambda request: Answer("", finish_reason="content_filter")
    with pytest.raises(MalformedAnswer, match="refused"):
        await ask()


async def test_the_second_call_is_within_the_budget_too(openai_stub: OpenAIStub) -> None:
    openai_stub.script = lambda request: "I cannot judge."
    with pytest.raises(BudgetReached) as raised:
        await ask(context=RagContext(max_model_calls=2))
    assert raised.value.usage is not None
    assert raised.value.usage["calls"] == len(openai_stub.calls) == 1


async def test_a_server_without_schemas_is_told_in_words(openai_stub: OpenAIStub) -> None:
    def script(request: dict[str, Any]) -> dict[str, str] | Fault:
        if "response_format" in request:
            return Fault(400, "response_format is not supported by this server.")
        return GRADE

    openai_stub.script = script
    first, second = await ask(), await ask()
    assert (first.usage["calls"], second.usage["calls"]) == (2, 1)
    system = openai_stub.chats[-1]["messages"][0]["content"]
    assert system.startswith("Judge.")
    assert '"verdict"' in system


async def test_another_refusal_is_not_taken_for_that(openai_stub: OpenAIStub) -> None:
    openai_stub.script = lambda request: Fault(400, "The model is asleep.")
    with pytest.raises(ModelRefused, match="asleep"):
        await ask()
    assert len(openai_stub.calls) == 1


async def test_a_model_without_structured_output_is_told_in_words() -> None:
    class Plain(GenericFakeChatModel):
        pass

    model: BaseChatModel = Plain(messages=iter([AIMessage(json.dumps(GRADE))]))
    register("plain", model)
    assert (await ask("plain")).value == RELEVANT
