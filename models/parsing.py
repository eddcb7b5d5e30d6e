"""Reading a structured answer out of whatever a model wrote."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import json_repair
from langchain_core.messages import AIMessage, AIMessageChunk, message_chunk_to_message
from pydantic import BaseModel, ValidationError

from ragweave.models.thoughts import without_thoughts

ModelT = TypeVar("ModelT", bound=BaseModel)

_NOT_NUMBERS = ("NaN", "Infinity", "-Infinity", math.inf, -math.inf)
_FINISH_KEYS = ("finish_reason", "stop_reason", "done_reason")  # OpenAI, Anthropic, Ollama
_CUT_OFF = {"length", "max_tokens"}
_REFUSED = {
    "content_filter",  # OpenAI
    "refusal",  # Anthropic
    *("safety", "recitation", "blocklist", "prohibited_content", "spii"),  # Google
}


class Unfit(Exception):
    """The answer does not fit the schema; the message says why, for the model to read."""


def parse(schema: type[ModelT], message: AIMessage) -> ModelT:
    """The answer in `message` as `schema`, mending what can be mended.

    Understood are tool calls and text; code fences, prose around the JSON, single quotes, comments
    and trailing commas; a list around the object, the object without the list around it, and the
    object under its own name.

    Raises:
        Unfit: nothing in the answer fits, or the answer was refused or cut off.
    """
    ending = finish_reason(message)
    if ending in _CUT_OFF:
        raise Unfit("The answer was cut off before its end. Be much briefer.")
    if ending in _REFUSED:
        raise Unfit("The answer was refused.")
    problems: list[str] = []
    for value in _values(message):
        for reading in _readings(schema, _without_nan(value)):
            try:
                return schema.model_validate(reading)
            except ValidationError as error:
                problems.append(_one_line(error))
    raise Unfit(problems[0] if problems else "There is no JSON in the answer.")


def whole(pieces: Sequence[AIMessageChunk]) -> AIMessage:
    """The message that a stream's pieces make, with what the server reported of its tokens."""
    if not pieces:
        return AIMessage("")
    if not isinstance(pieces[0], AIMessageChunk):  # a model that cannot stream gives a message
        return pieces[0]
    message = message_chunk_to_message(pieces[0] + list(pieces[1:]))
    assert isinstance(message, AIMessage)
    return message


def finish_reason(message: AIMessage) -> str | None:
    """Why the model stopped, in its provider's word, in small letters."""
    reasons = (message.response_metadata.get(key) for key in _FINISH_KEYS)
    return next((str(reason).lower() for reason in reasons if reason), None)


def was_stopped(message: AIMessage) -> bool:
    """Whether its length or its content ended an answer, rather than the model."""
    return finish_reason(message) in _CUT_OFF | _REFUSED


def broken_off(message: AIMessage) -> str | None:
    """Why a text is not all that its model wanted to say; None if it is, as far as is known."""
    reason = finish_reason(message)
    if was_stopped(message):
        return reason
    # OpenAI's protocol always gives a reason: without one, the connection was closed too early.
    provider = message.response_metadata.get("model_provider")
    return "no end was sent" if provider == "openai" and not reason else None


def answer_text(message: AIMessage) -> str:
    """What a model wrote, be it as text or as the arguments of a tool, without its thoughts."""
    arguments = [str(call["args"]) for call in _calls(message)]
    return "\n".join([without_thoughts(message.text), *arguments]).strip()


def _values(message: AIMessage) -> Iterator[Any]:
    for call in _calls(message):
        arguments = call["args"]
        yield json_repair.loads(arguments) if isinstance(arguments, str) else arguments
    text = without_thoughts(message.text)
    if "{" in text or "[" in text:
        yield json_repair.loads(text)


def _calls(message: AIMessage) -> list[Any]:
    return [*message.tool_calls, *message.invalid_tool_calls]


def _readings(schema: type[BaseModel], value: Any) -> Iterator[Any]:
    """The value as it is, then what may have been meant by it."""
    if isinstance(value, dict):
        yield value
        if len(value) == 1:
            yield next(iter(value.values()))
    names = list(schema.model_fields)
    if len(names) == 1 and isinstance(value, dict | list):
        yield {names[0]: value}
        yield {names[0]: [value]}
    if isinstance(value, list):
        yield from reversed(value)  # the last one is what the model settled on


def _without_nan(value: Any) -> Any:
    """JSON has no NaN; what a model means by it is that it does not know."""
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_nan(item) for item in value]
    return None if value in _NOT_NUMBERS or value != value else value


def _one_line(error: ValidationError) -> str:
    places = [
        f"{'.'.join(map(str, item['loc'])) or 'answer'}: {item['msg']}" for item in error.errors()
    ]
    return "; ".join(places[:5])
