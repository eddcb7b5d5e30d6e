"""Writing an answer that is seen being written, its markers checked as they come."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage
from langgraph.runtime import Runtime

from ragweave.models.calls import stream_text
from ragweave.nodes.cite import TokenFilter
from ragweave.nodes.events import emit, failed
from ragweave.state.base import Draft, RagState
from ragweave.state.context import RagContext, context_of
from ragweave.state.errors import BudgetReached, CallFailed


async def write_answer(
    messages: Sequence[BaseMessage],
    state: RagState,
    runtime: Runtime[Any],
    *,
    stage: str,
    fallback: Callable[[], str],
    fallback_warning: str | None = None,
) -> dict[str, Any]:
    """Stream the answer to `messages` as tokens, and return the state update with its draft.

    Markers of numbers that no source in `sources` has are dropped from the stream. If the budget
    ends first the draft is what `fallback` makes, with its warning, and if the model breaks off it
    is what was said so far; either is partial.

    Raises:
        ModelUnavailable: the model gave no answer at all, after all attempts.
        ModelRefused: the provider refused the key or the request.
    """
    context = context_of(state, runtime.context, RagContext)
    tokens = TokenFilter(numbers_of(state))

    def on_text(text: str) -> None:
        if checked := tokens.feed(text):
            emit(state, runtime, "token", text=checked)

    try:
        reply = await stream_text(
            messages,
            model=context.model,
            stage=stage,
            state=state,
            context=context,
            on_text=on_text,
        )
    except CallFailed as failure:
        if not failure.text and not isinstance(failure, BudgetReached):
            raise
        made = "" if failure.text else fallback()
        on_text(made)
        _flush(tokens, state, runtime)
        update = failed(state, runtime, failure)
        if made and fallback_warning:
            update["warnings"].append(fallback_warning)
        return {"draft": partial_draft(failure.text or made), **update}
    _flush(tokens, state, runtime)
    draft = Draft(
        text=reply.value,
        message_id=reply.message.id or str(uuid.uuid4()),
        metadata=_plain(reply.message.response_metadata),
        partial=False,
    )
    return {"draft": draft, "usage": reply.usage}


def numbers_of(state: RagState) -> Collection[int]:
    """The numbers that a marker may name."""
    return [source["number"] for source in state["sources"]]


def partial_draft(text: str) -> Draft:
    """The draft of a run whose budget has ended."""
    return Draft(text=text, message_id=str(uuid.uuid4()), metadata={}, partial=True)


def _flush(tokens: TokenFilter, state: RagState, runtime: Runtime[Any]) -> None:
    if rest := tokens.close():
        emit(state, runtime, "token", text=rest)


def _plain(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """What of a provider's metadata is worth keeping in a checkpoint."""
    names = ("model_name", "finish_reason", "language_model")
    return {name: metadata[name] for name in names if name in metadata}
