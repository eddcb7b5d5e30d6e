"""Fitting sources into the reader's budget: all at once, or in batches."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from langgraph.runtime import Runtime

from ragweave.indexing.split import TokenCounter, split
from ragweave.indexing.unit_text import markup_of
from ragweave.nodes.answer import answer_messages
from ragweave.nodes.cut_sources import cut_source, pack, rendered
from ragweave.nodes.events import decided
from ragweave.nodes.prompt_room import prompt_counter, room_for_sources
from ragweave.nodes.read import read_messages
from ragweave.nodes.sources import numbered
from ragweave.state.context import context_of
from ragweave.state.errors import InvalidSetting
from ragweave.state.longrag import LongRagContext, LongRagState
from ragweave.state.records import Source

SHORTEST_PIECE = 200
"""Tokens that a batch must have room for beside instructions and question."""


async def plan_reading(state: LongRagState, runtime: Runtime[LongRagContext]) -> dict[str, Any]:
    """Cut sources that are too long by themselves, and pack all of them into batches.

    Cuts lie before headings or else between paragraphs. Numbers go on over all batches.

    Raises:
        InvalidSetting: the budget is too small for the instructions and the question alone.
    """
    context = context_of(state, runtime.context, LongRagContext)
    count = await prompt_counter()
    room = await asyncio.to_thread(_room, state, context, count)
    sources, batches = await asyncio.to_thread(_planned, state["sources"], room, count)
    reason = f"{len(sources)} sources, at most {room} tokens of them in one call."
    planned = {
        "batches": batches,
        "decisions": decided("plan_reading", f"{len(batches)} batches", reason),
    }
    # What was not cut is not written a second time.
    return planned if sources == state["sources"] else {**planned, "sources": sources}


def _room(state: LongRagState, context: LongRagContext, count: TokenCounter) -> int:
    """Tokens that are left for sources in one call, be it of the only reader or of one of many."""
    empty: LongRagState = {**state, "sources": [], "excerpts": {}}
    prompts = (
        answer_messages(empty, context),
        read_messages(state["question"], [], context),
    )
    budget = context.reader_tokens
    room = min(room_for_sources(budget, messages, count) for messages in prompts)
    if room < SHORTEST_PIECE:
        raise InvalidSetting(
            f"reader_tokens is {budget}, but instructions, question and answer take "
            f"{budget - room} of them. Raise it."
        )
    return room


def _planned(
    sources: Sequence[Source], room: int, count: TokenCounter
) -> tuple[list[Source], list[list[int]]]:
    pieces = [piece for source in sources for piece in _pieces(source, room, count)]
    kept = numbered(pieces)
    tokens = count([rendered(source) for source in kept])
    batches = pack(zip(kept, tokens, strict=True), room)
    return kept, [[source["number"] for source in batch] for batch in batches]


def _pieces(source: Source, room: int, count: TokenCounter) -> list[Source]:
    text = source["text"]
    shown = rendered(source)
    (whole,) = count([shown])
    if whole <= room:
        return [source]
    frame = sum(count([rendered({**source, "text": ""})]))
    spans = split(text, count, markup=markup_of(source["path"]), max_tokens=room - frame)
    return cut_source(source, [(span.start, span.end) for span in spans])
