"""Expanding the question to several search queries, by paraphrase or by decomposition."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from ragweave.models.calls import ask_structured
from ragweave.models.prompt import Section, prompt, question_section
from ragweave.models.schemas import SearchQueries
from ragweave.nodes.events import decided, emit, failed
from ragweave.nodes.query_list import parse_queries, query_key, unique_queries
from ragweave.nodes.rewrite import short_query
from ragweave.state.context import context_of
from ragweave.state.errors import CallFailed
from ragweave.state.rag_fusion import Expansion, RagFusionContext, RagFusionState


async def expand_question(
    state: RagFusionState, runtime: Runtime[RagFusionContext]
) -> dict[str, Any]:
    """Generate search queries and say of what kind they are; the original is among them once.

    If the call fails, or gives none, the question itself is the only query.
    """
    context = context_of(state, runtime.context, RagFusionContext)
    question, kind = state["search_question"], _fixed_kind(context)
    if not context.query_count:
        return _expanded(state, runtime, [], kind, "Expansion is switched off.")
    note = f"At most {context.query_count} queries."
    if context.expansion != "auto":
        note += f" Kind: {context.expansion}."
    try:
        reply = await ask_structured(
            SearchQueries,
            prompt(context.expand_prompt, question_section(question), Section("note", note)),
            model=context.hidden_model,
            stage="expand",
            state=state,
            context=context,
            salvage=_salvage,
        )
    except CallFailed as failure:
        reason = f"Not expanded: {failure}"
        return {
            **_expanded(state, runtime, [], kind, reason),
            **failed(state, runtime, failure),
        }
    kind = reply.value.kind if context.expansion == "auto" else kind
    queries = _generated(question, reply.value.queries)[: context.query_count]
    reason = reply.value.reason or f"{len(queries)} queries generated."
    return {**_expanded(state, runtime, queries, kind, reason), "usage": reply.usage}


def _fixed_kind(context: RagFusionContext) -> Expansion:
    return "paraphrase" if context.expansion == "auto" else context.expansion


def _salvage(text: str) -> SearchQueries | None:
    queries = parse_queries(text)
    return SearchQueries(kind="paraphrase", queries=queries) if queries else None


def _generated(question: str, queries: list[str]) -> list[str]:
    """The generated queries that are not the question again, each once and of bounded length."""
    asked = query_key(question)
    return [
        query for query in unique_queries(map(short_query, queries)) if query_key(query) != asked
    ]


def _expanded(
    state: RagFusionState,
    runtime: Runtime[RagFusionContext],
    generated: list[str],
    kind: Expansion,
    reason: str,
) -> dict[str, Any]:
    context = context_of(state, runtime.context, RagFusionContext)
    original = [state["search_question"]] if context.include_original or not generated else []
    queries = [*original, *generated]
    emit(state, runtime, "expanded", kind=kind, queries=queries)
    return {
        "search_queries": queries,
        "expansion": kind,
        "decisions": decided("expand_question", kind, reason),
    }
