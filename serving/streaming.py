"""One question, as a stream of steps, tokens and the answer at last."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from ragweave.models.registry import chat_model
from ragweave.serving.answer import Answer
from ragweave.serving.techniques import DEFAULT_TECHNIQUE, context_type, load, settled
from ragweave.state.errors import InvalidSetting

if TYPE_CHECKING:
    from uuid import UUID

    from langchain_core.messages import AnyMessage
    from langchain_core.runnables import RunnableConfig

    from ragweave.state.context import RagContext
    from ragweave.state.events import StepEvent

Approve = Callable[[Mapping[str, Any]], Awaitable[object]]
"""Answers what a graph asks a person, such as `{"question": ..., "query": ...}` before a web
search: with True, False, or another query."""


async def astream(
    question: str,
    *,
    technique: str = DEFAULT_TECHNIQUE,
    messages: Sequence[AnyMessage] = (),
    approve: Approve | None = None,
    run_id: UUID | None = None,
    **settings: Any,
) -> AsyncGenerator[StepEvent | Answer, None]:
    """Run a technique: its step events as they happen (those of type `token` are the answer's
    text), then the `Answer`.

    Args:
        question: what to answer, in the user's words.
        technique: a name of `ragweave.serving.techniques.TECHNIQUES`.
        messages: earlier turns of the conversation, such as the last answer's `messages`.
        approve: answers for a person, where a setting such as `web_search="ask"` asks one.
        run_id: id of the run in traces, to give feedback on it later; a new one by default.
        settings: any field of the technique's context; None keeps a field's default.

    Raises:
        RagweaveError: whatever went wrong, in one line that says what to do.
    """
    graph = await asyncio.to_thread(load, technique)
    context = settled(context_type(graph), settings, f"setting of {technique}")
    for model in {context.model, context.hidden_model}:
        await chat_model(model)  # one that does not exist is said before any work is done
    if approve is None and (setting := asks_a_person(context)):
        raise InvalidSetting(f"{setting} asks a person: pass `approve`, or choose another.")
    config: RunnableConfig = {"configurable": {"thread_id": "1"}, "run_id": run_id}
    if approve is not None:
        graph = graph.copy({"checkpointer": InMemorySaver()})
    given: Any = {"question": question, "messages": list(messages)}
    while given is not None:
        state: Mapping[str, Any] = {}
        parts = graph.astream(given, config, context=context, stream_mode=["custom", "values"])
        async with aclosing(cast("AsyncGenerator[tuple[str, Any]]", parts)) as stream:
            async for mode, part in stream:
                if mode == "custom":
                    yield part
                else:
                    state = part
        given = await _resumed(state, approve)
        config = {**config, "run_id": None}  # what a person's answer starts is another run
    yield Answer.of(technique, state)


def asks_a_person(context: RagContext) -> str | None:
    """The setting by which a run may have to wait for a person."""
    if getattr(context, "web_search", None) == "ask":
        return 'web_search="ask"'
    if getattr(context, "pick_sources", False):
        return "pick_sources"
    limited = getattr(context, "approve_above_calls", None) is not None
    return "approve_above_calls" if limited else None


async def _resumed(state: Mapping[str, Any], approve: Approve | None) -> Any:
    """The command that goes on with a person's answers; None when nothing waits for one."""
    waiting = state.get("__interrupt__") or ()
    if not waiting or approve is None:
        return None
    return Command(resume={pause.id: await approve(pause.value) for pause in waiting})
