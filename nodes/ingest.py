"""The nodes of ingest."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from langgraph.runtime import Runtime

from ragweave.indexing.chunks import ChunkSettings
from ragweave.indexing.document import Loaded
from ragweave.indexing.fields import parse_fields
from ragweave.indexing.loading import files as load_files
from ragweave.indexing.loading.load import LoadSettings, load
from ragweave.indexing.loading.memory import from_memory
from ragweave.indexing.loading.records import RecordFields
from ragweave.indexing.memory import give_back
from ragweave.indexing.part import in_part
from ragweave.indexing.pipeline import PAGE, Pipeline, remove_documents
from ragweave.indexing.tally import Tally
from ragweave.models.budget import ledger_of
from ragweave.models.embedding import embed_texts
from ragweave.models.tokens import token_counter
from ragweave.nodes.events import emit
from ragweave.state.context import context_of, settings_of
from ragweave.state.errors import InvalidSetting
from ragweave.state.ingest import MAX_FAILURES_REPORTED, Failure, IngestContext, IngestState
from ragweave.stores import open_index
from ragweave.stores.base import Index, IndexSpec


async def prepare_ingest(state: IngestState, runtime: Runtime[Any]) -> dict[str, Any]:
    """Check what is to be ingested and make the index ready for it.

    Raises:
        InvalidSetting: nothing was given, a path does not exist, there is nothing to read in it
            (and no index from which to remove what was there), or a filter field is no field.
        IndexSchemaMismatch: the index was made with other embeddings or other fields.
    """
    context = context_of({}, runtime.context, IngestContext)
    paths = _given_paths(state)
    if not paths and not state.get("documents"):
        raise InvalidSetting("Nothing to ingest: give `paths`, or `documents` in memory.")
    checked = await asyncio.to_thread(load_files.check_paths, paths)  # before an index is made
    index = await open_index(context.index, tenant=context.tenant)
    if not state.get("documents") and await index.spec() is None:
        await asyncio.to_thread(load_files.expect_files, checked)
    spec = await _ensure(index, context)
    return {
        "settings": {
            **settings_of(context),
            "technique": "ingest",
            "run_id": uuid.uuid4().hex,
            "embeddings": spec.embeddings,
            "filter_fields": [f"{name}:{kind}" for name, kind in spec.fields.items()],
        },
        "paths": checked,
        "failed": [],
        **dict.fromkeys(("added", "unchanged", "removed", "failed_count", "chunks"), 0),
    }


async def find_files(state: IngestState, runtime: Runtime[Any]) -> dict[str, Any]:
    """Count the files and their bytes, so that progress can be told."""

    def count() -> tuple[int, int]:
        files = total = 0
        for found in load_files.find_files(state["paths"]):
            files += 1
            total += getattr(found, "size", 0)
        return files, total

    files, total = await asyncio.to_thread(count)
    return {"total_files": files, "total_bytes": total}


async def index_documents(state: IngestState, runtime: Runtime[Any]) -> dict[str, Any]:
    """Load, split, embed and store everything that is new or has changed."""
    context = context_of(state, None, IngestContext)
    tally = Tally(most_failures=MAX_FAILURES_REPORTED)
    pipeline = Pipeline(
        await open_index(context.index, tenant=context.tenant),
        await token_counter(),
        embeddings=context.new_embeddings,
        settings=ChunkSettings(
            context.chunk_tokens, context.chunk_overlap, parse_fields(context.filter_fields)
        ),
        batch_chunks=context.batch_chunks,
        prune=context.prune,
        wanted=in_part(context.part),
        tally=tally,
        on_progress=lambda: _emit_progress(state, runtime, "ingesting", tally),
    )
    try:
        await pipeline.run(_items(state, context))
    except asyncio.CancelledError:
        _emit_progress(state, runtime, "interrupted", tally)
        raise
    return {
        "documents": [],
        "added": tally.added,
        "unchanged": tally.unchanged,
        "removed": tally.removed,
        "failed": _failures(tally),
        "failed_count": tally.failed,
        "chunks": tally.chunks,
    }


async def remove_missing(state: IngestState, runtime: Runtime[Any]) -> dict[str, Any]:
    """Remove the documents below the given paths whose files are gone.

    A file that is there and could not be read keeps what it had.

    Raises:
        InvalidSetting: the given paths had nothing to read, and nothing to remove either.
    """
    context = context_of(state, None, IngestContext)
    tally = Tally()
    if context.prune:
        await _remove_gone(state, context, tally)
    done = [state["added"], state["unchanged"], state["failed_count"], tally.removed]
    if state["paths"] and not state["total_files"] and not any(done):
        raise load_files.nothing_there(state["paths"])
    return {"removed": state["removed"] + tally.removed}


async def _remove_gone(state: IngestState, context: IngestContext, tally: Tally) -> None:
    index = await open_index(context.index, tenant=context.tenant)
    wanted = in_part(context.part)
    for root in state["paths"]:
        gone = [id_ for id_ in await _gone_below(index, root) if wanted(id_)]
        await remove_documents(index, gone, tally)


async def optimize_index(state: IngestState, runtime: Runtime[Any]) -> dict[str, Any]:
    """Let the index build what makes searches fast, and drop what writing has left behind."""
    context = context_of(state, None, IngestContext)
    index = await open_index(context.index, tenant=context.tenant)
    await asyncio.to_thread(give_back)
    await index.optimize()
    return {"seconds": round(ledger_of(state).elapsed(), 3)}


def _given_paths(state: IngestState) -> list[str]:
    paths: Any = state.get("paths") or []
    if isinstance(paths, str) or not all(isinstance(path, str) for path in paths):
        raise InvalidSetting("`paths` is a list of files and folders.")
    return list(paths)


async def _ensure(index: Index, context: IngestContext) -> IndexSpec:
    """Make the index, or check that it fits; what it is made for."""
    fields = parse_fields(context.filter_fields)
    spec = await index.spec()
    if spec is None:
        embeddings = context.new_embeddings
        vectors = await embed_texts(["How many dimensions?"], embeddings=embeddings)
        spec = IndexSpec(len(vectors[0]), embeddings, fields)
    elif context.embeddings:
        spec.expect_embeddings(context.embeddings, index.name)
    await index.ensure(replace(spec, fields=fields or spec.fields))
    return spec


def _items(state: IngestState, context: IngestContext) -> Iterator[Loaded]:
    """Everything to ingest, read while it is asked for. Blocks."""
    settings = LoadSettings(
        records=RecordFields(
            context.text_field, context.id_field, context.title_field, context.url_field
        ),
        max_file_bytes=context.max_file_mb * 2**20,
        max_file_seconds=context.max_file_seconds,
        wanted=in_part(context.part),
    )
    documents: Iterable[Any] = state.get("documents") or ()
    yield from load(state["paths"], settings)
    yield from from_memory(documents)


def _emit_progress(
    state: IngestState, runtime: Runtime[Any], event_type: str, tally: Tally
) -> None:
    emit(
        state,
        runtime,
        event_type,
        document=tally.last,
        documents=tally.added + tally.unchanged + tally.failed,
        failed=tally.failed,
        chunks=tally.chunks,
        bytes=tally.bytes,
        total_bytes=state["total_bytes"],
    )


def _failures(tally: Tally) -> list[Failure]:
    failed = [Failure(path=failure.path, reason=failure.reason) for failure in tally.failures]
    if more := tally.failed - sum(failure.count for failure in tally.failures):
        failed.append(Failure(path="", reason=f"{more:,} more could not be read"))
    return failed


async def _gone_below(index: Index, root: str) -> list[str]:
    """Ids of documents at or below a path whose files are not there any more."""
    gone: list[str] = []
    for name in await asyncio.to_thread(load_files.names_of, root):
        page: list[tuple[str, str]] = []
        async for record in index.documents(None if name in (".", "/") else name):
            if record.path and load_files.is_below(record.path, name):
                page.append((record.id, record.path))
            if len(page) == PAGE:
                gone += await asyncio.to_thread(_without_file, page)
                page = []
        gone += await asyncio.to_thread(_without_file, page)
    return list(dict.fromkeys(gone))


def _without_file(documents: Sequence[tuple[str, str]]) -> list[str]:
    return [id_ for id_, path in documents if not load_files.exists(path)]
