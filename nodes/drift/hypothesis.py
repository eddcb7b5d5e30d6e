"""Finding the reports to begin with, by a made-up answer that is written like one (HyDE)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from langgraph.runtime import Runtime

from ragweave.models.calls import ask_text
from ragweave.models.prompt import Section, prompt, question_section
from ragweave.nodes.events import decided, emit, failed
from ragweave.nodes.graph_search.access import SearchableGraph, no_graph_yet, searchable_graph
from ragweave.nodes.graph_search.graph_sources import text_of
from ragweave.nodes.language import named_language
from ragweave.nodes.tracing import TRACED_CHARACTERS, traced_search
from ragweave.state.context import context_of
from ragweave.state.drift import DriftContext, DriftState
from ragweave.state.errors import CallFailed
from ragweave.stores.graph import Report

MAX_TEMPLATE_CHARACTERS = 6_000


async def write_hypothesis(state: DriftState, runtime: Runtime[DriftContext]) -> dict[str, Any]:
    """Write a hypothetical answer in the form of a report; without one, the question has to do."""
    context = context_of(state, runtime.context, DriftContext)
    question = state["search_question"]
    graph = await searchable_graph(context, question)
    if graph is None or context.hyde == "off":
        reason = "There is no graph." if graph is None else "It is switched off."
        decision = decided("write_hypothesis", "question", reason)
        return {"hypothesis": question, "decisions": decision}
    template = await _template(graph, context, question)
    if template is None:
        decision = decided("write_hypothesis", "question", "The graph has no reports.")
        return {"hypothesis": question, "decisions": decision}
    try:
        reply = await ask_text(
            prompt(
                context.hyde_prompt,
                Section("document", text_of(template)[:MAX_TEMPLATE_CHARACTERS]),
                question_section(question),
                named_language(context, question),
            ),
            model=context.hidden_model,
            stage="hypothesize",
            state=state,
            context=context,
        )
    except CallFailed as failure:
        decision = decided("write_hypothesis", "question", str(failure))
        return {"hypothesis": question, "decisions": decision, **failed(state, runtime, failure)}
    if not reply.value or reply.message.response_metadata.get("language_model") is False:
        decision = decided("write_hypothesis", "question", "The model wrote no hypothesis.")
        return {"hypothesis": question, "decisions": decision, "usage": reply.usage}
    emit(state, runtime, "hypothesized", text=reply.value)
    return {"hypothesis": reply.value, "usage": reply.usage}


async def select_reports(state: DriftState, runtime: Runtime[DriftContext]) -> dict[str, Any]:
    """Select the reports nearest to the hypothesis."""
    context = context_of(state, runtime.context, DriftContext)
    graph = await searchable_graph(context, state["search_question"])
    if graph is None:
        return {"reports": [], "warnings": [no_graph_yet(context)]}
    if not graph.tables.reports:
        return {"reports": [], "warnings": [*graph.warnings, f"{context.index} has no reports."]}
    reports = await search_reports(state["hypothesis"], graph, context)
    ids = [report.id for report in reports]
    emit(state, runtime, "retrieved", query=state["search_question"], ids=ids)
    return {"reports": ids, "warnings": graph.warnings}


def _traced_reports(reports: Sequence[Report] | None) -> list[dict[str, Any]]:
    return [
        {
            "type": "Document",
            "page_content": text_of(report)[:TRACED_CHARACTERS],
            "metadata": {"id": report.id, "title": report.title},
        }
        for report in reports or ()
    ]


@traced_search("search_reports", documents=_traced_reports)
async def search_reports(query: str, graph: SearchableGraph, context: DriftContext) -> list[Report]:
    """The `k_reports` reports nearest to a text, nearest first."""
    nearest = await graph.index.nearest_reports(
        await graph.vector(query), context.k_reports, max_level=context.community_level
    )
    return [graph.tables.report_by_id[hit.id] for hit in nearest]


async def _template(graph: SearchableGraph, context: DriftContext, question: str) -> Report | None:
    """The report that shows the hypothesis its form."""
    reports = graph.tables.reports
    if not reports:
        return None
    if context.hyde == "random":
        by_id = sorted(reports, key=lambda report: report.id)
        return random.Random(context.seed).choice(by_id)
    nearest = await graph.index.nearest_reports(
        await graph.vector(question), 1, max_level=context.community_level
    )
    return graph.tables.report_by_id[nearest[0].id] if nearest else None
