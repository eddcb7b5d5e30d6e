"""CRAG's knowledge refinement: of the documents kept, show the model only the best strips."""

from __future__ import annotations

from math import sqrt
from operator import mul
from typing import Any

from langgraph.runtime import Runtime

from ragweave.models.embedding import embed_texts
from ragweave.nodes.action import usable_documents, usable_web_results
from ragweave.nodes.events import failed
from ragweave.nodes.sources import numbered
from ragweave.state.context import context_of
from ragweave.state.crag import CragContext, CragState
from ragweave.state.errors import ModelUnavailable
from ragweave.state.records import Source
from ragweave.state.text import Span, strips

GAP = " … "
"""Between strips that do not follow each other."""


async def refine_documents(state: CragState, runtime: Runtime[CragContext]) -> dict[str, Any]:
    """Number the documents and web results to answer from, cut down to their best strips.

    A strip is a few sentences; it is scored by its embedding's cosine to the question's, without a
    model call. The best ones stay in reading order; a source of which none stays is left out. If
    the embeddings cannot be reached, whole documents are shown.
    """
    context = context_of(state, runtime.context, CragContext)
    usable = numbered([*usable_documents(state), *usable_web_results(state)])
    cut = [
        (source, span)
        for source in usable
        for span in strips(source["text"], context.strip_sentences)
    ]
    if not context.refine or len(cut) <= context.top_strips:
        return {"sources": usable, "excerpts": {}}
    texts = [source["text"][start:end] for source, (start, end) in cut]
    try:
        question, *vectors = await embed_texts(
            [state["search_question"], *texts], embeddings=context.new_embeddings
        )
    except ModelUnavailable as failure:
        return {"sources": usable, "excerpts": {}, **failed(state, runtime, failure)}
    scores = [_cosine(question, vector) for vector in vectors]
    best = sorted(range(len(cut)), key=scores.__getitem__, reverse=True)[: context.top_strips]
    return _excerpted([cut[position] for position in sorted(best)])


def _cosine(left: list[float], right: list[float]) -> float:
    return _dot(left, right) / (sqrt(_dot(left, left) * _dot(right, right)) or 1.0)


def _dot(left: list[float], right: list[float]) -> float:
    total: float = sum(map(mul, left, right))
    return total


def _excerpted(kept: list[tuple[Source, Span]]) -> dict[str, Any]:
    spans: dict[str, list[Span]] = {}
    for source, span in kept:
        spans.setdefault(source["id"], []).append(span)
    return {
        "sources": numbered([source for source, _ in kept]),
        "excerpts": {
            source["id"]: _joined(source["text"], spans[source["id"]]) for source, _ in kept
        },
    }


def _joined(text: str, spans: list[Span]) -> str:
    """The spans' text, with a gap marked where something between two of them was left out."""
    pieces, end = [], None
    for start, stop in spans:
        if end is not None:
            pieces.append(GAP if text[end:start].strip() else text[end:start])
        pieces.append(text[start:stop])
        end = stop
    return "".join(pieces)
