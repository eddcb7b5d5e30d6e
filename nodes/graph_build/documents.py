"""The documents of a knowledge graph: which are new, changed, unchanged or gone."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from langgraph.runtime import Runtime

from ragweave.indexing.document import LoadedDocument, LoadFailure, RecordsRead
from ragweave.indexing.graph.text_units import cut_text_units, graph_document
from ragweave.indexing.loading import files as load_files
from ragweave.indexing.loading.load import LoadSettings, load
from ragweave.indexing.split import TokenCounter
from ragweave.models.embedding import embed_query
from ragweave.models.tokens import token_counter
from ragweave.nodes.graph_build.estimate import Estimate, estimate, nothing_expected
from ragweave.nodes.graph_build.plan import (
    build_of,
    extraction_messages,
    kept_extractions,
    units_of,
)
from ragweave.state.context import context_of, settings_of
from ragweave.state.errors import IndexMissing, InvalidSetting
from ragweave.state.graph_index import GraphIndexContext, GraphIndexState
from ragweave.state.missing import no_graph
from ragweave.state.records import no_usage
from ragweave.stores.base import IndexSpec
from ragweave.stores.graph import GraphChanges, GraphDocument, GraphTables, TextUnit


@dataclass(slots=True)
class _Found:
    """What the given paths hold, held against what is stored."""

    fresh: list[tuple[GraphDocument, list[TextUnit]]] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    failed: list[dict[str, str]] = field(default_factory=list)
    failed_count: int = 0
    unread: set[str] = field(default_factory=set)
    """Paths of files that could not be read, or not wholly: they keep what they had."""
    hashes: dict[str, str] = field(default_factory=dict)


async def prepare_graph_index(state: GraphIndexState, runtime: Runtime[Any]) -> dict[str, Any]:
    """Check what is to be done, and make the graph or check that it fits the embeddings.

    Raises:
        IndexMissing: there is no graph to delete from.
        InvalidSetting: nothing was given, a path does not exist, or there is nothing to read in it
            (and no graph from which to remove what was there).
        IndexSchemaMismatch: the graph was made with other embeddings.
    """
    context = context_of({}, runtime.context, GraphIndexContext)
    paths, delete = state.get("paths") or [], state.get("delete") or []
    if not paths and not delete:
        raise InvalidSetting("Nothing to index: give `paths`, or documents to `delete`.")
    paths = await asyncio.to_thread(load_files.check_paths, paths)  # before a graph is made
    build = await build_of(context)
    made = await build.graph.spec()
    if made is None and not paths:
        raise IndexMissing(no_graph(context.index, context.tenant))
    if made is None and not delete:
        await asyncio.to_thread(load_files.expect_files, paths)
    if made is not None and context.embeddings:
        made.expect_embeddings(context.embeddings, build.graph.name)
    known = made.embeddings if made else ""
    embeddings = context.embeddings or known or context.new_embeddings
    if not context.dry_run:
        dimension = len(await embed_query("dimension", embeddings=embeddings))
        await build.graph.ensure(IndexSpec(dimension=dimension, embeddings=embeddings))
    settings = {
        **settings_of(context),
        "technique": "graph_index",
        "run_id": uuid.uuid4().hex,
        "embeddings": embeddings,
    }
    counts = ("added", "unchanged", "removed", "failed_count", "text_units", "entities")
    more = ("relationships", "communities", "reports", "embedded", "level")
    return {
        "settings": settings,
        "paths": paths,
        "delete": delete,
        "failed": [],
        "usage": no_usage(),
        **dict.fromkeys((*counts, *more), 0),
        **nothing_expected(),
    }


async def load_documents(state: GraphIndexState, runtime: Runtime[Any]) -> dict[str, Any]:
    """Load what is new or has changed, and store it with its text units, not yet as complete.

    Raises:
        InvalidSetting: there was nothing to read, and nothing to remove either.
    """
    context = context_of(state, None, GraphIndexContext)
    build = await build_of(context)
    made = await build.graph.spec()  # a dry run makes none
    stored = await build.graph.tables() if made else GraphTables()
    found = await asyncio.to_thread(_load, state, stored, context, await token_counter())
    gone = await asyncio.to_thread(_gone, state, stored, found)
    if not (gone or found.fresh or found.unchanged or found.failed) and state["paths"]:
        raise load_files.nothing_there(state["paths"])
    fresh = GraphTables(
        documents=tuple(replace(document, content_hash="") for document, _ in found.fresh),
        text_units=tuple(unit for _, units in found.fresh for unit in units),
    )
    if found.fresh and not context.dry_run:
        await build.graph.write(GraphChanges(upsert=fresh))
    changed = {document.id: units for document, units in found.fresh}
    kept = [document.id for document in stored.documents if document.id not in gone]
    documents = list(dict.fromkeys([*kept, *changed]))
    old: dict[str, list[TextUnit]] = {}
    for unit in stored.text_units:
        old.setdefault(unit.document_id or "", []).append(unit)
    units = [unit for key in documents for unit in changed.get(key, old.get(key, []))]
    plan = await _expected(units, context)
    return {
        "documents": documents,
        "units": [unit.id for unit in units],
        "hashes": found.hashes,
        "added": len(found.fresh),
        "unchanged": len(found.unchanged),
        "removed": len(gone),
        "failed": found.failed,
        "failed_count": found.failed_count,
        "text_units": len(units),
        "warnings": _not_found(state, stored),
        **plan,
    }


async def units_to_extract(state: GraphIndexState) -> list[str]:
    """Ids of the text units of which nothing was extracted yet."""
    context = context_of(state, None, GraphIndexContext)
    build = await build_of(context)
    units = await units_of(state, build)
    kept = await kept_extractions(units, build)
    return [unit.id for unit in units if unit.id not in kept]


async def _expected(units: Sequence[TextUnit], context: GraphIndexContext) -> Estimate:
    """Calls and tokens of what is not kept yet."""
    if context.offline:
        return nothing_expected()
    kept = await kept_extractions(units, await build_of(context))
    new = [unit for unit in units if unit.id not in kept]
    prompts = ["\n".join(m.text for m in extraction_messages(context, unit)) for unit in new]
    count = await token_counter()
    tokens = await asyncio.to_thread(count, prompts)
    instructions = sum(count([context.summarize_prompt, context.report_prompt]))
    return estimate(
        tokens,
        new_tokens=sum(unit.tokens or 0 for unit in new),
        all_tokens=sum(unit.tokens or 0 for unit in units),
        instructions=instructions,
        context=context,
    )


def _load(
    state: GraphIndexState, stored: GraphTables, context: GraphIndexContext, count: TokenCounter
) -> _Found:
    found = _Found()
    number = max((document.number for document in stored.documents), default=-1)
    settings = (context.unit_tokens, context.unit_overlap)
    for loaded in load(state["paths"], LoadSettings()):
        if isinstance(loaded, LoadFailure):
            found.failed.append({"path": loaded.path, "reason": loaded.reason})
            found.failed_count += loaded.count
            found.unread.add(loaded.path)
        elif isinstance(loaded, RecordsRead) and not loaded.whole:
            found.unread.add(loaded.path)
        elif isinstance(loaded, LoadedDocument):
            old = stored.document_by_id.get(loaded.id)
            fingerprint = loaded.content_hash(*settings)
            if old is not None and old.content_hash == fingerprint:
                found.unchanged.append(loaded.id)
                continue
            number += old is None
            document = graph_document(loaded, old.number if old else number, *settings)
            units = cut_text_units(
                document,
                count,
                max_tokens=context.unit_tokens,
                overlap=context.unit_overlap,
                markup=loaded.content.markup,
            )
            found.fresh.append((document, units))
            found.hashes[document.id] = fingerprint
    return found


def _not_found(state: GraphIndexState, stored: GraphTables) -> list[str]:
    """A warning about names of documents to delete that no document has."""
    there = {name for document in stored.documents for name in _names(document)}
    names = ", ".join(repr(name) for name in state["delete"] if name not in there)
    if not names:
        return []
    return [
        f"Nothing to delete was found by the name {names}: give the id of a document, or its path "
        "as it was when it was indexed."
    ]


def _names(document: GraphDocument) -> set[str]:
    """What a document can be deleted by."""
    path = document.metadata.get("path")
    return {document.id} if path is None else {document.id, path}


def _gone(state: GraphIndexState, stored: GraphTables, found: _Found) -> set[str]:
    """Documents to delete: those named, and those below a given path that are there no more."""
    there = {*found.unchanged, *found.hashes}
    roots = [name for path in state["paths"] for name in load_files.names_of(path)]
    gone = set()
    for document in stored.documents:
        path = document.metadata.get("path")
        named = not _names(document).isdisjoint(state["delete"])
        below = path is not None and any(load_files.is_below(path, root) for root in roots)
        if named or (below and document.id not in there and path not in found.unread):
            gone.add(document.id)
    return gone
