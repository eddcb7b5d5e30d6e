"""The tree of actions: what was asked, by which answer it was suggested, and what came of it.

The state keeps a list of actions to which nodes only append, so that parallel searches cannot lose
each other's. The last action with an id is the one that holds.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langgraph.runtime import Runtime

from ragweave.nodes.events import emit
from ragweave.state.drift import Action, Edge, Tree

ROOT = "0"
_APART = re.compile(r"[\W_]+")


def current(actions: Iterable[Action]) -> dict[str, Action]:
    """The actions as they stand now, by id, in the order in which they were suggested."""
    return {action["id"]: action for action in actions}


def suggested(
    parent: Action, query: str, place: int, *, status: str = "waiting", reason: str = ""
) -> Action:
    """A follow-up of `parent` that was not searched yet; `place` counts its follow-ups from 0."""
    return Action(
        id=f"{parent['id']}.{place}",
        parent_id=parent["id"],
        depth=parent["depth"] + 1,
        query=query,
        answer=None,
        score=None,
        status="dropped" if status == "dropped" else "waiting",
        reason=reason,
        follow_ups=[],
        source_ids=[],
        usage=None,
    )


def same_query(query: str) -> str:
    """What makes two queries the same: not case, width, spaces or punctuation."""
    folded = unicodedata.normalize("NFKC", query).casefold()
    return _APART.sub(" ", folded).strip() or folded.strip()


def answered(actions: Iterable[Action]) -> list[Action]:
    """Actions with an answer worth something, the best first; of equals the one asked first.

    An answer without a score counts as one that scores lowest, since its model said something.
    """
    useful = [action for action in actions if action["answer"] and action["score"] != 0]
    return sorted(useful, key=lambda action: -(action["score"] or 0))


def tree_of(actions: Sequence[Action]) -> Tree:
    """The tree as nodes and edges."""
    nodes = list(current(actions).values())
    edges = [
        Edge(source=node["parent_id"], target=node["id"])
        for node in nodes
        if node["parent_id"] is not None
    ]
    return Tree(nodes=nodes, edges=edges)


def announce(state: Mapping[str, Any], runtime: Runtime[Any], action: Action) -> None:
    """Emit what has become of a follow-up question."""
    emit(
        state,
        runtime,
        "follow_up",
        id=action["id"],
        parent_id=action["parent_id"],
        query=action["query"],
        status=action["status"],
        score=action["score"],
    )
