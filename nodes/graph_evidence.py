"""From a cited record of the graph down to the words of a document that it rests on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from langgraph.runtime import Runtime

from ragweave.nodes.cite import verify
from ragweave.nodes.graph_access import searchable_graph
from ragweave.nodes.graph_sources import source_of_record, sources_by_id
from ragweave.nodes.sources import numbered
from ragweave.state.base import RagState
from ragweave.state.context import context_of
from ragweave.state.drift import DriftContext, DriftState
from ragweave.state.local_search import GraphContext
from ragweave.state.records import Citation, Source
from ragweave.stores.graph import GraphTables

MAX_UNITS = 8
"""Text units of a record in which words for a sentence are looked for."""


async def trace_evidence(state: RagState, runtime: Runtime[Any]) -> dict[str, Any]:
    """Add to each cited source `evidence`: quotes of the documents that its record rests on.

    Each is the place of a text unit that supports the citing sentence: `text_unit_id`,
    `document_id`, `title`, `quote`, `start` and `end` of the quote in the document.
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
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for unit in numbered(source_of_record(graph, unit) for unit in units):
        for sentence in dict.fromkeys(sentences):
            for citation in verify(f"{sentence} [{unit['number']}]", [unit]).citations:
                if citation["status"] == "grounded" and citation["quote"]:
                    found.setdefault((unit["id"], citation["quote"]), _place(unit, citation))
    return list(found.values())


def _place(unit: Source, citation: Citation) -> dict[str, Any]:
    known = unit["start"] is not None
    return {
        "text_unit_id": unit["id"].partition(":")[2],
        "document_id": unit["document_id"],
        "title": unit["title"],
        "quote": citation["quote"],
        "start": citation["start"] if known else None,
        "end": citation["end"] if known else None,
    }
