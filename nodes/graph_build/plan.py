"""The graph that a build is making: worked out of its documents and the answers kept so far.

Everything follows from the text units and from the models' answers, which are kept by what was
asked. So a run that was cut off, in this process or another, goes on by working the plan out anew.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from langchain_core.messages import BaseMessage

from ragweave.indexing.graph.communities import find_communities
from ragweave.indexing.graph.merge import MergedGraph, merge_extractions, records
from ragweave.indexing.graph.terms import extract_by_terms, find_terms
from ragweave.models.graph_schemas import Extraction, MergedDescription
from ragweave.models.loops import PerLoop
from ragweave.models.prompt import Section, prompt
from ragweave.models.tokens import token_counter
from ragweave.nodes.language import document_language
from ragweave.state.errors import InvalidSetting
from ragweave.state.graph_index import GraphIndexContext, GraphIndexState
from ragweave.stores.answer_cache import FILE, AnswerCache, answer_key
from ragweave.stores.graph import GraphIndex, GraphTables, TextUnit
from ragweave.stores.open_graph import open_graph

MAX_PLANS = 4
_plans: OrderedDict[str, GraphTables] = OrderedDict()
"""By run, what takes seconds to work out and several nodes need."""
_working = PerLoop(asyncio.Lock)


@dataclass(frozen=True, slots=True)
class Build:
    """What every node of a build works with."""

    context: GraphIndexContext
    graph: GraphIndex
    answers: AnswerCache


async def build_of(context: GraphIndexContext) -> Build:
    """The graph to be built, and the answers kept beside it.

    Raises:
        InvalidSetting: the index cannot be written to.
    """
    graph = await open_graph(context.index, tenant=context.tenant)
    if not hasattr(graph, "write"):
        raise InvalidSetting(f"{context.index} can be read, but not written to.")
    return Build(context, cast("GraphIndex", graph), AnswerCache(_answers_path(context)))


def extraction_messages(
    context: GraphIndexContext, unit: TextUnit, before: Extraction | None = None
) -> list[BaseMessage]:
    """The prompt for one text unit; for gleaning with what was extracted of it `before`."""
    kinds = ", ".join(context.entity_types)
    wanted = f"Kinds of entities: {kinds}. Claims: {'yes' if context.extract_claims else 'no'}."
    titles = ", ".join(entity.title for entity in before.entities) if before else ""
    return prompt(
        context.extract_prompt,
        Section("document", unit.text),
        Section("form", wanted),
        Section("note", f"Extracted before: {titles}") if before else None,
        document_language(context, unit.text),
    )


def summary_messages(context: GraphIndexContext, title: str, text: str) -> list[BaseMessage]:
    """The prompt for one summary of descriptions."""
    return prompt(
        context.summarize_prompt,
        Section("document", text, {"title": title}),
        document_language(context, text),
    )


def key_of(context: GraphIndexContext, messages: list[BaseMessage]) -> str:
    """Key of the answer to a prompt by the context's model."""
    return answer_key(context.hidden_model, *(message.text for message in messages))


def unit_key(context: GraphIndexContext, unit: TextUnit) -> str:
    """Key of what was extracted of a text unit, gleanings included."""
    messages = extraction_messages(context, unit)
    return answer_key(key_of(context, messages), f"gleanings {context.gleanings}")


async def merged_graph(state: GraphIndexState, build: Build) -> MergedGraph:
    """What all text units say, as far as it was extracted."""
    units = await units_of(state, build)
    if build.context.offline:
        return await asyncio.to_thread(_merge_by_terms, units)
    kept = await kept_extractions(units, build)
    pairs = [(unit_id, Extraction.model_validate(answer)) for unit_id, answer in kept.items()]
    return await asyncio.to_thread(merge_extractions, pairs)


async def kept_extractions(units: Sequence[TextUnit], build: Build) -> dict[str, Any]:
    """By unit id, in order, what was extracted of text units before."""
    keys = {unit.id: unit_key(build.context, unit) for unit in units}
    found = await build.answers.get_many(keys.values())
    return {unit_id: found[key] for unit_id, key in keys.items() if key in found}


async def units_of(state: GraphIndexState, build: Build) -> list[TextUnit]:
    """The text units that the graph is made of, in order."""
    by_id = (await build.graph.tables()).unit_by_id
    return [by_id[unit_id] for unit_id in state["units"] if unit_id in by_id]


def descriptions_of(merged: MergedGraph) -> dict[str, tuple[str, str]]:
    """By record id, the name and all descriptions of every entity and relationship."""
    entities = {key: (item.title, item.description) for key, item in merged.entities.items()}
    titles = {key: item.title for key, item in merged.entities.items()}
    edges = {
        key: (f"{titles[item.source_id]} – {titles[item.target_id]}", item.description)
        for key, item in merged.relationships.items()
    }
    return {**entities, **edges}


async def long_descriptions(
    merged: MergedGraph, context: GraphIndexContext
) -> dict[str, tuple[str, str]]:
    """Those of `descriptions_of` that are to be summarised."""
    if context.offline:
        return {}
    said = descriptions_of(merged)
    count = await token_counter()
    sizes = await asyncio.to_thread(count, [text for _, text in said.values()])
    limit = context.max_description_tokens
    return {key: said[key] for key, size in zip(said, sizes, strict=True) if size > limit}


async def planned_graph(state: GraphIndexState, build: Build) -> GraphTables:
    """All tables but the reports, as they will be when the build is done."""
    run_id = state["settings"]["run_id"]
    async with _working.get():
        if run_id not in _plans:
            _plans[run_id] = await _work_out(state, build)
            while len(_plans) > MAX_PLANS:
                _plans.popitem(last=False)
        return _plans[run_id]


async def _work_out(state: GraphIndexState, build: Build) -> GraphTables:
    merged = await merged_graph(state, build)
    long = await long_descriptions(merged, build.context)
    keys = {
        record_id: key_of(build.context, summary_messages(build.context, title, text))
        for record_id, (title, text) in long.items()
    }
    found = await build.answers.get_many(keys.values())
    summaries = {
        record_id: MergedDescription.model_validate(found[key]).description
        for record_id, key in keys.items()
        if key in found
    }
    stored = await build.graph.tables()
    units = await units_of(state, build)
    return await asyncio.to_thread(
        _assemble, merged, summaries, stored, units, state, build.context
    )


def _assemble(
    merged: MergedGraph,
    summaries: Mapping[str, str],
    stored: GraphTables,
    units: list[TextUnit],
    state: GraphIndexState,
    context: GraphIndexContext,
) -> GraphTables:
    old: list[Any] = [*stored.entities, *stored.relationships, *stored.claims]
    numbers = {record.id: record.number for record in old}
    entities, edges, claims = records(merged, descriptions=summaries, numbers=numbers)
    communities = find_communities(
        entities,
        edges,
        max_cluster_size=context.max_cluster_size,
        period=datetime.now(UTC).date().isoformat(),
    )
    periods = {community.id: community.period for community in stored.communities}
    return GraphTables(
        documents=tuple(
            replace(document, content_hash=state["hashes"].get(document.id, document.content_hash))
            for document in stored.documents
            if document.id in state["documents"]
        ),
        text_units=tuple(_linked(units, entities, edges, claims)),
        entities=tuple(entities),
        relationships=tuple(edges),
        communities=tuple(
            replace(item, period=periods.get(item.id) or item.period) for item in communities
        ),
        claims=tuple(claims),
    )


def _linked(
    units: list[TextUnit], entities: list[Any], edges: list[Any], claims: list[Any]
) -> list[TextUnit]:
    """The units with the ids of what was extracted of them, numbered in order."""
    found: dict[str, tuple[list[str], list[str], list[str]]] = {
        unit.id: ([], [], []) for unit in units
    }
    for place, table in enumerate((entities, edges)):
        for record in table:
            for unit_id in record.text_unit_ids:
                found[unit_id][place].append(record.id)
    for claim in claims:
        found[claim.text_unit_id][2].append(claim.id)
    return [
        replace(
            unit,
            number=number,
            entity_ids=tuple(found[unit.id][0]),
            relationship_ids=tuple(found[unit.id][1]),
            claim_ids=tuple(found[unit.id][2]),
        )
        for number, unit in enumerate(units)
    ]


def _merge_by_terms(units: list[TextUnit]) -> MergedGraph:
    terms = find_terms([unit.text for unit in units])
    return merge_extractions((unit.id, extract_by_terms(unit.text, terms)) for unit in units)


def _answers_path(context: GraphIndexContext) -> Path:
    """Beside the index on disk; for an index elsewhere, in the working folder."""
    kind, _, rest = context.index.partition(":")
    if kind in ("lance", "graphrag"):
        folder = Path(rest.partition("?")[0]).expanduser()
    else:
        folder = Path(".ragweave") / answer_key(context.index)[:16]
    return folder / (f"{context.tenant}.{FILE}" if context.tenant else FILE)
