"""What is counted is what is paid for: every answer of a model, also those of no use."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from pydantic import BaseModel

from ragweave.models import attempts, register
from ragweave.models.budget import ledger_of
from ragweave.models.calls import ask_structured, stream_text
from ragweave.state.context import RagContext
from ragweave.state.errors import BudgetReached, CallFailed, MalformedAnswer, ModelUnavailable
from ragweave.state.records import Usage
from tests.servers import Answer, Fault, OpenAIStub

MESSAGES = [HumanMessage("one two three")]  # three tokens for the stub, which counts words


class Grade(BaseModel):
    """What is asked for."""

    verdict: str


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "_backoff", lambda state: 0)


def how(model: str = "openai:stub", **limits: Any) -> dict[str, Any]:
    """How a run of its own calls a model."""
    state = {"settings": {"run_id": uuid.uuid4().hex}}
    return {"model": model, "stage": "test", "state": state, "context": RagContext(**limits)}


async def stream(of: dict[str, Any]) -> Any:
    return await stream_text(MESSAGES, on_text=lambda text: None, **of)


def counted(usage: Usage | None, run: dict[str, Any]) -> tuple[int, int, int]:
    """Calls and tokens, which the budget must have counted as well."""
    assert usage is not None
    ledger = ledger_of(run["state"])
    assert ledger.calls == usage["calls"]
    assert ledger.tokens == usage["input_tokens"] + usage["output_tokens"]
    assert usage["stages"]["test"]["input_tokens"] == usage["input_tokens"]
    return usage["calls"], usage["input_tokens"], usage["output_tokens"]


@pytest.mark.parametrize("empty", ["", " ", "\n\n", "<think>hm hm</think>"])
async def test_an_empty_answer_that_is_asked_for_again(openai_stub: OpenAIStub, empty: str) -> None:
    openai_stub.say(empty, "one two")
    run = how()
    reply = await stream(run)
    assert reply.value.strip() == "one two"
    assert counted(reply.usage, run) == (2, 6, len(empty.split()) + 2)


async def test_answers_that_stay_empty(openai_stub: OpenAIStub) -> None:
    openai_stub.script = lambda request: "<think>hm hm</think>"
    run = how()
    with pytest.raises(ModelUnavailable, match="empty answer") as failure:
        await stream(run)
    assert counted(failure.value.usage, run) == (3, 9, 6)


async def test_empty_answers_spend_the_budget(openai_stub: OpenAIStub) -> None:
    openai_stub.script = lambda request: ""
    run = how(max_tokens=5)
    with pytest.raises(BudgetReached) as failure:
        await stream(run)
    assert failure.value.limit == "max_tokens"
    assert counted(failure.value.usage, run) == (2, 6, 0)


async def test_structured_answers_that_do_not_fit(openai_stub: OpenAIStub) -> None:
    """The second time the model is shown its answer, and how it should be."""
    openai_stub.say("no grade", {"verdict": "good"})
    run = how()
    reply = await ask_structured(Grade, MESSAGES, **run)
    read = sum(words(request) for request in openai_stub.chats)
    assert counted(reply.usage, run) == (2, read, 2 + 2)

    openai_stub.say("no grade", "again no grade")
    run = how()
    with pytest.raises(MalformedAnswer) as failure:
        await ask_structured(Grade, MESSAGES, **run)
    read = sum(words(request) for request in openai_stub.chats[2:])
    assert counted(failure.value.usage, run) == (2, read, 2 + 3)


def words(request: dict[str, Any]) -> int:
    return sum(len(message["content"].split()) for message in request["messages"])


async def test_what_was_refused_is_free(openai_stub: OpenAIStub) -> None:
    openai_stub.say(Fault(503), Fault(429, retry_after=0), "one two")
    run = how()
    assert counted((await stream(run)).usage, run) == (3, 3, 2)


@pytest.mark.parametrize("thoughts", ["<think>hm hm hm", "<think>hm hm</think> "])
async def test_thoughts_that_broke_off_before_the_answer(
    openai_stub: OpenAIStub, thoughts: str
) -> None:
    """No figures came, so that they are counted here, in tokens of another model."""
    openai_stub.say(Answer(f"{thoughts} never seen", drop_after=2), "one two")
    run = how()
    calls, read, written = counted((await stream(run)).usage, run)
    assert calls == 2
    assert read > 3 + 3 - 1
    assert written > 2


# --- a provider that says at the beginning what it has read --------------------------------------


STALL = "(nothing more comes)"


class Reading(BaseChatModel):
    """Says how much it has read, then each text; breaks off before None, and stalls at STALL."""

    script: list[list[str | None]]

    @property
    def _llm_type(self) -> str:
        return "reading"

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        raise NotImplementedError

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        yield _piece("", read=40)
        *texts, last = self.script.pop(0)
        for text in texts:
            yield _piece(text or "")
        if last == STALL:
            await asyncio.sleep(60)
        if last is None:
            raise ConnectionError("gone")
        yield _piece(last, written=7, ending="end_turn")


def _piece(text: str, *, read: int = 0, written: int = 0, ending: str = "") -> ChatGenerationChunk:
    usage = UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)
    metadata = {"stop_reason": ending} if ending else {}
    return ChatGenerationChunk(
        message=AIMessageChunk(content=text, usage_metadata=usage, response_metadata=metadata)
    )


@pytest.mark.parametrize(
    ("script", "calls", "read", "fits"),
    [
        ([["one", " two"]], 1, 40, lambda written: written == 7),
        ([["", " "], ["one", " two"]], 2, 80, lambda written: written == 14),
        ([[None], ["one", " two"]], 2, 80, lambda written: written == 7),
        ([["one", " two", None]], 1, 40, lambda written: 0 < written < 7),
        ([["one", " two", STALL]], 1, 40, lambda written: 0 < written < 7),
        ([[STALL], ["one", " two"]], 2, 80, lambda written: written == 7),
    ],
    ids=["whole", "empty", "broke off at once", "broke off", "stalled", "stalled at once"],
)
async def test_what_was_read_is_known_from_the_beginning(
    script: list[list[str | None]],
    calls: int,
    read: int,
    fits: Callable[[int], bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(attempts, "REQUEST_SECONDS", 1)
    name = f"reading-{uuid.uuid4().hex}"
    register(name, Reading(script=script))
    run = how(name)
    try:
        usage = (await stream(run)).usage
    except CallFailed as failure:
        usage = failure.usage
    counted_calls, counted_read, written = counted(usage, run)
    assert (counted_calls, counted_read) == (calls, read)
    assert fits(written)
