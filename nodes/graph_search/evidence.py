"""From a cited record of the graph down to the words of a document that it rests on."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Sequence
from typing import Any

from langgraph.runtime import Runtime

from ragweave.models.offline.words import key_words, rarity, stems
from ragweave.nodes.cite import verify
from ragweave.nodes.graph_search.access import searchable_graph
from ragweave.nodes.graph_search.graph_sources import source_of_record, sources_by_id
from ragweave.nodes.sources import numbered
from ragweave.state.base import RagState
from ragweave.state.context import context_of
from ragweave.state.drift import DriftContext, DriftState
from ragweave.state.local_search import GraphContext
from ragweave.state.records import Citation, Source
from ragweave.state.text import sentences as text_sentences
from ragweave.stores.graph import GraphTables

_MARKERS = re.compile(r"\s*\[[\d\s,]+\]")
NEAREST_UNITS = 3
"""Text units among which the nearest sentence is looked for."""
MAX_UNITS = 8
"""Text units of a record in which words for a sentence are looked for."""


async def trace_evidence(state: RagState, runtime: Runtime[Any]) -> dict[str, Any]:
    """Add to each cited source `evidence`: quotes of the documents that its record rests on.

    Each has `text_unit_id`, `document_id`, `title`, `quote`, `start` and `end` of the quote in
    the document, and `supports`: false where no words support the citing sentence by themselves,
    and the quote is the sentence that has most in common with it.
    """
    context = context_of(state, runtime.context, GraphContext)
    graph = await searchable_graph(context, state["search_question"])
    if graph is None:
        return {}
    sources = await asyncio.to_thread(
        _with_evidence, graph.tables, state["sources"], state["citations"]
    )
    return {"sources": sources}


async def return_context(state: DriftState, runtime: Runtime[DriftContext]) -> dict[str, Any]:
    """Put behind the sources that were shown all others that any call of the run has seen."""
    context = context_of(state, runtime.context, DriftContext)
    graph = await searchable_graph(context, state["search_question"])
    if graph is None:
        return {}
    seen = [source_id for action in state["actions"] for source_id in action["source_ids"]]
    shown = {source["id"] for source in state["sources"]}
    others = dict.fromkeys(source_id for source_id in seen if source_id not in shown)
    rest = await asyncio.to_thread(sources_by_id, graph.tables, others)
    return {"sources": numbered([*state["sources"], *rest])}


def _with_evidence(
    graph: GraphTables, sources: Sequence[Source], citations: Iterable[Citation]
) -> list[Source]:
    sentences: dict[str, list[str]] = {}
    for citation in citations:
        if citation["source_id"] and citation["sentence"]:
            sentences.setdefault(citation["source_id"], []).append(citation["sentence"])
    return [
        {
            **source,
            "metadata": {
                **source["metadata"],
                "evidence": _evidence(graph, source, sentences[source["id"]]),
            },
        }
        if source["id"] in sentences
        else source
        for source in sources
    ]


def _evidence(graph: GraphTables, source: Source, sentences: Sequence[str]) -> list[dict[str, Any]]:
    units = [
        graph.unit_by_id[unit_id]
        for unit_id in source["metadata"]["text_unit_ids"][:MAX_UNITS]
        if unit_id in graph.unit_by_id
    ]
    shown = numbered(source_of_record(graph, unit) for unit in units)
    by_id = {unit["id"]: unit for unit in shown}
    markers = "".join(f"[{unit['number']}]" for unit in shown)
    claims = "\n\n".join(f"{_MARKERS.sub('', text)} {markers}" for text in dict.fromkeys(sentences))
    found = {
        (citation["source_id"], citation["quote"]): _place(
            by_id[citation["source_id"]], citation["quote"], citation["start"], supports=True
        )
        for citation in verify(claims, shown).citations
        if citation["status"] == "grounded" and citation["quote"] and citation["source_id"]
    }
    return list(found.values()) or _nearest(shown[:NEAREST_UNITS], [*sentences, source["title"]])


def _nearest(units: Sequence[Source], wanted: Iterable[str | None]) -> list[dict[str, Any]]:
    """The sentence of the units nearest to what was said; none if they share no word.

    Words count by how rare they are, and for less in a long sentence, which has many.
    """
    words = {stem: rarity(word) for stem, word in key_words(" ".join(filter(None, wanted))).items()}
    best, where = 0.0, None
    for unit in units:
        for span in text_sentences(unit["text"]):
            found = stems(unit["text"][span.start : span.end])
            score = sum(words[stem] for stem in found & words.keys()) / max(len(found), 8) ** 0.5
            if score > best:
                best, where = score, (unit, span)
    if where is None:
        return []
    unit, span = where
    offset = unit["start"] or 0
    quote = unit["text"][span.start : span.end]
    return [_place(unit, quote, offset + span.start, supports=False)]


def _place(unit: Source, quote: str | None, start: int | None, *, supports: bool) -> dict[str, Any]:
    known = unit["start"] is not None and start is not None and quote is not None
    return {
        "text_unit_id": unit["id"].partition(":")[2],
        "document_id": unit["document_id"],
        "title": unit["title"],
        "quote": quote,
        "start": start if known else None,
        "end": (start or 0) + len(quote or "") if known else None,
        "supports": supports,
    }
