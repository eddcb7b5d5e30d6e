"""Merging what several batches of sources say into one answer, and making it short."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage
from langgraph.runtime import Runtime

from ragweave.indexing.split import TokenCounter
from ragweave.models.calls import ask_text
from ragweave.models.prompt import Section, language_section, prompt, question_section
from ragweave.nodes.answer import SENTENCES_ALONE, first_sentences
from ragweave.nodes.events import decided, emit, failed
from ragweave.nodes.prompt_room import prompt_counter
from ragweave.nodes.read import checked
from ragweave.nodes.write_answer import numbers_of, partial_draft, write_answer
from ragweave.state.base import Draft
from ragweave.state.context import context_of
from ragweave.state.errors import CallFailed, ModelUnavailable
from ragweave.state.longrag import LongRagContext, LongRagState
from ragweave.state.text import sentences

NOTES_SHARE = 0.8
"""Share of the reader's budget for notes; the rest is for instructions, question and answer."""


async def merge_readings(state: LongRagState, runtime: Runtime[LongRagContext]) -> dict[str, Any]:
    """Make one answer of all readings: the draft, or the long answer that is yet to be shortened.

    Where only one batch says anything, its reading is the answer, without a call. What was not
    read is one warning, however many batches it was.

    Raises:
        ModelUnavailable: no batch could be read.
    """
    merged = await _merged(state, runtime)
    return {**merged, "warnings": [*_unread(state), *merged.get("warnings", [])]}


async def _merged(state: LongRagState, runtime: Runtime[LongRagContext]) -> dict[str, Any]:
    context = context_of(state, runtime.context, LongRagContext)
    notes = [reading["text"] for reading in state["readings"] if reading["text"]]
    emit(state, runtime, "reduced", count=len(notes))
    if not notes:
        return _nothing_read(state, runtime)
    if len(notes) == 1:
        return _only_reading(notes[0], state, runtime, context)
    shown, warnings = await _that_fit(notes, context)
    messages = _merge_messages(shown, state, context)
    whole = "\n\n".join(notes)
    if context.short_answer:
        return await _long_answer(messages, whole, warnings, state, runtime)
    written = await write_answer(messages, state, runtime, stage="merge", fallback=lambda: whole)
    return {
        **written,
        "draft": _marked(written["draft"], state),
        "warnings": [*warnings, *written.get("warnings", [])],
    }


async def shorten_answer(state: LongRagState, runtime: Runtime[LongRagContext]) -> dict[str, Any]:
    """Make a short answer of the long one."""
    context = context_of(state, runtime.context, LongRagContext)
    long = state["long_answer"] or ""
    messages = prompt(
        context.shorten_prompt,
        Section("answer", long),
        question_section(state["question"]),
        language_section(context.language),
    )
    written = await write_answer(messages, state, runtime, stage="shorten", fallback=lambda: long)
    return {**written, "draft": _marked(written["draft"], state)}


async def _long_answer(
    messages: list[BaseMessage],
    fallback: str,
    warnings: list[str],
    state: LongRagState,
    runtime: Runtime[LongRagContext],
) -> dict[str, Any]:
    """The merged answer, which nobody sees being written."""
    context = context_of(state, runtime.context, LongRagContext)
    try:
        reply = await ask_text(
            messages, model=context.model, stage="merge", state=state, context=context
        )
    except CallFailed as failure:
        update = failed(state, runtime, failure)
        return {**update, "long_answer": fallback, "warnings": [*warnings, *update["warnings"]]}
    text, _ = checked(reply.value, numbers_of(state))
    return {"long_answer": text or fallback, "usage": reply.usage, "warnings": warnings}


def _nothing_read(state: LongRagState, runtime: Runtime[LongRagContext]) -> dict[str, Any]:
    reasons = {reading["failed"] for reading in state["readings"]}
    if reasons == {"model"}:
        raise ModelUnavailable(
            f"None of the sources could be read: {state['readings'][0]['reason']}"
        )
    if reasons == {None}:
        return {"decisions": decided("merge_readings", "nothing", "No batch says anything of it.")}
    text = first_sentences(state)
    emit(state, runtime, "token", text=text)
    return {"draft": partial_draft(text), "warnings": [SENTENCES_ALONE]}


def _unread(state: LongRagState) -> list[str]:
    """One warning of all sources that were not read, with the first reason why."""
    unread = [reading for reading in state["readings"] if reading["failed"]]
    if not unread:
        return []
    numbers = [n for reading in unread for n in state["batches"][reading["batch"] - 1]]
    reasons = {reading["reason"] for reading in unread}
    first = ", first" if len(reasons) > 1 else ""
    count = f"{len(unread)} of {len(state['readings'])} parts"
    return [f"Not read: {count} (sources {_ranges(numbers)}){first}: {unread[0]['reason']}"]


def _ranges(numbers: Sequence[int]) -> str:
    """Numbers in order, such as `1-3, 7`."""
    ranges: list[list[int]] = []
    for number in sorted(numbers):
        if ranges and number == ranges[-1][-1] + 1:
            ranges[-1].append(number)
        else:
            ranges.append([number])
    return ", ".join(f"{r[0]}-{r[-1]}" if len(r) > 1 else f"{r[0]}" for r in ranges)


def _only_reading(
    text: str, state: LongRagState, runtime: Runtime[LongRagContext], context: LongRagContext
) -> dict[str, Any]:
    if context.short_answer:
        return {"long_answer": text}
    emit(state, runtime, "token", text=text)
    draft = Draft(text=text, message_id=str(uuid.uuid4()), metadata={}, partial=False)
    return {"draft": _marked(draft, state)}


def _marked(draft: Draft, state: LongRagState) -> Draft:
    """A draft is partial too if some sources were not read."""
    unread = any(reading["failed"] for reading in state["readings"])
    return {**draft, "partial": draft["partial"] or unread}


def _merge_messages(
    notes: Sequence[str], state: LongRagState, context: LongRagContext
) -> list[BaseMessage]:
    return prompt(
        context.merge_prompt,
        *[Section("note", text, {"number": str(at)}) for at, text in enumerate(notes, 1)],
        question_section(state["question"]),
        language_section(context.language),
    )


async def _that_fit(
    notes: Sequence[str], context: LongRagContext
) -> tuple[Sequence[str], list[str]]:
    """The notes, each cut to its share if together they are too long, and a warning if so."""
    count = await prompt_counter()
    room = int(context.reader_tokens * NOTES_SHARE)
    shown = await asyncio.to_thread(_cut_to_fit, notes, room, count)
    return shown, [] if shown == notes else ["Some notes were too long to merge and were cut."]


def _cut_to_fit(notes: Sequence[str], room: int, count: TokenCounter) -> Sequence[str]:
    sizes = count(notes)
    if sum(sizes) <= room:
        return notes
    share = room // len(notes)
    return [
        text if size <= share else _beginning(text, share, count)
        for text, size in zip(notes, sizes, strict=True)
    ]


def _beginning(text: str, room: int, count: TokenCounter) -> str:
    """The first sentences, as many as fit."""
    spans = sentences(text)
    used = end = 0
    for span, size in zip(spans, count([text[slice(*span)] for span in spans]), strict=True):
        used += size + 1
        if used > room:
            break
        end = span.end
    return text[:end]
