"""Reranking by any LangChain document compressor that was registered under a name."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from langchain_core.documents import BaseDocumentCompressor, Document
from langgraph.runtime import Runtime

from ragweave.models.budget import ledger_of
from ragweave.nodes.events import decided, emit
from ragweave.nodes.sources import numbered
from ragweave.state.context import context_of
from ragweave.state.errors import InvalidSetting
from ragweave.state.rag_fusion import RagFusionContext, RagFusionState
from ragweave.state.records import Source

RERANK_SECONDS = 60.0
"""Longest wait for a reranker."""
_ID = "source_id"  # in the metadata: many compressors make new documents without the old ids

_rerankers: dict[str, BaseDocumentCompressor] = {}


def register_reranker(name: str, reranker: BaseDocumentCompressor) -> None:
    """Let `reranker=name` in a context mean this compressor; an earlier one is replaced."""
    _rerankers[name] = reranker


async def rerank_documents(
    state: RagFusionState, runtime: Runtime[RagFusionContext]
) -> dict[str, Any]:
    """Order the fused documents anew by the registered reranker and number the best ones.

    A reranker may leave documents out and shorten their texts. If it fails, or leaves none, the
    fused order stays.

    Raises:
        InvalidSetting: no reranker was registered under that name.
    """
    context = context_of(state, runtime.context, RagFusionContext)
    reranker = _reranker(context.reranker or "")
    fused = state["documents"]
    try:
        async with asyncio.timeout(min(RERANK_SECONDS, ledger_of(state).remaining(context))):
            ranked = await reranker.acompress_documents(
                [_as_document(source) for source in fused], state["search_question"]
            )
    except Exception as error:  # whatever somebody's reranker raises, there is an order already
        return {"warnings": [f"The reranker {context.reranker} failed: {error or type(error)}"]}
    documents, excerpts = _reranked(fused, ranked)
    if not documents:
        return {"warnings": [f"The reranker {context.reranker} left no document."]}
    emit(state, runtime, "fused", method=context.reranker, ids=[d["id"] for d in documents])
    reason = f"{len(documents)} of {len(fused)} documents kept."
    return {
        "documents": documents,
        "sources": numbered(documents[: context.top_k]),
        "excerpts": excerpts,
        "decisions": decided("rerank_documents", str(context.reranker), reason),
    }


def _reranker(name: str) -> BaseDocumentCompressor:
    if name not in _rerankers:
        known = ", ".join(sorted(_rerankers)) or "none"
        raise InvalidSetting(
            f'There is no reranker "{name}". Registered: {known}. '
            "Register one with ragweave.nodes.rerank.register_reranker."
        )
    return _rerankers[name]


def _as_document(source: Source) -> Document:
    metadata = {**source["metadata"], _ID: source["id"], "title": source["title"]}
    return Document(source["text"], id=source["id"], metadata=metadata)


def _reranked(
    fused: Sequence[Source], ranked: Sequence[Document]
) -> tuple[list[Source], dict[str, str]]:
    """The sources in the reranker's order, and what it left of those that it shortened."""
    by_id = {source["id"]: source for source in fused}
    kept: dict[str, Source] = {}
    excerpts = {}
    for document in ranked:
        source = by_id.get(str(document.metadata.get(_ID, document.id)))
        if source is None or source["id"] in kept:
            continue
        score = document.metadata.get("relevance_score")
        scored = {"score": float(score), "score_kind": "reranker"} if score is not None else {}
        kept[source["id"]] = Source({**source, **scored})  # type: ignore[typeddict-item]
        if document.page_content != source["text"]:
            excerpts[source["id"]] = document.page_content
    return list(kept.values()), excerpts
