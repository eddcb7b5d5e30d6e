"""Making small numbered sources of retrieved chunks, and fitting them into one prompt."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from langgraph.runtime import Runtime

from ragweave.indexing.split import TokenCounter
from ragweave.nodes.answer import answer_messages
from ragweave.nodes.cut_sources import cut_source, fill, pack, rendered
from ragweave.nodes.events import decided
from ragweave.nodes.prompt_room import prompt_counter, room_for_sources
from ragweave.nodes.sources import numbered
from ragweave.state.citation import CitationContext, CitationState
from ragweave.state.context import context_of
from ragweave.state.records import Source


async def number_sources(state: CitationState, runtime: Runtime[CitationContext]) -> dict[str, Any]:
    """Cut the documents into numbered sources; what does not fit one prompt is left `pending`."""
    context = context_of(state, runtime.context, CitationContext)
    count = await prompt_counter()
    batches = await asyncio.to_thread(_batches, state, context, count)
    sources = sum(map(len, batches))
    reason = f"{len(state['documents'])} chunks cut into {sources} sources."
    return {
        "sources": batches[0] if batches else [],
        "pending": batches[1:],
        "decisions": decided("number_sources", f"{len(batches)} prompts", reason),
    }


def _batches(
    state: CitationState, context: CitationContext, count: TokenCounter
) -> list[list[Source]]:
    sources = numbered(_small(state["documents"], context, count))
    tokens = count([rendered(source) for source in sources])
    empty: CitationState = {**state, "sources": []}
    room = room_for_sources(context.prompt_tokens, answer_messages(empty, context), count)
    return list(pack(zip(sources, tokens, strict=True), room))


def _small(
    documents: Sequence[Source], context: CitationContext, count: TokenCounter
) -> list[Source]:
    pieces = []
    for source in documents:
        spans = fill(source["text"], count, context.source_tokens, context.source_overlap)
        pieces += [source] if len(spans) <= 1 else cut_source(source, spans)
    return pieces
