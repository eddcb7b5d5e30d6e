"""How a model is asked for structure: by the field or tool it has for that, or in words."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableLambda, RunnableParallel
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel

from ragweave.models.loops import PerLoop

_IN_WORDS = (
    "Answer with one JSON object alone, no prose around it, that fits this JSON Schema:\n{schema}"
)


unsupported: PerLoop[set[tuple[str, str]]] = PerLoop(set)
"""Optional request fields that a server has refused: (model name, field)."""

_MOST_BOUND = 128
_bound: PerLoop[
    dict[tuple[int, type[BaseModel]], tuple[BaseChatModel, Runnable[Any, AIMessage] | None]]
] = PerLoop(dict)
"""Models bound to schemas, by the model's identity."""


def is_openai(model: BaseChatModel) -> bool:
    """Whether a model speaks OpenAI's protocol by langchain-openai."""
    package = sys.modules.get("langchain_openai.chat_models.base")
    return package is not None and isinstance(model, package.BaseChatOpenAI)


def unstreamed(model: BaseChatModel) -> Runnable[Any, AIMessage]:
    """The model for calls that nobody sees.

    LangChain streams every call as soon as an application listens to LangGraph's messages.
    """
    return model.bind(stream=False) if is_openai(model) else model


def structured(model: BaseChatModel, schema: type[BaseModel]) -> Runnable[Any, AIMessage] | None:
    """The model, bound to answer by `schema`; None if it has no way to be bound."""
    if is_openai(model):
        return unstreamed(model).bind(**_response_format(model, schema))
    # Binding writes the schema out anew, which takes longer than the rest of a call.
    bound = _bound.get()
    if bound.get((id(model), schema), (None,))[0] is not model:
        if len(bound) >= _MOST_BOUND:
            bound.clear()
        bound[id(model), schema] = model, _structured_output(model, schema)
    return bound[id(model), schema][1]


def _structured_output(
    model: BaseChatModel, schema: type[BaseModel]
) -> Runnable[Any, AIMessage] | None:
    try:
        asked = model.with_structured_output(schema, include_raw=True)
    except NotImplementedError:
        return None
    return _model_of(asked) or asked | RunnableLambda(_raw_message)


def _model_of(asked: Runnable[Any, Any]) -> Runnable[Any, AIMessage] | None:
    """The bound model in LangChain's chain, without what parses its answers: `parsing` does.

    Each of those steps is a run of its own, most of them in a thread.
    """
    first = getattr(asked, "first", None)
    return first.steps__.get("raw") if isinstance(first, RunnableParallel) else None


def in_words(messages: Sequence[BaseMessage], schema: type[BaseModel]) -> list[BaseMessage]:
    """The messages with the schema added to their instructions."""
    text = json.dumps(schema.model_json_schema(), ensure_ascii=False)
    order = _IN_WORDS.replace("{schema}", text)
    if messages and isinstance(messages[0], SystemMessage):
        return [SystemMessage(f"{messages[0].text}\n\n{order}"), *messages[1:]]
    return [SystemMessage(order), *messages]


def _response_format(model: Any, schema: type[BaseModel]) -> dict[str, Any]:
    response_format = {"type": "json_schema", "json_schema": _json_schema(schema)}
    if model.use_responses_api:
        return {"response_format": response_format}
    # As a plain argument it would take openai's parsing path, which raises on answers that were
    # cut off or filtered and loses what they said and cost.
    return {"extra_body": {**(model.extra_body or {}), "response_format": response_format}}


@cache
def _json_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """OpenAI's form of a schema, made once: it takes longer than the rest of a request."""
    function = convert_to_openai_tool(schema, strict=True)["function"]
    return {"name": function["name"], "schema": function["parameters"], "strict": True}


def _raw_message(answer: Any) -> AIMessage:
    message: AIMessage = answer["raw"]
    return message
