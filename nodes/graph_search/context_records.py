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
