"""State and context of local search over a knowledge graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

from pydantic import Field, model_validator

from ragweave.state.base import RagState
from ragweave.state.context import PickingContext, RagContext


@dataclass(frozen=True, slots=True)
class ContextLimits:
    """How much one context may hold. The names are GraphRAG's."""

    max_context_tokens: int = 12_000
    text_unit_prop: float = 0.5
    """Share of the tokens for text units."""
    community_prop: float = 0.15
    """Share for reports; entities, relationships and claims get what both leave."""
    top_k_relationships: int = 10
    """Relationships to entities that were not found, for each one that was."""
    community_level: int = 2
    """Finest level of communities whose reports are shown."""
    claims: bool = False
    """Show claims, where the graph has them."""
    top_k_entities: int = 10
    """Entities to start from; twice as many are searched, as some belong to no community."""


class LocalSearchState(RagState, total=False):
    """State of a local search. `sources` are records of the graph, `excerpts` parts of them."""


class GraphContext(RagContext):
    """Settings of every search over a knowledge graph."""

    community_level: int = Field(
        default=2,
        ge=0,
        le=20,
        description="Finest level of communities whose reports are used; 0 is the coarsest.",
    )
    context_mode: Literal["shared", "graphrag"] = Field(
        default="shared",
        description="shared: every table has a share of the tokens and hands on what it leaves "
        "over. graphrag: the records that GraphRAG 3.3.0 chooses.",
    )
    include_claims: bool = Field(
        default=False, description="Show claims about the entities, where the graph has them."
    )
    citation_style: Literal["numbers", "graphrag"] = Field(
        default="numbers",
        description="How the answer cites: [1], or [Data: Reports (2, 7)] as GraphRAG does.",
    )

    @property
    def limits(self) -> ContextLimits:
        """How much the context of one local search may hold."""
        return ContextLimits(community_level=self.community_level, claims=self.include_claims)


class LocalSearchContext(GraphContext, PickingContext):
    """Settings of local search. The names are those of GraphRAG's `LocalSearchConfig`."""

    max_context_tokens: int = Field(
        default=12_000, ge=0, le=1_000_000, description="Most tokens of all records shown."
    )
    text_unit_prop: float = Field(
        default=0.4, ge=0, le=1, description="Share of the tokens for text units."
    )
    community_prop: float = Field(
        default=0.2,
        ge=0,
        le=1,
        description="Share for community reports. Entities, relationships and claims get the rest.",
    )
    top_k_entities: int = Field(
        default=10, ge=1, le=100, description="Entities to start from; twice as many are searched."
    )
    top_k_relationships: int = Field(
        default=10,
        ge=0,
        le=100,
        description="Relationships to entities outside, for each entity found.",
    )

    @property
    def limits(self) -> ContextLimits:
        """How much the context may hold."""
        return ContextLimits(
            max_context_tokens=self.max_context_tokens,
            text_unit_prop=self.text_unit_prop,
            community_prop=self.community_prop,
            top_k_relationships=self.top_k_relationships,
            community_level=self.community_level,
            claims=self.include_claims,
            top_k_entities=self.top_k_entities,
        )

    @model_validator(mode="after")
    def _shares_fit(self) -> Self:
        check_shares(self.text_unit_prop, self.community_prop)
        return self


def check_shares(text_unit_prop: float, community_prop: float) -> None:
    """Raise ValueError if two shares of one budget are more than all of it."""
    if text_unit_prop + community_prop > 1:
        raise ValueError(
            f"The shares of text units ({text_unit_prop:g}) and reports ({community_prop:g}) "
            "together must be at most 1."
        )
