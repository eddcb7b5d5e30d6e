"""One call to a model through all its attempts: bounded, retried, counted."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    stop_after_attempt,
    wait_exponential,
    wait_random,
)

from ragweave.models.budget import ledger_of, reached
from ragweave.models.faults import Transient
from ragweave.models.loops import PerLoop
from ragweave.models.parsing import finish_reason, whole
from ragweave.models.providers import REQUEST_SECONDS
from ragweave.models.tokens import token_counter
from ragweave.state.context import RagContext
from ragweave.state.errors import CallFailed, ModelUnavailable, RagweaveError, RequestRefused
from ragweave.state.records import StageUsage, Usage

ResultT = TypeVar("ResultT")

MAX_ATTEMPTS = 3
MAX_IN_FLIGHT = 64
"""Most calls at the same time on one event loop, over all runs: more only wait for each other's
CPU time, and for the provider."""

_in_flight = PerLoop(lambda: asyncio.Semaphore(MAX_IN_FLIGHT))
_backoff = wait_exponential(multiplier=0.5, max=8) + wait_random(0, 0.5)


def in_flight() -> asyncio.Semaphore:
    """The bound on calls of the running event loop."""
    return _in_flight.get()


async def attempted(
    attempt: Callable[[], Awaitable[ResultT]], *, remaining: Callable[[], float]
) -> ResultT:
    """The result of `attempt`, repeated after a `Transient` failure, with growing pauses.

    No pause is longer than the seconds `remaining`.

    Raises:
        ModelUnavailable: the last attempt failed as well.
    """

    def pause(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.wait if isinstance(error, Transient) else None
        return min(_backoff(state) if asked is None else asked, max(remaining(), 0.0))

    retrying = AsyncRetrying(
        stop=stop_after_attempt(MAX_ATTEMPTS),
        wait=pause,
        retry=retry_if_exception_type(Transient),
        reraise=True,
    )
    try:
        return await retrying(attempt)
    except Transient as error:
        raise ModelUnavailable(f"{error} ({MAX_ATTEMPTS} attempts)") from error


class Call:
    """What one stage of a run asks of a model, and what it costs."""

    def __init__(
        self,
        *,
        model: str,
        stage: str,
        state: Mapping[str, Any],
        context: RagContext,
        hidden: bool = True,
    ) -> None:
        self.model = model
        self.stage = stage
        self.heard: list[AIMessageChunk] = []
        """What has come of the answer that is being streamed."""
        self.said = ""
        """What of it was shown."""
        self._hidden = hidden and not state.get("draft")  # an answer that is there needs no call
        self._context = context
        self._ledger = ledger_of(state)
        self._cost = StageUsage(calls=0, input_tokens=0, output_tokens=0, seconds=0.0)

    @property
    def usage(self) -> Usage:
        """The cost of all attempts so far."""
        return Usage(**self._cost, stages={self.stage: self._cost.copy()})

    async def make(
        self,
        messages: Sequence[BaseMessage],
        request: Callable[[asyncio.Timeout], Awaitable[AIMessage]],
    ) -> AIMessage:
        """Send `messages` by `request` and count what the answer cost.

        `request` is given the clock that will stop it, for `still_answering`; it raises the
        errors of `faults_of`.

        Raises:
            CallFailed: of whatever kind, with the usage of all attempts.
            ModelRefused: the provider refused the key or the request.
        """

        async def attempt() -> AIMessage:
            return await self._attempt(messages, request)

        try:
            return await attempted(attempt, remaining=self._remaining)
        except CallFailed as error:
            error.text, error.usage = self.said, self.usage
            raise
        except RequestRefused as error:
            error.usage = self.usage
            raise

    def still_answering(self, clock: asyncio.Timeout) -> None:
        """Give a streamed answer the full time again for its next piece."""
        if not clock.expired():
            clock.reschedule(asyncio.get_running_loop().time() + self._patience())

    async def _count(
        self, messages: Sequence[BaseMessage], answer: AIMessage, *, ended: bool = True
    ) -> None:
        """Add an answer's tokens: the server's figures, and our count of what it did not report.

        Servers report what was written when it has `ended`.
        """
        reported = answer.usage_metadata
        read, written = (
            (reported["input_tokens"], reported["output_tokens"]) if reported else (0, 0)
        )
        if not ended or not read + written:
            counter = await token_counter()
            texts = ["\n".join(message.text for message in messages), _written(answer)]
            counted = await asyncio.to_thread(counter, texts)
            read, written = read or counted[0], max(written, counted[1])
        self._cost["input_tokens"] += read
        self._cost["output_tokens"] += written
        self._ledger.spend(read + written)

    async def _attempt(
        self,
        messages: Sequence[BaseMessage],
        request: Callable[[asyncio.Timeout], Awaitable[AIMessage]],
    ) -> AIMessage:
        self.heard = []
        try:
            answer = await self._answer(request)
        except RagweaveError:
            if self.heard:  # which is paid for, whatever became of it
                partial = whole(self.heard)
                await self._count(messages, partial, ended=finish_reason(partial) is not None)
            raise
        await self._count(messages, answer)
        return answer

    async def _answer(
        self, request: Callable[[asyncio.Timeout], Awaitable[AIMessage]]
    ) -> AIMessage:
        async with self._slot():
            self._ledger.reserve(self._context, hidden=self._hidden)
            self._cost["calls"] += 1
            started = time.monotonic()
            try:
                async with asyncio.timeout(self._patience()) as clock:
                    return await request(clock)
            except (TimeoutError, Transient) as error:
                raise self._failure(error) from error
            finally:
                self._cost["seconds"] += time.monotonic() - started

    def _failure(self, error: TimeoutError | Transient) -> CallFailed:
        if self._remaining() <= 0:
            return reached("deadline_seconds", self._context, self._ledger.elapsed())
        if isinstance(error, TimeoutError):
            error = Transient(f"{self.model}: no answer in {REQUEST_SECONDS:.0f} seconds")
        if self.said.strip():  # another attempt would say it all again
            return ModelUnavailable(f"{error} (the answer broke off)")
        return error

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[None]:
        """A place among the calls of this run, then among those of the event loop."""
        async with AsyncExitStack() as held:
            try:
                async with asyncio.timeout(self._remaining()):
                    await held.enter_async_context(self._ledger.slots(self._context))
                    await held.enter_async_context(in_flight())
            except TimeoutError:
                raise reached("deadline_seconds", self._context, self._ledger.elapsed()) from None
            yield

    def _patience(self) -> float:
        return min(REQUEST_SECONDS, self._remaining())

    def _remaining(self) -> float:
        return self._ledger.remaining(self._context)


def _written(answer: AIMessage) -> str:
    arguments = [json.dumps(call["args"], ensure_ascii=False) for call in answer.tool_calls]
    return "\n".join([answer.text, *arguments])
