"""The first node of every technique: check the question, fix the settings, start clean."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from ragweave.indexing.loading.spacing import close_up
from ragweave.models.calls import ask_structured
from ragweave.models.prompt import history_section, prompt, question_section
from ragweave.models.schemas import StandaloneQuestion
from ragweave.nodes.events import failed
from ragweave.nodes.tracing import describe_run
from ragweave.state.base import MAX_QUESTION_CHARACTERS
from ragweave.state.context import RagContext, context_of, settings_of
from ragweave.state.errors import CallFailed, InvalidQuestion
from ragweave.state.reducers import fresh_channels

MAX_HISTORY_MESSAGES = 10
MAX_TURN_CHARACTERS = 4_000


class Prepare(Protocol):
    """The node that `prepare` makes."""

    async def __call__(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        """Read the question, fix the settings, empty the last turn's channels."""


def prepare(
    technique: str, state_type: type, context_type: type[RagContext], *, condense: bool = True
) -> Prepare:
    """Make the node `prepare` of one technique.

    The node raises `InvalidQuestion`, keeps the context's values in the state, empties what the
    last turn of the thread left behind, and condenses a follow-up question with the conversation
    (unless `condense` is false, as for a graph whose sub-graphs do).
    """

    async def prepare(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        question, history, asked = read_question(state)
        context = _requested_context(state, runtime, context_type)
        describe_run(technique, context)
        settings = {
            **settings_of(context),
            "technique": technique,
            "run_id": uuid.uuid4().hex,
            "asked": question,
        }
        started = {"settings": settings, "question": question, "messages": asked}
        earlier = history if condense else []
        condensed = await _condense(question, earlier, context, started, runtime)
        return {**_cleared(state, state_type), **started, **_anew(condensed, state_type)}

    return prepare


def read_question(state: Mapping[str, Any]) -> tuple[str, list[AnyMessage], list[AnyMessage]]:
    """The question, the messages before it, and the message to add for it, if it is not there yet.

    A thread keeps the last turn's `question`; a new human message that nobody has answered is
    newer than it, unless the caller gave another question along with it. A question in Chinese that
    is spaced out, as if copied from a PDF, is closed up as documents are; its message is not.

    Raises:
        InvalidQuestion: there is none, it is no text, or it is too long.
    """
    messages: list[AnyMessage] = list(state.get("messages") or [])
    given = _text(state.get("question") or "")
    stale = given == (state.get("settings") or {}).get("asked")
    waiting = bool(messages) and isinstance(messages[-1], HumanMessage)
    question, history, asked = given, messages, list[AnyMessage]()
    if waiting and (not given or stale or given == _text(messages[-1].text)):
        question, history = _text(messages[-1].text), messages[:-1]
    else:
        asked = [HumanMessage(given)]
    if not question:
        raise InvalidQuestion(
            "The question is empty. Give one as `question` or as a human message."
        )
    if len(question) > MAX_QUESTION_CHARACTERS:
        raise InvalidQuestion(
            f"The question has {len(question):,} characters; at most "
            f"{MAX_QUESTION_CHARACTERS:,} are allowed. Put long texts into the index instead."
        )
    return close_up(question), history, asked


def _text(given: object) -> str:
    """What was given, without what no encoding can carry (halves of surrogate pairs)."""
    if not isinstance(given, str):
        raise InvalidQuestion(f"The question must be text, not {type(given).__name__}.")
    return given.encode("utf-8", "replace").decode("utf-8").strip()


def turns(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """The last turns of a conversation that have text, each cut to a bounded length."""
    spoken = [m for m in messages if isinstance(m, HumanMessage | AIMessage) and m.text.strip()]
    return [
        type(message)(message.text[:MAX_TURN_CHARACTERS])
        for message in spoken[-MAX_HISTORY_MESSAGES:]
    ]


def _requested_context(
    state: Mapping[str, Any], runtime: Runtime[Any], context_type: type[RagContext]
) -> RagContext:
    """The context given for this turn, or else the one that the thread began with."""
    if runtime.context is None:
        return context_of(state, None, context_type)
    return context_of({}, runtime.context, context_type)


def _cleared(state: Mapping[str, Any], state_type: type) -> dict[str, Any]:
    fresh = fresh_channels(state_type)
    kept = {"messages", "question", "settings"}
    stale = {name: None for name in state if name not in kept and name not in fresh}
    return {**stale, **fresh}


def _anew(update: Mapping[str, Any], state_type: type) -> dict[str, Any]:
    """An update whose accumulating channels start with it instead of adding it."""
    accumulating = fresh_channels(state_type)
    return {
        name: Overwrite(value) if name in accumulating else value for name, value in update.items()
    }


async def _condense(
    question: str,
    history: list[AnyMessage],
    context: RagContext,
    state: Mapping[str, Any],
    runtime: Runtime[Any],
) -> dict[str, Any]:
    """The question as it will be searched for: alone, or condensed with the conversation."""
    if not (earlier := turns(history)):
        return {"search_question": question}
    messages = prompt(context.condense_prompt, history_section(earlier), question_section(question))
    try:
        reply = await ask_structured(
            StandaloneQuestion,
            messages,
            model=context.hidden_model,
            stage="condense",
            state=state,
            context=context,
        )
    except CallFailed as failure:
        return {"search_question": question, **failed(state, runtime, failure)}
    condensed = reply.value.question.strip()[:MAX_QUESTION_CHARACTERS] or question
    return {"search_question": condensed, "usage": reply.usage}
