"""The one place that calls a chat model.

Every call is counted and refused past the run's budget, waits for its turn among the calls of its
run and of the process, has a deadline, and is tried again after passing faults. Nodes get a value
with what it cost, or one of the errors of `ragweave.state.errors`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
)
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.constants import TAG_NOSTREAM
from pydantic import BaseModel

from ragweave.models.attempts import Call
from ragweave.models.faults import ParameterRefused, Transient, faults_of
from ragweave.models.parsing import (
    Unfit,
    answer_text,
    broken_off,
    finish_reason,
    parse,
    was_stopped,
    whole,
)
from ragweave.models.registry import chat_model
from ragweave.models.thoughts import ThoughtFilter
from ragweave.models.wire import in_words, is_openai, structured, unstreamed, unsupported
from ragweave.state.context import RagContext
from ragweave.state.errors import MalformedAnswer, ModelUnavailable
from ragweave.state.records import Usage

T = TypeVar("T")
ModelT = TypeVar("ModelT", bound=BaseModel)


@dataclass(frozen=True)
class Reply(Generic[T]):
    """What a call gave, what all its attempts cost, and the message as the model sent it."""

    value: T
    usage: Usage
    message: AIMessage


async def ask_text(
    messages: Sequence[BaseMessage],
    *,
    model: str,
    stage: str,
    state: Mapping[str, Any],
    context: RagContext,
) -> Reply[str]:
    """Ask for a text that nobody sees being written.

    Raises:
        CallFailed: no usable answer, or no budget for it.
        ModelRefused: the provider refused the key or the request.
    """
    call = Call(model=model, stage=stage, state=state, context=context)
    message = await _invoke(call, unstreamed(await chat_model(model)), messages)
    return _reply(call, answer_text(message), message)


async def ask_structured(
    schema: type[ModelT],
    messages: Sequence[BaseMessage],
    *,
    model: str,
    stage: str,
    state: Mapping[str, Any],
    context: RagContext,
    salvage: Callable[[str], ModelT | None] | None = None,
) -> Reply[ModelT]:
    """Ask for an answer in the structure of `schema`.

    An answer that does not fit is given to `salvage` as plain text; if that cannot read it either,
    the model is shown its mistake and asked once more.

    Raises:
        MalformedAnswer: the second answer did not fit either.
        CallFailed: no usable answer, or no budget for it.
        ModelRefused: the provider refused the key or the request.
    """
    call = Call(model=model, stage=stage, state=state, context=context)
    message = await _invoke_structured(call, schema, messages)
    try:
        return Reply(_read(schema, message, salvage), call.usage, message)
    except Unfit as unfit:
        correction = [
            AIMessage(answer_text(message) or "(no answer)"),
            HumanMessage(f"That does not fit. {unfit} Answer again, with the JSON object alone."),
        ]
    message = await _invoke_structured(call, schema, [*messages, *correction])
    try:
        return Reply(_read(schema, message, salvage), call.usage, message)
    except Unfit as unfit:
        raise MalformedAnswer(
            f"{model} did not answer in the form asked for. {unfit}",
            text=answer_text(message),
            usage=call.usage,
        ) from unfit


async def stream_text(
    messages: Sequence[BaseMessage],
    *,
    model: str,
    stage: str,
    state: Mapping[str, Any],
    context: RagContext,
    on_text: Callable[[str], None],
) -> Reply[str]:
    """Ask for a text that is seen being written: `on_text` gets each piece as it comes.

    A failure is tried again only as long as nothing has come.

    Raises:
        CallFailed: no answer, or one that broke off: `text` is what had come.
        ModelRefused: the provider refused the key or the request.
    """
    call = Call(model=model, stage=stage, state=state, context=context, hidden=False)
    chat = await chat_model(model)
    refused = unsupported.get()
    if is_openai(chat) and (model, "stream_options") not in refused:
        try:
            message = await _stream(call, chat, messages, on_text, stream_usage=True)
            return _whole_reply(call, message)
        except ParameterRefused:
            refused.add((model, "stream_options"))
    options = {"stream_usage": False} if is_openai(chat) else {}
    message = await _stream(call, chat, messages, on_text, **options)
    return _whole_reply(call, message)


def _whole_reply(call: Call, message: AIMessage) -> Reply[str]:
    """The reply of a streamed answer that was said to its end."""
    reply = _reply(call, call.said, message)
    if reason := broken_off(message):
        raise ModelUnavailable(
            f"{call.model}: the answer broke off ({reason}).", text=call.said, usage=call.usage
        )
    return reply


def _reply(call: Call, text: str, message: AIMessage) -> Reply[str]:
    if not text.strip():
        reason = finish_reason(message) or "no reason given"
        raise ModelUnavailable(f"{call.model} gave an empty answer ({reason}).", usage=call.usage)
    return Reply(text, call.usage, message)


async def _invoke(
    call: Call, chat: Runnable[Any, AIMessage], messages: Sequence[BaseMessage]
) -> AIMessage:
    config = RunnableConfig(run_name=call.stage, tags=[TAG_NOSTREAM])

    async def request(_: asyncio.Timeout) -> AIMessage:
        with faults_of(call.model):
            return await chat.ainvoke(list(messages), config)

    return await call.make(messages, request)


async def _invoke_structured(
    call: Call, schema: type[BaseModel], messages: Sequence[BaseMessage]
) -> AIMessage:
    chat = await chat_model(call.model)
    refused = unsupported.get()
    if (call.model, "response_format") not in refused and (bound := structured(chat, schema)):
        try:
            return await _invoke(call, bound, messages)
        except ParameterRefused:
            refused.add((call.model, "response_format"))
    return await _invoke(call, unstreamed(chat), in_words(messages, schema))


def _read(
    schema: type[ModelT], message: AIMessage, salvage: Callable[[str], ModelT | None] | None
) -> ModelT:
    try:
        return parse(schema, message)
    except Unfit:
        found = salvage(answer_text(message)) if salvage else None
        if found is None:
            raise
        return found


async def _stream(
    call: Call,
    chat: BaseChatModel,
    messages: Sequence[BaseMessage],
    on_text: Callable[[str], None],
    **options: Any,
) -> AIMessage:
    async def pieces() -> AsyncGenerator[AIMessageChunk, None]:
        config = RunnableConfig(run_name=call.stage)
        with faults_of(call.model):
            async for piece in chat.astream(list(messages), config, **options):
                yield piece

    def show(text: str) -> None:
        if text:
            call.said += text
            on_text(text)

    async def request(clock: asyncio.Timeout) -> AIMessage:
        thoughts = ThoughtFilter()
        async with aclosing(pieces()) as stream:
            async for piece in stream:
                call.still_answering(clock)
                call.heard.append(piece)
                show(thoughts.feed(piece.text))
        show(thoughts.close())
        message = whole(call.heard)
        if not call.said.strip() and not was_stopped(message):
            raise Transient(f"{call.model} gave an empty answer")
        return message

    return await call.make(messages, request)
