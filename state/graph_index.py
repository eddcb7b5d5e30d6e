"""State and context of building a knowledge graph. No document's text is part of the state."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from ragweave.state.base import Shared
from ragweave.state.context import RagContext, prompt_field
from ragweave.state.records import Usage
from ragweave.state.reducers import add_usage, append_unique


class GraphIndexInput(TypedDict, total=False):
    """Files and folders to index, and documents to delete."""

    paths: list[str]
    delete: list[str]
    """Ids or paths of documents to take out of the graph."""


class GraphIndexOutput(TypedDict):
    """What a build did, or, of a dry run, would do."""

    added: int
    """Documents that are new or have changed."""
    unchanged: int
    removed: int
    failed: list[dict[str, str]]
    """`path` and `reason` of what could not be read."""
    failed_count: int
    """How many could not be read, each broken line of a JSON Lines file counted."""
    text_units: int
    entities: int
    relationships: int
    communities: int
    reports: int
    embedded: int
    """Entities and reports that were embedded."""
    expected_calls: int
    """Model calls that were to be made: extractions counted, summaries and reports estimated."""
    expected_tokens: int
    """Tokens of their prompts."""
    expected_answer_tokens: int
    """Tokens of their answers, estimated."""
    expected_stages: dict[str, int]
    """Calls by stage: `extract`, `summarize`, `report`."""
    usage: Annotated[Usage, add_usage]
    warnings: Annotated[list[str], append_unique]


class GraphIndexState(GraphIndexInput, Shared, total=False):
    """State of a build."""

    documents: list[str]
    """Ids of all documents that the graph is to hold."""
    units: list[str]
    """Ids of all their text units, in order."""
    added: int
    unchanged: int
    removed: int
    failed: list[dict[str, str]]
    failed_count: int
    text_units: int
    entities: int
    relationships: int
    communities: int
    reports: int
    embedded: int
    expected_calls: int
    expected_tokens: int
    expected_answer_tokens: int
    expected_stages: dict[str, int]
    hashes: dict[str, str]
    """By document id, the fingerprint that makes it complete."""
    to_extract: list[str]
    """Ids of text units of which nothing was extracted yet."""
    to_summarize: list[dict[str, str]]
    """`title` and `text` of descriptions that have become too long."""
    to_report: list[str]
    """What is known of each community of this level without a report."""
    level: int
    """Place of the level in `by_level` whose reports come next; -1 when all are there."""
    warnings: Annotated[list[str], append_unique]


class GraphIndexContext(RagContext):
    """Settings of building a knowledge graph."""

    extract: Literal["auto", "model", "offline"] = Field(
        default="auto",
        description="model: ask one for each text unit. offline: the terms of the corpus, with no "
        "call. auto: offline if the model is.",
    )
    unit_tokens: int = Field(default=1_200, ge=64, le=100_000, description="Tokens of a text unit.")
    unit_overlap: int = Field(
        default=100, ge=0, le=10_000, description="Tokens that a unit repeats of the one before."
    )
    entity_types: list[str] = Field(
        default_factory=lambda: ["person", "organization", "place", "event", "work", "concept"],
        max_length=100,
        description="Kinds of entities to extract.",
    )
    gleanings: int = Field(
        default=0, ge=0, le=5, description="Times a model is asked what it has missed in a unit."
    )
    extract_claims: bool = Field(default=False, description="Extract claims about entities too.")
    max_description_tokens: int = Field(
        default=500, ge=16, le=100_000, description="Longest description that is not summarised."
    )
    max_report_tokens: int = Field(
        default=8_000, ge=256, le=1_000_000, description="Most tokens shown to write a report."
    )
    max_cluster_size: int = Field(
        default=10, ge=2, le=10_000, description="Entities in a community that is not split."
    )
    dry_run: bool = Field(default=False, description="Count what would be asked, and ask nothing.")
    max_model_calls: int = Field(
        default=100_000, ge=0, le=10_000_000, description="Most model calls a build may make."
    )
    max_tokens: int = Field(
        default=1_000_000_000,
        ge=0,
        le=100_000_000_000,
        description="Most tokens, in and out, a build may use.",
    )
    deadline_seconds: float = Field(
        default=86_400,
        gt=0,
        le=2_592_000,
        description="Seconds after which nothing more is asked.",
    )
    extract_prompt: str = prompt_field("extract", "extract_unit")
    summarize_prompt: str = prompt_field("summarize", "summarize_description")
    report_prompt: str = prompt_field("report", "write_report")

    @property
    def offline(self) -> bool:
        """Whether no model is asked."""
        model = self.hidden_model
        return self.extract == "offline" or (self.extract == "auto" and model == "offline")
