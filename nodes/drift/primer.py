"""The primer: reading the selected reports in folds, for a first answer and what to ask next."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from langgraph.runtime import Runtime

from ragweave.models.calls import ask_structured
from ragweave.models.drift_schemas import PrimerAnswer, salvage
from ragweave.models.prompt import prompt, question_section, sources_section
from ragweave.models.tokens import token_counter
from ragweave.nodes.citations.renumber_markers import renumber_markers
from ragweave.nodes.drift.tree import ROOT
from ragweave.nodes.events import decided, emit, failed
from ragweave.nodes.excerpt import excerpts
from ragweave.nodes.graph_search.access import SearchableGraph, searchable_graph
from ragweave.nodes.graph_search.graph_sources import source_of_record
from ragweave.nodes.language import named_language
from ragweave.nodes.sources import numbered
from ragweave.state.context import context_of
from ragweave.state.drift import Action, DriftContext, DriftState, Fold, FoldTask
from ragweave.state.errors import CallFailed, RequestRefused
from ragweave.state.records import Source


def folds_of(reports: Sequence[str], count: int) -> list[list[str]]:
    """`reports`, in order, divided as evenly as can be among at most `count` folds, none empty."""
    count = min(count, len(reports))
    bounds = [len(reports) * at // count for at in range(count + 1)] if count else []
    return [list(reports[start:end]) for start, end in pairwise(bounds)]


async def prime_reports(state: FoldTask, runtime: Runtime[DriftContext]) -> dict[str, Any]:
    """Read one fold of reports. A call that fails leaves the fold without an answer."""
    context = context_of(state, runtime.context, DriftContext)
    graph = await searchable_graph(context, state["search_question"])
    sources, cut = await _shown(state["reports"], graph, context)
    messages = prompt(
        context.primer_prompt,
        sources_section(sources, cut),
        question_section(state["search_question"]),
        named_language(context, state["question"]),
    )
    fold = _fold(state["number"], [source["id"] for source in sources])
    try:
        reply = await ask_structured(
            PrimerAnswer,
            messages,
            model=context.hidden_model,
            stage="prime",
            state=state,
            context=context,
            salvage=salvage(PrimerAnswer),
        )
    except (CallFailed, RequestRefused) as failure:
        fold["reason"] = str(failure)
        update = failed(state, runtime, failure)
    else:
        fold["answer"] = reply.value.intermediate_answer or None
        fold["score"] = reply.value.score
        fold["follow_ups"] = reply.value.follow_up_queries
        fold["reason"] = "" if fold["answer"] else "The model gave no answer."
        update = {"usage": reply.usage}
    emit(
        state,
        runtime,
        "primed",
        fold=fold["number"],
        score=fold["score"],
        follow_ups=fold["follow_ups"],
    )
    return {"folds": [fold], **update}


async def plant_root(state: DriftState, runtime: Runtime[DriftContext]) -> dict[str, Any]:
    """Join the folds into the root of the tree: answers, mean of the scores, all follow-ups."""
    folds = state["folds"]
    useful = [fold for fold in folds if fold["answer"]]
    scores = [fold["score"] for fold in useful if fold["score"] is not None]
    root = Action(
        id=ROOT,
        parent_id=None,
        depth=0,
        query=state["search_question"],
        answer=_joined(useful) or None,
        score=sum(scores) / len(scores) if scores else None,
        status="answered" if useful else "failed",
        reason="; ".join(dict.fromkeys(fold["reason"] for fold in folds if fold["reason"])),
        follow_ups=[query for fold in useful for query in fold["follow_ups"]],
        source_ids=[source_id for fold in useful for source_id in fold["source_ids"]],
        usage=None,
    )
    if useful:
        reason = f"{len(useful)} of {len(folds)} folds of reports gave an answer."
        return {"actions": [root], "decisions": decided("plant_root", "follow_ups", reason)}
    why = root["reason"] or "no report was found"
    warning = f"The reports gave no first answer ({why}); the question was searched for as it is."
    root["reason"] = root["reason"] or why
    return {
        "actions": [root],
        "decisions": decided("plant_root", "local_search", warning),
        "warnings": [warning],
    }


def _fold(number: int, source_ids: list[str]) -> Fold:
    return Fold(
        number=number, answer=None, score=None, follow_ups=[], source_ids=source_ids, reason=""
    )


def _joined(folds: Sequence[Fold]) -> str:
    """The folds' answers, each citing by the numbers of all folds' sources together."""
    texts = []
    before = 0
    for fold in folds:
        count = len(fold["source_ids"])
        places = {number: number + before for number in range(1, count + 1)}
        texts.append(renumber_markers(fold["answer"] or "", places))
        before += count
    return "\n\n".join(texts)


async def _shown(
    ids: Sequence[str], graph: SearchableGraph | None, context: DriftContext
) -> tuple[list[Source], Mapping[str, str]]:
    """Reports as numbered sources, with excerpts of those too long for the budget."""
    if graph is None:
        return [], {}
    tables = graph.tables
    reports = [tables.report_by_id[report] for report in ids if report in tables.report_by_id]
    sources = numbered(source_of_record(tables, report) for report in reports)
    count = await token_counter()
    return sources, await asyncio.to_thread(excerpts, sources, context.primer_max_tokens, count)
