"""Answering from numbered sources, streamed as it is written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from langchain_core.messages import BaseMessage
from langgraph.runtime import Runtime

from ragweave.models.prompt import (
    history_section,
    language_section,
    prompt,
    question_section,
    sources_section,
)
from ragweave.nodes.prepare import turns
from ragweave.nodes.write_answer import write_answer
from ragweave.state.base import RagState
from ragweave.state.context import RagContext, context_of
from ragweave.state.records import Source
from ragweave.state.source_quote import cited_sentence, is_chinese, plain_sentence
from ragweave.state.text import sentences

PARTIAL_SOURCES = 3
"""Sources quoted when the budget ends before an answer could be written."""

_STATED = re.compile(r"(?<!\.)[.!。！]\W{0,8}\Z")
"""How a sentence ends, unlike a heading or a row."""

SENTENCES_ALONE = (
    "No model wrote this answer: it is the first sentences of the sources, which may not answer "
    "the question."
)
"""The warning that goes with `first_sentences`."""


async def answer_question(state: RagState, runtime: Runtime[Any]) -> dict[str, Any]:
    """Answer the user's own words from `sources`, streaming tokens whose markers are checked.

    If the budget ends first, or the model breaks off, the answer is partial: what was said so
    far, or what the first sources say first.

    Raises:
        ModelUnavailable: the model gave no answer at all, after all attempts.
        ModelRefused: the provider refused the key or the request.
    """
    messages = answer_messages(state, context_of(state, runtime.context, RagContext))
    return await write_answer(
        messages,
        state,
        runtime,
        stage="answer",
        fallback=lambda: first_sentences(state),
        fallback_warning=SENTENCES_ALONE,
    )


def answer_messages(state: RagState, context: RagContext) -> list[BaseMessage]:
    """The prompt for answering: the conversation, the numbered sources, the user's own words."""
    return prompt(
        context.answer_prompt,
        history_section(turns(state["messages"][:-1])),
        sources_section(state["sources"], state.get("excerpts")),
        question_section(state["question"]),
        language_section(context.language),
    )


def first_sentences(state: RagState) -> str:
    """What the first sources say first, cited: the best that can be had without a model."""
    excerpts = state.get("excerpts") or {}
    quotes = [
        cited_sentence(sentence, source["number"])
        for source in state["sources"][:PARTIAL_SOURCES]
        if (sentence := _first_sentence(source, excerpts))
    ]
    return ("" if quotes and is_chinese(quotes[0]) else " ").join(quotes)


def _first_sentence(source: Source, excerpts: Mapping[str, str]) -> str:
    """The first one that states something, else the first line of any kind; empty without one."""
    text = excerpts.get(source["id"], source["text"])
    first = ""
    for span in sentences(text):
        said = plain_sentence(text[slice(*span)])
        if _STATED.search(said):
            return said
        first = first or said
    return first
