"""Retrieving units, documents that are read together, by their best chunks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langgraph.runtime import Runtime

from ragweave.indexing.unit_text import Part, whole_document
from ragweave.nodes.events import emit
from ragweave.nodes.retrieve import no_index_yet, query_vector, searchable_index
from ragweave.nodes.sources import numbered, source_of, traced_documents
from ragweave.nodes.tracing import traced_search
from ragweave.state.base import RagState
from ragweave.state.context import context_of
from ragweave.state.longrag import LongRagContext
from ragweave.state.records import Source
from ragweave.stores.base import Hit, Index, Parent, SearchSpec

NO_UNITS = (
    "Some of what was found belongs to no retrieval unit; whole documents were read instead. "
    "`ragweave ingest --units` groups documents into units."
)


async def retrieve_units(state: RagState, runtime: Runtime[Any]) -> dict[str, Any]:
    """Retrieve the units with the best chunks; their parts, in document order, are `sources`.

    A chunk that belongs to no unit stands for its document; what a LangChain retriever found is a
    document already.
    """
    context = context_of(state, runtime.context, LongRagContext)
    index, spec = await searchable_index(context)
    if spec is None:
        return {"documents": [], "sources": [], "warnings": [no_index_yet(context)]}
    query = state["search_question"]
    hits = await search_units(query, index=index, embeddings=spec.embeddings, context=context)
    emit(state, runtime, "retrieved", query=query, ids=[hit.chunk.id for hit in hits])
    units = await _parents(index, hits)
    loose = [hit for hit in hits if hit.chunk.parent_id not in units and hit.kind != "retriever"]
    whole = await _whole_documents(index, loose)
    sources = [
        source
        for hit in hits
        for source in _parts(hit, units.get(hit.chunk.parent_id or ""), whole)
    ]
    return {
        "documents": [source_of(hit) for hit in hits],
        "sources": numbered(sources),
        "warnings": [NO_UNITS] if loose else [],
    }


@traced_search("search_units", documents=lambda hits: traced_documents(map(source_of, hits or ())))
async def search_units(
    query: str, *, index: Index, embeddings: str, context: LongRagContext
) -> list[Hit]:
    """The best chunk of each of the `top_k` units, best first."""
    return await index.search(
        SearchSpec(
            text=query,
            vector=await query_vector(query, embeddings, context),
            mode=context.search_mode,
            k=context.top_k,
            alpha=context.alpha,
            filters=context.filters,
            group_by_parent=True,
        )
    )


async def _parents(index: Index, hits: Sequence[Hit]) -> dict[str, Parent]:
    ids = dict.fromkeys(hit.chunk.parent_id for hit in hits if hit.chunk.parent_id)
    return {parent.id: parent for parent in await index.parents(list(ids))} if ids else {}


async def _whole_documents(index: Index, hits: Iterable[Hit]) -> dict[str, Part]:
    ids = list(dict.fromkeys(hit.chunk.document_id for hit in hits))
    if not ids:
        return {}
    chunks: dict[str, list[Any]] = {}
    async for chunk in index.chunks_of(ids):
        chunks.setdefault(chunk.document_id, []).append(chunk)
    return {id: whole_document(own) for id, own in chunks.items()}


def _parts(hit: Hit, unit: Parent | None, whole: Mapping[str, Part]) -> list[Source]:
    if unit is not None:
        return [_source(hit, _part(unit, record), unit.id) for record in unit.parts]
    if part := whole.get(hit.chunk.document_id):
        return [_source(hit, part, None)]
    return [source_of(hit)]


def _part(unit: Parent, record: Mapping[str, Any]) -> Part:
    return Part(
        document_id=record["document_id"],
        text=unit.text[record["start"] : record["end"]],
        title=record.get("title"),
        url=record.get("url"),
        path=record.get("path"),
        page=record.get("page"),
        document_start=record.get("document_start"),
    )


def _source(hit: Hit, part: Part, unit_id: str | None) -> Source:
    start = part.document_start
    return Source(
        number=0,
        id=part.id,
        document_id=part.document_id,
        text=part.text,
        title=part.title,
        url=part.url,
        path=part.path,
        page=part.page,
        start=start,
        end=None if start is None else start + len(part.text),
        score=hit.score,
        score_kind=hit.kind,
        metadata={"unit_id": unit_id},
    )
