"""The end of DRIFT: one answer from all partial ones, or the tree of them as it is."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langgraph.runtime import Runtime

from ragweave.models.prompt import (
    Section,
    history_section,
    prompt,
    question_section,
    sources_section,
)
from ragweave.models.tokens import token_counter
from ragweave.nodes.answer_output import answer_output
from ragweave.nodes.citations.renumber_markers import cited_numbers, renumber_markers
from ragweave.nodes.drift.local import instructions
from ragweave.nodes.drift.tree import answered, current, tree_of
from ragweave.nodes.events import decided, emit, failed
from ragweave.nodes.excerpt import excerpt, excerpts
from ragweave.nodes.graph_search.access import searchable_graph
from ragweave.nodes.graph_search.context_records import CountTokens
from ragweave.nodes.graph_search.graph_sources import sources_by_id
from ragweave.nodes.language import named_language
from ragweave.nodes.prepare import turns
from ragweave.nodes.sources import numbered
from ragweave.nodes.write_answer import partial_draft, write_answer
from ragweave.state.context import context_of
from ragweave.state.drift import Action, DriftContext, DriftState
from ragweave.state.errors import ModelUnavailable
from ragweave.state.records import Source

ANSWERS_SHARE = 0.6
"""Of the final call's tokens, what partial answers may take; the rest shows their sources."""
FALLBACK_ANSWERS = 3
"""Partial answers that stand for the final one where it could not be written."""


@dataclass(frozen=True, slots=True)
class _Partial:
    """One partial answer, citing in the numbering of the final answer."""

    query: str
    score: float | None
    text: str


async def reduce_answers(state: DriftState, runtime: Runtime[DriftContext]) -> dict[str, Any]:
    """Write the answer from the partial ones, best first, streaming its tokens.

    Those that score 0 are left out, and so are those that no longer fit. `sources` are what the
    partial answers cite, numbered by their first use in the best of them.
    """
    context = context_of(state, runtime.context, DriftContext)
    actions = answered(current(state["actions"]).values())
    graph = await searchable_graph(context, state["search_question"])
    if graph is None or not actions:
        return {"sources": [], "draft": partial_draft("")}
    count = await token_counter()

    def build() -> tuple[list[_Partial], list[Source], dict[str, str]]:
        sources = numbered(sources_by_id(graph.tables, _cited(actions)))
        partials = _fitting(_partials(actions, sources), context, count)
        return partials, sources, _excerpts(sources, partials, context, count)

    partials, sources, cut = await asyncio.to_thread(build)
    emit(state, runtime, "reduced", count=len(partials))
    shown: DriftState = {**state, "sources": sources, "excerpts": cut}
    messages = _messages(partials, shown, context)
    fallback = "\n\n".join(partial.text for partial in partials[:FALLBACK_ANSWERS])
    reason = f"{len(partials)} of {len(actions)} partial answers, {len(sources)} sources."
    update = {
        "sources": sources,
        "excerpts": cut,
        "decisions": decided("reduce_answers", "answer", reason),
    }
    try:
        return {
            **update,
            **await write_answer(
                messages, shown, runtime, stage="reduce", fallback=lambda: fallback
            ),
        }
    except ModelUnavailable as failure:
        emit(state, runtime, "token", text=fallback)
        return {
            **update,
            "draft": partial_draft(fallback),
            **failed(state, runtime, failure),
        }


async def report_tree(state: DriftState, runtime: Runtime[DriftContext]) -> dict[str, Any]:
    """End with the tree of actions and no final answer."""
    tree = tree_of(state["actions"])
    found = answered(tree["nodes"])
    said = f"{len(found)} of {len(tree['nodes'])} questions were answered; see `tree`."
    message = AIMessage(said, id=str(uuid.uuid4()))
    return {
        **answer_output("", "partial" if found else "no_evidence", [], message),
        "tree": tree,
        "invalid_markers": [],
        "sources": [],
    }


def _cited(actions: Sequence[Action]) -> list[str]:
    """Ids of the records that the answers cite, in the order of their first use."""
    ids: dict[str, None] = {}
    for action in actions:
        numbers = range(1, len(action["source_ids"]) + 1)
        for number in cited_numbers(action["answer"] or "", numbers):
            ids.setdefault(action["source_ids"][number - 1])
    return list(ids)


def _partials(actions: Sequence[Action], sources: Sequence[Source]) -> list[_Partial]:
    numbers = {source["id"]: source["number"] for source in sources}
    return [
        _Partial(
            action["query"],
            action["score"],
            renumber_markers(
                action["answer"] or "",
                {
                    place: numbers[source_id]
                    for place, source_id in enumerate(action["source_ids"], 1)
                    if source_id in numbers
                },
            ),
        )
        for action in actions
    ]


def _fitting(
    partials: Sequence[_Partial], context: DriftContext, count: CountTokens
) -> list[_Partial]:
    """The best answers that fit into their share of the tokens; the last one may be cut."""
    room = int(context.data_max_tokens * ANSWERS_SHARE)
    kept = []
    for partial, size in zip(partials, count([item.text for item in partials]), strict=True):
        text = partial.text if size <= room else excerpt(partial.text, room, count)
        if text:
            kept.append(_Partial(partial.query, partial.score, text))
        room -= size
        if room <= 0:
            break
    return kept


def _excerpts(
    sources: Sequence[Source],
    partials: Sequence[_Partial],
    context: DriftContext,
    count: CountTokens,
) -> dict[str, str]:
    """What of each source fits into the tokens that the answers leave."""
    used = sum(count([partial.text for partial in partials]))
    return excerpts(sources, max(context.data_max_tokens - used, 0), count)


def _messages(
    partials: Sequence[_Partial], state: DriftState, context: DriftContext
) -> list[BaseMessage]:
    return prompt(
        instructions(context.reduce_prompt, context),
        history_section(turns(state["messages"][:-1])),
        *[Section("answer", item.text, _attributes(item)) for item in partials],
        sources_section(state["sources"], state["excerpts"]),
        question_section(state["question"]),
        Section("form", context.response_type),
        named_language(context, state["question"]),
    )


def _attributes(partial: _Partial) -> Mapping[str, str]:
    score = "unknown" if partial.score is None else f"{partial.score:g}"
    return {"score": score, "question": partial.query}
