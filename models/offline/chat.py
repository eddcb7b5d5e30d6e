"""A chat model that is no language model: it finds, judges and quotes, and says so.

It reads the prompts of `ragweave.models.prompt`. Asked for one of the structures of
`ragweave.models.schemas` it fills it in; else it answers by quoting sentences of the sources.
Every message says `language_model: False` in its `response_metadata`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import ToolCall, tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from ragweave.models.offline.answers import STRUCTURED
from ragweave.models.offline.gathering import gather
from ragweave.models.offline.quoting import MAX_SENTENCES, quote_answer
from ragweave.models.offline.sections import all_of, question_of
from ragweave.models.prompt import Section, parse

MODEL_NAME = "offline-extractive"
_METADATA = {"model_name": MODEL_NAME, "model_provider": "ragweave", "language_model": False}
_WORD = re.compile(r"\S+\s*|\s+")


class ExtractiveChatModel(BaseChatModel):
    """Grades by similarity, rewrites by key words, answers by quotation."""

    @property
    def _llm_type(self) -> str:
        return MODEL_NAME

    @property
    def model_name(self) -> str:
        """Name that traces show."""
        return MODEL_NAME

    @property
    def _identifying_params(self) -> Mapping[str, Any]:
        return {"model_name": self.model_name}

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Ask for an answer in the form of one of `tools`: the first that is known."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        answer = _answer(messages, kwargs.get("tools") or [])
        return ChatResult(generations=[ChatGeneration(message=answer)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for piece in _pieces(_answer(messages, kwargs.get("tools") or [])):
            chunk = ChatGenerationChunk(message=piece)
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk


def _answer(messages: Sequence[BaseMessage], tools: Sequence[Mapping[str, Any]]) -> AIMessage:
    sections = parse(messages[-1].text) if messages else []
    for tool in tools:
        name = tool["function"]["name"]
        if fill := STRUCTURED.get(name):
            arguments = fill(sections).model_dump(mode="json")
            call = ToolCall(name=name, args=arguments, id=f"call_{name}")
            return AIMessage("", tool_calls=[call], response_metadata=_METADATA)
    return AIMessage(_text(messages, sections), response_metadata=_METADATA)


def _text(messages: Sequence[BaseMessage], sections: Sequence[Section]) -> str:
    if not sections and messages:  # a message that is not one of our prompts is a bare question
        sections = [Section("question", messages[-1].text)]
    question, sources = question_of(sections), all_of(sections, "source")
    notes, answers = all_of(sections, "note"), all_of(sections, "answer")
    if notes and not sources:
        return gather(question, [note.text for note in notes], MAX_SENTENCES)
    if answers and not sources:  # to be made shorter
        return gather(question, [answer.text for answer in answers], 1)
    return quote_answer(sections)


def _pieces(answer: AIMessage) -> Iterator[AIMessageChunk]:
    """The answer word by word."""
    for call in answer.tool_calls:
        yield AIMessageChunk(content="", tool_call_chunks=[_call_chunk(call)])
    for word in _WORD.findall(answer.text):
        yield AIMessageChunk(content=word)
    yield AIMessageChunk(content="", response_metadata=_METADATA, chunk_position="last")


def _call_chunk(call: ToolCall) -> Any:
    arguments = json.dumps(call["args"], ensure_ascii=False)
    return tool_call_chunk(name=call["name"], args=arguments, id=call["id"], index=0)
