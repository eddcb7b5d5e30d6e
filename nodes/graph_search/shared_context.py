"""A local search's context in which every table has its share, and unused tokens move on.

The records and their order are GraphRAG's (`candidates.py`). What differs: the share
of entities and relationships is never zero, a table that cannot fill its share hands the rest on,
and records too long for their share are shown up to the end of a sentence instead of not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragweave.nodes.graph_search.candidates import (
    claims_about,
    ranked_relationships,
    ranked_reports,
    ranked_units,
)
from ragweave.nodes.graph_search.context_records import (
    CONTEXT_TABLES,
    ContextTable,
    LocalContext,
    Record,
)
from ragweave.nodes.graph_search.row_sizes import Row, RowSizes
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
LEAST_LOCAL = 0.2
"""Share that entities, relationships and claims keep, whatever text units and reports are given."""
_LOOKED_AT = 16
"""Records that are measured together, until no more fit."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """One row as the prompt shows it."""

    row: Row
    text: str
    tokens: int


def shared_context(
    graph: GraphTables, entities: Sequence[Entity], limits: ContextLimits, sizes: RowSizes
) -> LocalContext:
    """The context for `entities`, with a share for every table."""
    room = max(limits.max_context_tokens - FRAME_TOKENS, 0)
    candidates = _candidates(graph, entities, limits)
    shares = _shares(limits, with_claims=bool(candidates["claims"]))
    shown: dict[ContextTable, list[_Shown]] = {}
    left = 0
    for name in CONTEXT_TABLES:
        budget = int(room * shares[name]) + left
        shown[name] = _filled(candidates[name], budget, WANTED[name], sizes)
        left = budget - _tokens(shown[name])
    for name in CONTEXT_TABLES:
        budget = _tokens(shown[name]) + left
        shown[name] = _lengthened(shown[name], candidates[name], budget, sizes)
        left = budget - _tokens(shown[name])
    return _context(shown)


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
    """Shares of the tokens; text units and reports give way where they leave less than is kept."""
    given = limits.community_prop + limits.text_unit_prop
    scale = min(1.0, (1 - LEAST_LOCAL) / given) if given else 1.0
    local = 1 - given * scale
    claims = local / 5 if with_claims else 0.0
    return {
        "reports": limits.community_prop * scale,
        "entities": (local - claims) / 2,
        "relationships": (local - claims) / 2,
        "claims": claims,
        "sources": limits.text_unit_prop * scale,
    }


def _filled(records: Sequence[Record], budget: int, wanted: int, sizes: RowSizes) -> list[_Shown]:
    """As many records as fit, in full if that shows the number wanted, else the long ones cut."""
    shown = _fitting(records, budget, sizes)
    aim = min(wanted, len(records))
    if len(shown) >= aim:
        return shown
    cut = [_Shown(row, *sizes.shortened(row, budget // aim)) for row in sizes.rows(records[:aim])]
    kept = _within(cut, budget)
    more = _fitting(records[aim:], budget - _tokens(kept), sizes) if kept == cut else []
    return [*kept, *more]


def _lengthened(
    shown: Sequence[_Shown], records: Sequence[Record], budget: int, sizes: RowSizes
) -> list[_Shown]:
    """What `shown` becomes with a larger budget: cut records grow, then more of them come."""
    left = budget - _tokens(shown)
    grown = []
    for item in shown:
        longer = _Shown(item.row, *sizes.shortened(item.row, item.tokens + left))
        best = longer if len(longer.text) > len(item.text) else item
        left -= best.tokens - item.tokens
        grown.append(best)
    return [*grown, *_fitting(records[len(grown) :], left, sizes)]


def _fitting(records: Sequence[Record], budget: int, sizes: RowSizes) -> list[_Shown]:
    """The first records that fit into a budget of tokens, in full."""
    shown: list[_Shown] = []
    for first in range(0, len(records), _LOOKED_AT):
        rows = sizes.rows(records[first : first + _LOOKED_AT])
        fitting = _within([_Shown(row, row.text, row.tokens) for row in rows], budget)
        shown += fitting
        budget -= _tokens(fitting)
        if len(fitting) < len(rows):
            break
    return shown


def _within(items: Sequence[_Shown], budget: int) -> list[_Shown]:
    """The first items that fit."""
    used = 0
    for place, item in enumerate(items):
        used += item.tokens
        if used > budget:
            return list(items[:place])
    return list(items)


def _tokens(items: Sequence[_Shown]) -> int:
    return sum(item.tokens for item in items)


def _context(shown: Mapping[ContextTable, Sequence[_Shown]]) -> LocalContext:
    items = [item for name in CONTEXT_TABLES for item in shown[name]]
    return LocalContext(
        records={name: [item.row.record for item in shown[name]] for name in CONTEXT_TABLES},
        text="".join(item.row.render(number, item.text) for number, item in enumerate(items, 1)),
        tokens={name: _tokens(shown[name]) for name in CONTEXT_TABLES if shown[name]},
        excerpts={
            item.row.record.id: item.text for item in items if len(item.text) < len(item.row.text)
        },
    )
