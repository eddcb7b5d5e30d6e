"""Fusing what the queries found, and keeping which of them found what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from ragweave.nodes.events import decided, emit
from ragweave.nodes.fuse import (
    Fused,
    Ranking,
    dist_based_score,
    relative_score,
    round_robin,
    rrf,
)
from ragweave.nodes.sources import numbered
from ragweave.state.context import context_of
from ragweave.state.rag_fusion import (
    Expansion,
    Finding,
    FusionMethod,
    RagFusionContext,
    RagFusionState,
    ResultList,
)
from ragweave.state.records import Source

DEFAULT_METHODS: dict[Expansion, FusionMethod] = {
    "paraphrase": "rrf",
    "decompose": "round_robin",
}
"""`rrf` rewards what many lists agree on, which is right for paraphrases and wrong for
sub-questions, whose passages each stand high in one list only."""


async def fuse_results(state: RagFusionState, runtime: Runtime[RagFusionContext]) -> dict[str, Any]:
    """Fuse the lists into `documents`, number the best ones as `sources`, and empty the lists."""
    context = context_of(state, runtime.context, RagFusionContext)
    results = state["results"]
    method, reason = _method(state["expansion"], context)
    fused = fuse_lists(results, method, context)
    kept = fused[: max(context.top_k, context.rerank_candidates if context.reranker else 0)]
    documents = _documents(kept, results, method)
    emit(state, runtime, "fused", method=method, ids=[source["id"] for source in documents])
    return {
        "fusion": method,
        "documents": documents,
        "sources": numbered(documents[: context.top_k]),
        "found_by": {item.id: _findings(item, results) for item in fused},
        "results": Overwrite([]),
        "decisions": decided("fuse_results", method, reason),
    }


def fuse_lists(
    results: Sequence[ResultList], method: FusionMethod, context: RagFusionContext
) -> list[Fused]:
    """The lists fused by one method, with the context's constant and weights."""
    rankings: list[Ranking] = [
        [(source["id"], source["score"]) for source in result["sources"]] for result in results
    ]
    given = context.weights[: len(rankings)]
    weights = [*given, *[1.0] * (len(rankings) - len(given))]
    if method == "round_robin":
        return round_robin(rankings)
    if method == "rrf":
        return rrf(rankings, weights=weights, constant=context.rrf_constant)
    by_score = relative_score if method == "relative_score" else dist_based_score
    return by_score(rankings, weights=weights)


def _method(kind: Expansion, context: RagFusionContext) -> tuple[FusionMethod, str]:
    if context.fusion != "auto":
        return context.fusion, "Named in the context."
    return DEFAULT_METHODS[kind], f"The default for queries of the kind {kind}."


def _documents(
    fused: Sequence[Fused], results: Sequence[ResultList], method: FusionMethod
) -> list[Source]:
    """The fused sources, each as its best list has it, with the metadata of all lists."""
    by_list = [{source["id"]: source for source in result["sources"]} for result in results]
    documents = []
    for item in fused:
        places = sorted(item.found, key=lambda place: place.rank)
        copies = [by_list[place.list_index][item.id] for place in places]
        metadata = {
            key: value for copy in reversed(copies) for key, value in copy["metadata"].items()
        }
        documents.append(
            Source({**copies[0], "score": item.score, "score_kind": method, "metadata": metadata})
        )
    return documents


def _findings(item: Fused, results: Sequence[ResultList]) -> list[Finding]:
    return [
        Finding(
            query=results[place.list_index]["query"],
            leg=results[place.list_index]["leg"],
            rank=place.rank,
            score=place.score,
        )
        for place in item.found
    ]
