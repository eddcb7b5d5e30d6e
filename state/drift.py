"""State and context of DRIFT search."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, Self

from langgraph.channels import UntrackedValue
from pydantic import Field, model_validator
from typing_extensions import TypedDict

from ragweave.state.base import Output, RagState, Shared
from ragweave.state.context import prompt_field
from ragweave.state.local_search import ContextLimits, GraphContext, check_shares
from ragweave.state.records import Source, Usage
from ragweave.state.reducers import Appended, Replaced

ActionStatus = Literal["waiting", "pending", "answered", "failed", "dropped"]


class Action(TypedDict):
    """One question of the tree, with its answer. The root is the user's question."""

    id: str
    """The place in the tree: `0` is the root, `0.2` its third follow-up, and so on."""
    parent_id: str | None
    depth: int
    query: str
    answer: str | None
    """Cites as `[1]` the first of `source_ids`."""
    score: float | None
    """How well it answers the user's question, from 0 to 100; null if the model did not say."""
    status: ActionStatus
    """`waiting`: was suggested. `pending`: is searched for. `dropped`: is not worth searching."""
    reason: str
    """Why it was dropped, put off, or failed."""
    follow_ups: list[str]
    """What its answer suggests to ask next."""
    source_ids: list[str]
    """Records that the answering call saw, in its numbering."""
    usage: Usage | None


class Fold(TypedDict):
    """What one primer call made of its share of the reports."""

    number: int
    answer: str | None
    score: float | None
    follow_ups: list[str]
    source_ids: list[str]
    reason: str
    """Why there is no answer."""


class Edge(TypedDict):
    """One follow-up: from the action that suggested it to its own."""

    source: str
    target: str


class Tree(TypedDict):
    """The tree of actions as nodes and edges."""

    nodes: list[Action]
    edges: list[Edge]


class DriftState(RagState, total=False):
    """State of a DRIFT run."""

    hypothesis: str
    """A made-up answer in the form of a report, to find the reports that are like it."""
    reports: Annotated[list[str], Replaced]
    """Ids of the reports to begin with, nearest first."""
    folds: Annotated[list[Fold], Appended]
    actions: Annotated[list[Action], Appended]
    """Every change of every action; the last one with an id holds. See `nodes/drift/tree.py`."""
    tree: Tree
    refused: bool | None
    """Whether a person refused the calls that the run might have made."""


class DriftOutput(Output):
    """The output of every technique; without a final answer, the tree of actions."""

    tree: NotRequired[Tree]


class FoldTask(Shared):
    """What one primer call is given."""

    question: str
    search_question: str
    number: int
    reports: list[str]


class LocalTask(TypedDict):
    """What one local search is given."""

    settings: dict[str, Any]
    usage: Usage
    """What the run had spent when the search was sent off."""
    question: str
    search_question: str
    action: Action


class LocalResult(TypedDict):
    """What one local search gives back."""

    actions: list[Action]
    usage: Usage
    """What the search itself spent."""
    warnings: list[str]


class LocalState(LocalTask, total=False):
    """State of one local search. No channel adds up: it hands on what it did, and nothing else."""

    actions: list[Action]
    warnings: list[str]
    sources: Annotated[list[Source], UntrackedValue]
    """Not kept in checkpoints, since they are many and can be found again."""
    excerpts: Annotated[dict[str, str], UntrackedValue]


class DriftContext(GraphContext):
    """Settings of DRIFT search. Names are those of GraphRAG's `DRIFTSearchConfig` where they mean
    the same.
    """

    hyde: Literal["nearest", "random", "off"] = Field(
        default="nearest",
        description="Report that shows the hypothetical answer its form: the one nearest to the "
        "question, or a random one, as GraphRAG has it; off searches with the question itself.",
    )
    k_reports: int = Field(default=9, ge=1, le=500, description="Reports to begin with.")
    primer_folds: int = Field(
        default=3, ge=1, le=50, description="Calls among which those reports are divided."
    )
    n_depth: int = Field(default=2, ge=0, le=10, description="Levels of follow-up questions.")
    drift_k_followups: int = Field(
        default=8, ge=1, le=200, description="Follow-ups searched on each level."
    )
    k_followups: int = Field(
        default=5, ge=0, le=50, description="Follow-ups that each local search may suggest."
    )
    similar_above: float = Field(
        default=0.95,
        ge=0,
        le=1,
        description="Drop a follow-up whose embedding is at least this close (cosine) to that of "
        "one asked before; 1 drops only what is the same up to case, spaces and punctuation.",
    )
    stop_when_flat: bool = Field(
        default=True, description="Stop when a level scores no higher than those before it."
    )
    response_type: str = Field(
        default="multiple paragraphs",
        max_length=200,
        description="Length and form of the answer, in words.",
    )
    reduce: bool = Field(
        default=True, description="Write a final answer; else end with the tree of actions."
    )
    allow_general_knowledge: bool = Field(
        default=False,
        description="Let answers add what the model knows by itself, marked as such.",
    )
    local_search_max_data_tokens: int = Field(
        default=5_000, ge=0, le=1_000_000, description="Most tokens of records in a local search."
    )
    local_search_text_unit_prop: float = Field(
        default=0.4, ge=0, le=1, description="Share of those for text units."
    )
    local_search_community_prop: float = Field(
        default=0.2,
        ge=0,
        le=1,
        description="Share for community reports. Entities, relationships and claims get the rest.",
    )
    local_search_top_k_mapped_entities: int = Field(
        default=10, ge=1, le=100, description="Entities to start from; twice as many are searched."
    )
    local_search_top_k_relationships: int = Field(
        default=10,
        ge=0,
        le=100,
        description="Relationships to entities outside, for each entity found.",
    )
    primer_max_tokens: int = Field(
        default=6_000, ge=0, le=1_000_000, description="Most tokens of reports in a primer call."
    )
    data_max_tokens: int = Field(
        default=12_000,
        ge=0,
        le=1_000_000,
        description="Most tokens of partial answers and sources in the final call.",
    )
    seed: int = Field(
        default=0, ge=0, le=2**31 - 1, description="Of the random report, with hyde random."
    )
    approve_above_calls: int | None = Field(
        default=None,
        ge=0,
        le=10_000,
        description="Ask a person first if the run may make more model calls than this; never if "
        "empty.",
    )
    hyde_prompt: str = prompt_field("hypothesize", "write_hypothesis")
    primer_prompt: str = prompt_field("prime", "prime_reports")
    local_prompt: str = prompt_field("local", "answer_follow_up")
    reduce_prompt: str = prompt_field("reduce", "reduce_answers")

    @property
    def limits(self) -> ContextLimits:
        """How much the context of each local search may hold."""
        return ContextLimits(
            max_context_tokens=self.local_search_max_data_tokens,
            text_unit_prop=self.local_search_text_unit_prop,
            community_prop=self.local_search_community_prop,
            top_k_relationships=self.local_search_top_k_relationships,
            community_level=self.community_level,
            claims=self.include_claims,
            top_k_entities=self.local_search_top_k_mapped_entities,
        )

    @model_validator(mode="after")
    def _shares_fit(self) -> Self:
        check_shares(self.local_search_text_unit_prop, self.local_search_community_prop)
        return self
