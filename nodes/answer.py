"""Answering from numbered sources, streamed as it is written."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from langgraph.runtime import Runtime

from ragweave.models.calls import stream_text
from ragweave.models.prompt import (
    history_section,
    language_section,
    prompt,
    question_section,
    sources_section,
)
from ragweave.nodes.cite import TokenFilter
from ragweave.nodes.events import emit, failed
from ragweave.nodes.prepare import turns
from ragweave.state.base import Draft, RagState
from ragweave.state.context import RagContext, context_of
from ragweave.state.errors import BudgetReached, CallFailed
from ragweave.state.records import Source
from ragweave.state.text import sentences

PARTIAL_SOURCES = 3
"""Sources quoted when the budget ends before an answer could be written."""


async def answer_question(state: RagState, runtime: Runtime[Any]) -> dict[str, Any]:
    """Answer the user's own words from `sources`, streaming tokens whose markers are checked.

    If the budget ends first, or the model breaks off, the answer is partial: see `_cut_off`.

    Raises:
        ModelUnavailable: the model gave no answer at all, after all attempts.
        ModelRefused: the provider refused the key or the request.
    """
    context = context_of(state, runtime.context, RagContext)
    sources = state["sources"]
    tokens = TokenFilter([source["number"] for source in sources])

    def on_text(text: str) -> None:
        if checked := tokens.feed(text):
            emit(state, runtime, "token", text=checked)

    messages = prompt(
        context.answer_prompt,
        history_section(turns(state["messages"][:-1])),
        sources_section(sources, state.get("excerpts")),
        question_section(state["question"]),
        language_section(context.language),
    )
    try:
        reply = await stream_text(
            messages,
            model=context.model,
            stage="answer",
            state=state,
            context=context,
            on_text=on_text,
        )
    except CallFailed as failure:
        if not failure.text and not isinstance(failure, BudgetReached):
            raise
        return _cut_off(state, runtime, failure, tokens)
    if rest := tokens.close():
        emit(state, runtime, "token", text=rest)
    draft = Draft(
        text=reply.value,
        message_id=reply.message.id or str(uuid.uuid4()),
        metadata=_plain(reply.message.response_metadata),
        partial=False,
    )
    return {"draft": draft, "usage": reply.usage}


def _cut_off(
    state: RagState, runtime: Runtime[Any], failure: CallFailed, tokens: TokenFilter
) -> dict[str, Any]:
    """The best partial answer: what was said so far, or what the first sources say first."""
    text = failure.text or " ".join(
        f"{_first_sentence(source, state.get('excerpts') or {})} [{source['number']}]"
        for source in state["sources"][:PARTIAL_SOURCES]
    )
    shown = tokens.close() if failure.text else tokens.feed(text) + tokens.close()
    if shown:
        emit(state, runtime, "token", text=shown)
    draft = Draft(text=text, message_id=str(uuid.uuid4()), metadata={}, partial=True)
    return {"draft": draft, **failed(state, runtime, failure)}


def _first_sentence(source: Source, excerpts: Mapping[str, str]) -> str:
    text = excerpts.get(source["id"], source["text"])
    spans = sentences(text)
    return text[slice(*spans[0])].strip() if spans else text.strip()


def _plain(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """What of a provider's metadata is worth keeping in a checkpoint."""
    names = ("model_name", "finish_reason", "language_model")
    return {name: metadata[name] for name in names if name in metadata}
