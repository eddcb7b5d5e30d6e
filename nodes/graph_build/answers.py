"""The model calls of a graph build, each kept by what was asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from langgraph.runtime import Runtime
from pydantic import BaseModel

from ragweave.indexing.graph.extraction import parse_report, salvage_extraction
from ragweave.indexing.graph.reports import by_level, community_text, counted_once
from ragweave.indexing.split import TokenCounter
from ragweave.models.calls import ask_structured
from ragweave.models.graph_schemas import CommunityReport, Extraction, MergedDescription
from ragweave.models.prompt import Section, prompt
from ragweave.models.tokens import token_counter
from ragweave.nodes.graph_build.plan import (
    Build,
    build_of,
    extraction_messages,
    key_of,
    long_descriptions,
    merged_graph,
    planned_graph,
    summary_messages,
    unit_key,
)
from ragweave.nodes.language import document_language
from ragweave.state.context import context_of
from ragweave.state.errors import CallFailed
from ragweave.state.graph_index import GraphIndexContext, GraphIndexState
from ragweave.state.records import no_usage
from ragweave.state.reducers import add_usage
from ragweave.stores.graph import Community, GraphTables

AnswerT = TypeVar("AnswerT", bound=BaseModel)
_counters: WeakKeyDictionary[GraphTables, TokenCounter] = WeakKeyDictionary()


async def extract_unit(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
    """Extract one text unit; with gleaning, ask again what was missed."""
    context = context_of(state, None, GraphIndexContext)
    build = await build_of(context)
    unit = (await build.graph.tables()).unit_by_id[state["unit_id"]]
    extraction, usage = Extraction(), no_usage()
    for round_ in range(1 + context.gleanings):
        before = extraction if round_ else None
        try:
            reply = await ask_structured(
                Extraction,
                extraction_messages(context, unit, before),
                model=context.hidden_model,
                stage="extract",
                state=state,
                context=context,
                salvage=salvage_extraction,
            )
        except CallFailed as failure:
            return {
                "usage": add_usage(usage, failure.usage),
                "warnings": [f"Text unit {unit.number} was not extracted: {failure}"],
            }
        usage = add_usage(usage, reply.usage)
        extraction.entities += reply.value.entities
        extraction.relationships += reply.value.relationships
        extraction.claims += reply.value.claims
    await build.answers.put(unit_key(context, unit), extraction.model_dump(mode="json"))
    return {"usage": usage}


async def summarize_description(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
    """Make one description of all that was said about one entity or relationship."""
    messages = summary_messages(
        context_of(state, None, GraphIndexContext), state["title"], state["text"]
    )
    return await _ask_and_keep(
        MergedDescription,
        messages,
        state,
        stage="summarize",
        salvage=_prose,
        failed=state["title"],
    )


async def write_report(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
    """Write the report of one community."""
    messages = report_messages(context_of(state, None, GraphIndexContext), state["text"])
    return await _ask_and_keep(
        CommunityReport,
        messages,
        state,
        stage="report",
        salvage=parse_report,
        failed="A report was not written",
    )


async def _ask_and_keep(
    schema: type[AnswerT],
    messages: list[Any],
    state: Any,
    *,
    stage: str,
    salvage: Callable[[str], AnswerT | None],
    failed: str,
) -> dict[str, Any]:
    """Ask, and keep the answer by what was asked; a call that fails is a warning."""
    context = context_of(state, None, GraphIndexContext)
    build = await build_of(context)
    try:
        reply = await ask_structured(
            schema,
            messages,
            model=context.hidden_model,
            stage=stage,
            state=state,
            context=context,
            salvage=salvage,
        )
    except CallFailed as failure:
        return {"usage": failure.usage, "warnings": [f"{failed}: {failure}"]}
    await build.answers.put(key_of(context, messages), reply.value.model_dump(mode="json"))
    return {"usage": reply.usage}


def report_messages(context: GraphIndexContext, text: str) -> list[Any]:
    """The prompt for the report on what `text` says of a community."""
    return prompt(
        context.report_prompt, Section("document", text), document_language(context, text)
    )


async def descriptions_to_summarize(state: GraphIndexState) -> list[dict[str, str]]:
    """Names and descriptions of what is too long and was not summarised yet."""
    context = context_of(state, None, GraphIndexContext)
    build = await build_of(context)
    long = await long_descriptions(await merged_graph(state, build), context)
    keys = {pair: key_of(context, summary_messages(context, *pair)) for pair in long.values()}
    found = await build.answers.get_many(keys.values())
    return [
        {"title": title, "text": text} for (title, text), key in keys.items() if key not in found
    ]


async def reports_to_write(state: GraphIndexState) -> list[str]:
    """What is known of each community of the state's level whose report was not written yet."""
    context = context_of(state, None, GraphIndexContext)
    build = await build_of(context)
    planned = await planned_graph(state, build)
    levels = by_level(planned.communities)
    if context.offline or state["level"] >= len(levels):
        return []
    written = await written_reports(planned, build, below=state["level"])
    texts = await _texts(planned, levels[state["level"]], written, context)
    keys = {text: key_of(context, report_messages(context, text)) for text in texts}
    found = await build.answers.get_many(keys.values())
    return [text for text, key in keys.items() if key not in found]


async def written_reports(
    planned: GraphTables, build: Build, *, below: int | None = None
) -> dict[int, CommunityReport]:
    """The reports that were written so far, by community number, of the first `below` levels."""
    reports: dict[int, CommunityReport] = {}
    for level in by_level(planned.communities)[:below]:
        texts = await _texts(planned, level, reports, build.context)
        keys = [key_of(build.context, report_messages(build.context, text)) for text in texts]
        found = await build.answers.get_many(keys)
        reports.update(
            (community.community, CommunityReport.model_validate(found[key]))
            for community, key in zip(level, keys, strict=True)
            if key in found
        )
    return reports


async def _texts(
    planned: GraphTables,
    communities: list[Community],
    reports: dict[int, CommunityReport],
    context: GraphIndexContext,
) -> list[str]:
    """What is known of each community. Lines recur on every level: each is counted once."""
    count = _counters.setdefault(planned, counted_once(await token_counter()))
    return await asyncio.to_thread(
        lambda: [
            community_text(planned, community, reports, count, context.max_report_tokens)
            for community in communities
        ]
    )


def _prose(text: str) -> MergedDescription | None:
    text = text.strip()
    return MergedDescription(description=text) if text and text[0] not in "{[" else None
