"""What a local search's context is made of, and how much of it there may be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ragweave.stores.graph import Claim, Entity, Relationship, Report, TextUnit

ContextTable = Literal["reports", "entities", "relationships", "claims", "sources"]
CONTEXT_TABLES: tuple[ContextTable, ...] = (
    "reports",
    "entities",
    "relationships",
    "claims",
    "sources",
)
"""In the order of the prompt; `sources` are text units."""

Record = Report | Entity | Relationship | Claim | TextUnit
CountTokens = Callable[[Sequence[str]], list[int]]
"""Tokens of each text, by whatever tokenizer the budget is meant for."""


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


@dataclass(frozen=True, slots=True)
class LocalContext:
    """What one local search shows the model."""

    records: Mapping[ContextTable, Sequence[Record]]
    """By table, in order."""
    text: str
    tokens: Mapping[ContextTable, int]
    """Tokens of each table as it stands in `text`; only tables that are shown."""
    excerpts: Mapping[str, str] = field(default_factory=dict)
    """By record id, the part of its text that is shown, where that is not all of it."""

    def numbers(self, table: ContextTable) -> list[str]:
        """Numbers of the records of one table, in order, as GraphRAG shows them."""
        return [str(number_of(record)) for record in self.records.get(table, ())]


def number_of(record: Record) -> int:
    """The number that a record goes by: `human_readable_id`, for a report its community's."""
    return record.community if isinstance(record, Report) else record.number
