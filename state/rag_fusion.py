"""State and context of RAG-Fusion."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from ragweave.state.base import RagState, Shared
from ragweave.state.context import MAX_NAME, PickingContext, prompt_field
from ragweave.state.records import Source
from ragweave.state.reducers import Appended, Replaced

Expansion = Literal["paraphrase", "decompose"]
FusionMethod = Literal["rrf", "relative_score", "dist_based_score", "round_robin"]
Leg = Literal["hybrid", "vector", "keyword"]


class ResultList(TypedDict):
    """What one leg of the search found for one query, best first."""

    query: str
    leg: Leg
    sources: list[Source]


class Finding(TypedDict):
    """One list that a source was found in."""

    query: str
    leg: Leg
    rank: int
    """From 1."""
    score: float | None


class RagFusionState(RagState, total=False):
    """State of a RAG-Fusion run."""

    expansion: Expansion
    search_queries: list[str]
    """What is searched for, the original question first if it is one of them."""
    results: Annotated[list[ResultList], Appended]
    """One list for each query and leg, until they are fused."""
    fusion: FusionMethod
    found_by: dict[str, list[Finding]]
    """By source id, which query found it at which rank, for every source that was found."""
    documents: Annotated[list[Source], Replaced]
    """Fused, best first."""


class QueryTask(Shared):
    """What one parallel search is given."""

    query: str
    vector: list[float] | None


class RagFusionContext(PickingContext):
    """Settings of RAG-Fusion."""

    expansion: Literal["auto", "paraphrase", "decompose"] = Field(
        default="auto",
        description="paraphrase: other angles on the same question. decompose: the sub-questions "
        "of a many-sided one. auto: as the model chooses.",
    )
    query_count: int = Field(default=3, ge=0, le=10, description="Most queries to generate.")
    include_original: bool = Field(
        default=True, description="Search for the question itself too, not the generated ones only."
    )
    list_size: int = Field(
        default=20, ge=1, le=200, description="How many chunks each query retrieves for fusion."
    )
    legs: Literal["together", "separate"] = Field(
        default="together",
        description="together: each query gives one list, by the index's own hybrid search. "
        "separate: its vector and its keyword list enter the fusion apart.",
    )
    fusion: Literal["auto", "rrf", "relative_score", "dist_based_score", "round_robin"] = Field(
        default="auto",
        description="How the lists become one. auto: rrf for paraphrases, round_robin for "
        "sub-questions.",
    )
    rrf_constant: int = Field(
        default=60, ge=1, le=1_000, description="Constant of rrf; smaller favours the first ranks."
    )
    weights: list[Annotated[float, Field(ge=0, le=100)]] = Field(
        default=[],
        max_length=50,
        description="Weight of each list, in the order of the queries; 1 where none is given. "
        "round_robin has none.",
    )
    reranker: str | None = Field(
        default=None,
        max_length=MAX_NAME,
        description="Name of a registered reranker; none if empty.",
    )
    rerank_candidates: int = Field(
        default=20, ge=1, le=200, description="How many fused chunks the reranker is given."
    )
    expand_prompt: str = prompt_field("expand", "expand_question")
