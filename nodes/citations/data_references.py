"""Citing as GraphRAG does: `[Data: Entities (5, 7); Reports (2)]` in place of `[3][4][9]`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.runtime import Runtime

from ragweave.nodes.answer_output import reworded
from ragweave.nodes.citations.token_filter import TokenFilter
from ragweave.nodes.events import emit
from ragweave.state.base import RagState
from ragweave.state.context import context_of
from ragweave.state.local_search import GraphContext
from ragweave.state.markers import parse
from ragweave.state.records import Source

MOST_IDS = 5
"""Records that one reference lists; further ones are `+more`."""


async def restyle_citations(state: RagState, runtime: Runtime[Any]) -> dict[str, Any]:
    """Replace the answer's numbers by GraphRAG's references, if the context wants that."""
    context = context_of(state, runtime.context, GraphContext)
    if context.citation_style != "graphrag" or not state["answer"]:
        return {}
    answer = with_data_references(state["answer"], state["sources"])
    if answer == state["answer"]:
        return {}
    emit(state, runtime, "revised", answer=answer, reason="Citations in GraphRAG's style.")
    return reworded(state, answer, state["citations"])


def with_data_references(answer: str, sources: Sequence[Source]) -> str:
    """`answer` with each run of markers replaced by one reference to the graph's tables."""
    by_number = {source["number"]: source for source in sources}
    found = TokenFilter(by_number, source_lists=False)
    shown = found.feed(answer) + found.close()
    pieces: list[str] = []
    done = 0
    run: list[int] = []
    for mention in found.mentions:
        if parse(shown[mention.start : mention.end]) is None:
            continue
        between = shown[done : mention.start]
        if run and between.strip():
            pieces.append(_reference(run, by_number))
            run = []
        if not run:
            pieces.append(between)
        run += mention.numbers
        done = mention.end
    if run:
        pieces.append(_reference(run, by_number))
    return "".join([*pieces, shown[done:]])


def _reference(numbers: Sequence[int], sources: Mapping[int, Source]) -> str:
    tables: dict[str, list[str]] = {}
    unique = list(dict.fromkeys(numbers))
    for number in unique[:MOST_IDS]:
        metadata = sources[number]["metadata"]
        tables.setdefault(str(metadata["table"]).capitalize(), []).append(str(metadata["number"]))
    if len(unique) > MOST_IDS:
        tables[next(reversed(tables))].append("+more")
    listed = "; ".join(f"{name} ({', '.join(ids)})" for name, ids in tables.items())
    return f"[Data: {listed}]"
