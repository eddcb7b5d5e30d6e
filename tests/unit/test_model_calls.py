"""Calling models over real HTTP: retries, refusals, budgets, concurrency, streams, usage."""

from __future__ import annotations

import asyncio
import gc
import socket
import time
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from ragweave.models import attempts
from ragweave.models.budget import ledger_of
from ragweave.models.calls import Reply, ask_text, stream_text
from ragweave.models.registry import chat_model
from ragweave.state.context import RagContext
from ragweave.state.errors import BudgetReached, ModelRefused, ModelUnavailable
from tests.servers import Answer, Fault, Json, OpenAIStub
from tests.servers.fixtures import OPENAI_KEY

MESSAGES = [HumanMessage("one two three")]


def run_state() -> dict[str, Any]:
    """State of a run of its own."""
    return {"settings": {"run_id": uuid.uuid4().hex}}


async def ask(state: dict[str, Any] | None = None, context: RagContext | None = None) -> Reply[str]:
    return await ask_text(
        MESSAGES,
        model="openai:stub",
        stage="test",
        state=state or run_state(),
        context=context or RagContext(),
    )


async def stream(
    on_text: Callable[[str], None],
    state: dict[str, Any] | None = None,
    context: RagContext | None = None,
) -> Reply[str]:
    return await stream_text(
        MESSAGES,
        model="openai:stub",
        stage="test",
        state=state or run_state(),
        context=context or RagContext(),
        on_text=on_text,
    )


async def test_says_what_the_model_said_and_what_it_cost(openai_stub: OpenAIStub) -> None:
    openai_stub.say("a short answer")
    state = run_state()
    reply = await ask(state)
    assert reply.value == "a short answer"
    stage = reply.usage["stages"]["test"]
    assert (stage["calls"], stage["input_tokens"], stage["output_tokens"]) == (1, 3, 3)
    assert reply.usage["seconds"] == stage["seconds"] > 0
    assert (ledger_of(state).calls, ledger_of(state).tokens) == (1, 6)


async def test_counts_tokens_itself_where_the_server_does_not(openai_stub: OpenAIStub) -> None:
    openai_stub.say(Answer("a short answer", usage=False))
    usage = (await ask()).usage
    assert usage["input_tokens"] > 0
    assert usage["output_tokens"] == 3


@pytest.mark.parametrize(
    "fault",
    [
        Fault(429, "Slow down.", retry_after=0),
        Fault(500, retry_after=0),
        Fault(503, retry_after="Thu, 01 Jan 1970 00:00:00 GMT"),
        Fault(dropped=True),
        Json(raw="{not json"),
        Json(raw="<html>", headers={"Content-Type": "text/html"}),
        Json({"error": {"message": "overloaded"}}),
    ],
)
async def test_a_passing_fault_is_tried_again(
    openai_stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch, fault: Fault | Json
) -> None:
    monkeypatch.setattr(attempts, "_backoff", lambda state: 0)
    openai_stub.say(fault, "at last")
    reply = await ask()
    assert reply.value == "at last"
    assert (reply.usage["calls"], reply.usage["output_tokens"]) == (2, 2)
    assert len(openai_stub.calls) == 2


async def test_gives_up_after_three_attempts_and_says_why(openai_stub: OpenAIStub) -> None:
    openai_stub.script = lambda request: Fault(429, "Rate limit reached.", retry_after=0)
    with pytest.raises(
        ModelUnavailable, match=r"openai:stub: 429 Rate limit .* \(3 attempts\)"
    ) as e:
        await ask()
    assert e.value.usage is not None
    assert e.value.usage["calls"] == len(openai_stub.calls) == 3


async def test_waits_as_long_as_the_server_asks(openai_stub: OpenAIStub) -> None:
    openai_stub.say(Fault(429, retry_after=0.4), "at last")
    await ask()
    first, second = openai_stub.calls
    assert second.started - first.started >= 0.4


async def test_does_not_wait_for_minutes(openai_stub: OpenAIStub) -> None:
    openai_stub.say(Fault(429, "Come back later.", retry_after=600))
    with pytest.raises(ModelUnavailable, match="asks to wait 600 seconds"):
        await ask()
    assert len(openai_stub.calls) == 1


@pytest.mark.parametrize(
    ("fault", "error", "said"),
    [
        (Fault(400, "Unknown field."), ModelRefused, "400 Unknown field."),
        (Fault(404, "No such model."), ModelRefused, "404 No such model."),
        (Fault(403, "Not for you."), ModelRefused, "Check OPENAI_API_KEY."),
        (Fault(429, "Pay.", code="insufficient_quota"), ModelRefused, "insufficient_quota"),
        (Fault(400, "Too long.", code="context_length_exceeded"), ModelUnavailable, "Too long."),
        (Fault(400, "Filtered.", code="content_filter"), ModelUnavailable, "Filtered."),
    ],
)
async def test_what_cannot_pass_is_not_tried_again(
    openai_stub: OpenAIStub, fault: Fault, error: type[Exception], said: str
) -> None:
    openai_stub.say(fault)
    with pytest.raises(error) as raised:
        await ask()
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)
    assert len(openai_stub.calls) == 1


async def test_a_refused_key_is_named_but_never_shown(
    openai_stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "my-own-secret-value")
    with pytest.raises(ModelRefused, match="Check OPENAI_API_KEY") as raised:
        await ask()
    for key in ("my-own-secret-value", OPENAI_KEY):
        assert key not in repr(raised.value)
    assert raised.value.__cause__ is None


async def test_a_server_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{port}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", OPENAI_KEY)
    monkeypatch.setattr(attempts, "_backoff", lambda state: 0)
    with pytest.raises(ModelUnavailable, match=rf"127\.0\.0\.1:{port}.*\(3 attempts\)"):
        await ask()


async def test_an_address_that_answers_with_a_page_is_doubted(
    openai_stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "_backoff", lambda state: 0)
    openai_stub.script = lambda request: Json(raw="<html>Welcome</html>")
    with pytest.raises(ModelUnavailable, match="OPENAI_BASE_URL usually ends in /v1"):
        await stream(lambda text: None)


async def test_an_answer_that_does_not_come_is_given_up(
    openai_stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "REQUEST_SECONDS", 0.5)
    monkeypatch.setattr(attempts, "_backoff", lambda state: 0)
    openai_stub.script = lambda request: Answer("late", latency=5)
    with pytest.raises(ModelUnavailable, match="no answer in"):
        await ask()
    assert len(openai_stub.calls) == 3


async def test_the_deadline_ends_a_call_that_runs(openai_stub: OpenAIStub) -> None:
    openai_stub.script = lambda request: Answer("late", latency=10)
    await chat_model("openai:stub")  # not on the run's clock
    with pytest.raises(BudgetReached) as raised:
        await ask(context=RagContext(deadline_seconds=1))
    assert raised.value.limit == "deadline_seconds"
    assert raised.value.usage is not None
    assert raised.value.usage["calls"] == 1


async def test_the_deadline_ends_the_wait_for_a_turn(openai_stub: OpenAIStub) -> None:
    openai_stub.script = lambda request: Answer("late", latency=10)
    await chat_model("openai:stub")
    state, context = run_state(), RagContext(deadline_seconds=1, max_concurrency=1)
    results = await asyncio.gather(*(ask(state, context) for _ in range(3)), return_exceptions=True)
    assert all(isinstance(result, BudgetReached) for result in results)
    assert len(openai_stub.calls) == 1


@pytest.mark.parametrize("allowed", range(1, 11))
async def test_a_budget_of_calls_is_never_passed(openai_stub: OpenAIStub, allowed: int) -> None:
    """Twenty parallel questions; hidden calls leave the last one to the answer."""
    openai_stub.script = lambda request: Fault(429, retry_after=0)
    state, context = run_state(), RagContext(max_model_calls=allowed)
    results = await asyncio.gather(
        *(ask(state, context) for _ in range(20)), return_exceptions=True
    )
    assert len(openai_stub.calls) == allowed - 1
    limits = {result.limit for result in results if isinstance(result, BudgetReached)}
    assert limits == {"max_model_calls"}
    with pytest.raises((ModelUnavailable, BudgetReached)):
        await stream(lambda text: None, state, context)
    assert len(openai_stub.calls) == allowed


async def test_a_budget_of_tokens_ends_the_run(openai_stub: OpenAIStub) -> None:
    state, context = run_state(), RagContext(max_tokens=8)
    await ask(state, context)
    await ask(state, context)
    with pytest.raises(BudgetReached, match="max_tokens"):
        await ask(state, context)


async def test_a_run_and_the_process_have_bounds(openai_stub: OpenAIStub) -> None:
    """The server answers nobody before as many have come as may come at the same time."""
    crowd = [run_state() for _ in range(attempts.MAX_IN_FLIGHT + 20)]
    for bound, states in ((3, [run_state()] * 12), (attempts.MAX_IN_FLIGHT, crowd)):
        openai_stub.script = _when_crowded(openai_stub, bound)
        await asyncio.gather(*(ask(state, RagContext(max_concurrency=3)) for state in states))
        assert openai_stub.max_in_flight == bound


def _when_crowded(stub: OpenAIStub, crowd: int) -> Callable[[object], str]:
    def script(_: object) -> str:
        ends = time.monotonic() + 20
        while stub.max_in_flight < crowd and time.monotonic() < ends:
            time.sleep(0.01)
        return "OK"

    return script


async def test_streams_piece_by_piece(openai_stub: OpenAIStub) -> None:
    openai_stub.say("one two  three")
    pieces: list[str] = []
    reply = await stream(pieces.append)
    assert pieces == ["one ", "two ", " ", "three"]
    assert reply.value == reply.message.text == "one two  three"
    assert reply.message.id
    assert reply.usage["output_tokens"] == 3
    assert openai_stub.chats[0]["stream_options"] == {"include_usage": True}


async def test_a_stream_without_usage_is_counted(openai_stub: OpenAIStub) -> None:
    openai_stub.say(Answer("one two three", usage=False))
    usage = (await stream(lambda text: None)).usage
    assert usage["input_tokens"] > 0
    assert usage["output_tokens"] > 0


async def test_a_server_that_refuses_usage_is_asked_without_it(openai_stub: OpenAIStub) -> None:
    def script(request: dict[str, Any]) -> str | Fault:
        if "stream_options" in request:
            return Fault(400, "Unsupported parameter: stream_options")
        return "an answer"

    openai_stub.script = script
    first, second = await stream(lambda text: None), await stream(lambda text: None)
    assert first.value == second.value == "an answer"
    assert (first.usage["calls"], second.usage["calls"]) == (2, 1)


async def test_a_stream_that_fails_before_its_first_word_is_tried_again(
    openai_stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "_backoff", lambda state: 0)
    openai_stub.say(Fault(503), Answer("never seen", drop_after=0), "one two")
    pieces: list[str] = []
    reply = await stream(pieces.append)
    assert (reply.value, pieces) == ("one two", ["one ", "two"])
    assert reply.usage["calls"] == 3


async def test_a_stream_that_breaks_off_keeps_what_was_said(openai_stub: OpenAIStub) -> None:
    openai_stub.say(Answer("one two three four", drop_after=2))
    pieces: list[str] = []
    with pytest.raises(ModelUnavailable, match="broke off") as raised:
        await stream(pieces.append)
    assert raised.value.text == "".join(pieces) == "one two "
    assert raised.value.usage is not None
    assert (raised.value.usage["calls"], len(openai_stub.calls)) == (1, 1)
    assert raised.value.usage["output_tokens"] > 0


async def test_a_stream_that_the_deadline_cuts_off_keeps_what_was_said(
    openai_stub: OpenAIStub,
) -> None:
    openai_stub.say(Answer("one two three four five six", pause=0.5))
    await chat_model("openai:stub")
    with pytest.raises(BudgetReached) as raised:
        await stream(lambda text: None, context=RagContext(deadline_seconds=1.5))
    assert raised.value.text.startswith("one ")


async def test_a_slow_stream_has_time_for_each_piece(
    openai_stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "REQUEST_SECONDS", 1)
    openai_stub.say(Answer("one two three four five six seven eight", pause=0.2))
    assert (await stream(lambda text: None)).value.endswith("eight")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<think>hm, [1]?</think>\n\none two", "one two"),
        ("<think>\nhm hm\n</think> one two", "one two"),
        ("  <think>hm", ""),
        ("<thin ice", "<thin ice"),
        ("one <think>two</think>", "one <think>two</think>"),
        ("<", "<"),
    ],
)
async def test_thoughts_are_not_part_of_an_answer(
    openai_stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch, text: str, shown: str
) -> None:
    monkeypatch.setattr(attempts, "_backoff", lambda state: 0)
    openai_stub.script = lambda request: text
    pieces: list[str] = []
    if not shown:
        with pytest.raises(ModelUnavailable, match="empty answer"):
            await stream(pieces.append)
        return
    reply = await stream(pieces.append)
    assert reply.value == "".join(pieces) == (await ask()).value == shown


async def test_an_empty_answer_is_none(openai_stub: OpenAIStub) -> None:
    openai_stub.script = lambda request: Answer(" ", finish_reason="content_filter")
    said = r"openai:stub gave an empty answer \(content_filter\)"
    with pytest.raises(ModelUnavailable, match=said):
        await ask()
    with pytest.raises(ModelUnavailable, match=said) as raised:
        await stream(lambda text: None)
    assert raised.value.usage is not None
    assert raised.value.usage["calls"] == 1


async def test_a_streamed_answer_that_is_empty_is_asked_for_again(
    openai_stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "_backoff", lambda state: 0)
    openai_stub.say("", "one two")
    assert (await stream(lambda text: None)).value == "one two"


@pytest.mark.parametrize("ending", ["length", "content_filter", "MAX_TOKENS", "SAFETY", None])
async def test_an_answer_without_its_end_is_not_taken_for_whole(
    openai_stub: OpenAIStub, ending: str | None
) -> None:
    openai_stub.say(Answer("one two three", finish_reason=ending))
    with pytest.raises(ModelUnavailable, match="the answer broke off") as raised:
        await stream(lambda text: None)
    assert raised.value.text == "one two three"
    assert raised.value.usage is not None
    assert raised.value.usage["output_tokens"] > 0


async def test_a_fault_of_the_listener_is_not_the_models(openai_stub: OpenAIStub) -> None:
    def listener(text: str) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await stream(listener)
    assert len(openai_stub.calls) == 1


def test_each_event_loop_has_connections_of_its_own(openai_stub: OpenAIStub) -> None:
    """Left-over connections would be a ResourceWarning, and warnings are errors here."""
    for _ in range(3):
        assert asyncio.run(_several()) == ["OK"] * 5
    gc.collect()
    assert len(openai_stub.calls) == 15


async def _several() -> list[str]:
    return [reply.value for reply in await asyncio.gather(*(ask() for _ in range(5)))]


async def test_a_cancelled_call_gives_back_its_turn(openai_stub: OpenAIStub) -> None:
    arrived, loop = asyncio.Event(), asyncio.get_running_loop()

    def script(_: object) -> Answer:
        loop.call_soon_threadsafe(arrived.set)
        return Answer("late", latency=5)

    openai_stub.script = script
    state, context = run_state(), RagContext(max_concurrency=1)
    call = asyncio.create_task(ask(state, context))
    await arrived.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    openai_stub.say("OK")
    assert (await ask(state, context)).value == "OK"
