"""A local search's context in which every table has its share, and unused tokens move on.

The records and their order are GraphRAG's (`nodes/context_candidates.py`). What differs: the share
of entities and relationships is never zero, a table that cannot fill its share hands the rest on,
and records too long for their share are shown up to the end of a sentence instead of not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ragweave.models.prompt import Section
from ragweave.nodes.context_candidates import (
    claims_about,
    ranked_relationships,
    ranked_reports,
    ranked_units,
)
from ragweave.nodes.context_records import (
    CONTEXT_TABLES,
    ContextTable,
    CountTokens,
    LocalContext,
    Record,
)
from ragweave.nodes.excerpt import excerpt
from ragweave.nodes.graph_sources import text_of, title_of
from ragweave.state.local_search import ContextLimits
from ragweave.stores.graph import Entity, GraphTables

WANTED: Mapping[ContextTable, int] = {
    "reports": 1,
    "entities": 10,
    "relationships": 10,
    "claims": 5,
    "sources": 1,
}
"""Records that a table shows before any of them is shown in full."""
FRAME_TOKENS = 16
"""What the prompt puts around all sources."""
WIDEST = 999
"""Numbers are given later; each source is counted as if it had this one."""
_CHARACTERS_PER_TOKEN = 8
"""More than texts have on average: to leave out early what can hardly fit."""
_COUNTED_TOGETHER = 16
"""Rows whose tokens are counted in one batch."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """One record as the prompt shows it."""

    record: Record
    title: str | None
    text: str
    """All that the record says, or an excerpt of it."""

    def render(self, number: int = WIDEST) -> str:
        """The record as `sources_section` renders its source."""
        attributes = {"number": str(number)}
        if self.title:
            attributes["title"] = self.title
        return Section("source", self.text, attributes).render() + "\n"


def shared_context(
    graph: GraphTables, entities: Sequence[Entity], limits: ContextLimits, count: CountTokens
) -> LocalContext:
    """The context for `entities` (see `mapped_entities`), with a share for every table."""
    room = max(limits.max_context_tokens - FRAME_TOKENS, 0)
    candidates = _candidates(graph, entities, limits)
    shares = _shares(limits, with_claims=bool(candidates["claims"]))
    shown: dict[ContextTable, list[_Shown]] = {}
    costs: dict[ContextTable, int] = {}
    left = 0
    for name in CONTEXT_TABLES:
        budget = int(room * shares[name]) + left
        rows = _reachable(graph, candidates[name], room)
        shown[name], costs[name] = _filled(rows, budget, WANTED[name], count)
        left = budget - costs[name]
    for name in CONTEXT_TABLES:
        rows = [_row(graph, row.record) for row in shown[name]]
        rows += _reachable(graph, candidates[name][len(rows) :], left)
        budget = costs[name] + left
        shown[name], costs[name] = _lengthened(shown[name], rows, budget, count)
        left = budget - costs[name]
    return _context(shown, costs)


def _candidates(
    graph: GraphTables, entities: Sequence[Entity], limits: ContextLimits
) -> dict[ContextTable, Sequence[Record]]:
    return {
        "reports": ranked_reports(graph, entities, limits.community_level),
        "entities": entities,
        "relationships": ranked_relationships(graph, entities, limits.top_k_relationships, {}),
        "claims": claims_about(graph, entities) if limits.claims else [],
        "sources": ranked_units(graph, entities),
    }


def _shares(limits: ContextLimits, *, with_claims: bool) -> dict[ContextTable, float]:
    local = max(1 - limits.community_prop - limits.text_unit_prop, 0.0)
    claims = local / 5 if with_claims else 0.0
    return {
        "reports": limits.community_prop,
        "entities": (local - claims) / 2,
        "relationships": (local - claims) / 2,
        "claims": claims,
        "sources": limits.text_unit_prop,
    }


def _reachable(graph: GraphTables, records: Sequence[Record], budget: int) -> list[_Shown]:
    """The first records, until a budget of tokens is surely spent."""
    rows: list[_Shown] = []
    characters = 0
    for record in records:
        if characters > budget * _CHARACTERS_PER_TOKEN:
            break
        rows.append(_row(graph, record))
        characters += len(rows[-1].text)
    return rows


def _row(graph: GraphTables, record: Record) -> _Shown:
    return _Shown(record, title_of(graph, record), text_of(record))


def _filled(
    rows: Sequence[_Shown], budget: int, wanted: int, count: CountTokens
) -> tuple[list[_Shown], int]:
    """As many rows as fit, in full if that shows the number wanted, else the long ones cut."""
    kept, cost = _fitting(rows, budget, count)
    aim = min(wanted, len(rows))
    if len(kept) >= aim:
        return kept, cost
    cut = [_shortened(row, budget // aim, count) for row in rows[:aim]]
    return _fitting([*cut, *rows[aim:]], budget, count)


def _fitting(rows: Sequence[_Shown], budget: int, count: CountTokens) -> tuple[list[_Shown], int]:
    """The first rows that fit into a budget of tokens, and what they take."""
    used = 0
    for first in range(0, len(rows), _COUNTED_TOGETHER):
        batch = rows[first : first + _COUNTED_TOGETHER]
        for place, cost in enumerate(count([row.render() for row in batch]), first):
            if used + cost > budget:
                return list(rows[:place]), used
            used += cost
    return list(rows), used


def _lengthened(
    shown: Sequence[_Shown], rows: Sequence[_Shown], budget: int, count: CountTokens
) -> tuple[list[_Shown], int]:
    """What `shown` becomes with a larger budget: cut records grow, then more of `rows` come."""
    costs = count([row.render() for row in shown])
    left = budget - sum(costs)
    grown = []
    for row, whole, cost in zip(shown, rows, costs, strict=False):
        longer = _shortened(whole, cost + left, count) if row != whole else row
        left -= count([longer.render()])[0] - cost
        grown.append(longer)
    more, _ = _fitting(rows[len(grown) :], left, count)
    return _fitting([*grown, *more], budget, count)


def _shortened(row: _Shown, limit: int, count: CountTokens) -> _Shown:
    """The row with its text cut so that all of it fits into `limit` tokens."""
    whole, frame = count([row.render(), replace(row, text="").render()])
    if whole <= limit:
        return row
    return replace(row, text=excerpt(row.text, limit - frame, count))


def _context(
    shown: Mapping[ContextTable, Sequence[_Shown]], costs: Mapping[ContextTable, int]
) -> LocalContext:
    rows = [row for name in CONTEXT_TABLES for row in shown[name]]
    return LocalContext(
        records={name: [row.record for row in shown[name]] for name in CONTEXT_TABLES},
        text="".join(row.render(number) for number, row in enumerate(rows, 1)),
        tokens={name: costs[name] for name in CONTEXT_TABLES if shown[name]},
        excerpts={row.record.id: row.text for row in rows if row.text != text_of(row.record)},
    )
