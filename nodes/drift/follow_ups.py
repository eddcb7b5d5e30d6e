"""Which follow-up questions to search next, and when to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph.runtime import Runtime

from ragweave.models.budget import ledger_of
from ragweave.nodes.drift.tree import ROOT, announce, current, same_query, suggested
from ragweave.nodes.events import decided
from ragweave.nodes.graph_search.access import searchable_graph
from ragweave.nodes.node import Node
from ragweave.nodes.query_list import parse_queries
from ragweave.nodes.query_vectors import query_vectors, similarities
from ragweave.state.context import context_of
from ragweave.state.drift import Action, DriftContext, DriftState
from ragweave.state.errors import RagweaveError

MAX_QUERY_CHARACTERS = 1_000
FEWEST_RANKED = 32
"""Candidates that are embedded for ranking, if there are so many, however few can be searched."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A follow-up that may be searched, with what there is to rank it by."""

    action: Action
    parent_score: float
    """Score of the answer that suggested it; 0 if it has none."""
    similarity: float
    """Cosine of its embedding and the question's."""


Ranking = Callable[[Sequence[Candidate]], list[Candidate]]
"""Orders candidates, the best first. It must not depend on anything but what it is given."""


def by_score_and_similarity(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Those first that were suggested by the best answers, then those nearest to the question.

    Of equals the one that was suggested first.
    """
    return sorted(candidates, key=lambda item: (-item.parent_score, -round(item.similarity, 6)))


def rank_follow_ups(ranking: Ranking = by_score_and_similarity) -> Node:
    """Make the node that chooses the next level's questions by `ranking`, or chooses none.

    What was asked before is dropped, up to case, spaces and punctuation, and so is what means
    nearly the same by its embedding. Everything suggested stays in the tree, with its reason.
    """

    async def rank_follow_ups(state: DriftState, runtime: Runtime[DriftContext]) -> dict[str, Any]:
        context = context_of(state, runtime.context, DriftContext)
        actions = current(state["actions"])
        room = _room(state, context)
        if reason := _reason_to_stop(actions, context, room):
            return {"decisions": decided("rank_follow_ups", "stop", reason)}
        fresh = _suggestions(actions, context)
        pool = [action for action in (*actions.values(), *fresh) if action["status"] == "waiting"]
        pool = _best_parents_first(pool, actions)[: max(2 * room, FEWEST_RANKED)]
        vectors, warnings = await _vectors([*actions.values(), *pool], context, state)
        chosen = await asyncio.to_thread(_choose, pool, actions, vectors, ranking, room, context)
        for action in chosen:
            announce(state, runtime, action)
        pending = sum(action["status"] == "pending" for action in chosen)
        reason = f"{pending} of {len(pool)} questions are worth searching."
        return {
            "actions": [*fresh, *chosen],
            "decisions": decided("rank_follow_ups", "search" if pending else "stop", reason),
            "warnings": warnings,
        }

    return rank_follow_ups


def _room(state: DriftState, context: DriftContext) -> int:
    """How many questions may be searched next; the last call is kept for the answer."""
    left = context.max_model_calls - ledger_of(state).calls - context.reduce
    return max(min(context.drift_k_followups, left), 0)


def _reason_to_stop(actions: dict[str, Action], context: DriftContext, room: int) -> str | None:
    depth = _depth(actions)
    if depth >= context.n_depth:
        return f"Level {depth} is the last one (n_depth)."
    if room == 0:
        return "No model calls are left (max_model_calls)."
    if depth > 0 and context.stop_when_flat:
        last = _best_score(actions, depth)
        before = max(_best_score(actions, level) for level in range(depth))
        if last <= before:
            return f"Scores rise no more: {last:g} on level {depth}, {before:g} before."
    return None


def _depth(actions: dict[str, Action]) -> int:
    """The deepest level that was searched; 0 before the first."""
    done = (action for action in actions.values() if action["status"] in ("answered", "failed"))
    return max((action["depth"] for action in done), default=0)


def _best_score(actions: dict[str, Action], depth: int) -> float:
    scores = [a["score"] or 0.0 for a in actions.values() if a["depth"] == depth and a["answer"]]
    return max(scores, default=0.0)


def _suggestions(actions: dict[str, Action], context: DriftContext) -> list[Action]:
    """The follow-ups of the level searched last as new actions; repeated ones are dropped.

    Where the first answer suggests nothing, or there is none, the question itself is searched.
    """
    depth = _depth(actions)
    asked = {same_query(action["query"]): action["id"] for action in actions.values()}
    fresh: list[Action] = []
    for parent in actions.values():
        if parent["depth"] != depth or not parent["answer"]:
            continue
        queries = [query for text in parent["follow_ups"] for query in _clean(text)]
        limit = len(queries) if depth == 0 else context.k_followups
        for place, query in enumerate(queries[:limit]):
            repeated = asked.setdefault(same_query(query), f"{parent['id']}.{place}")
            dropped = repeated != f"{parent['id']}.{place}"
            reason = f"It was asked before, as {repeated}." if dropped else ""
            fresh.append(
                suggested(
                    parent, query, place, status="dropped" if dropped else "waiting", reason=reason
                )
            )
    if depth == 0 and not any(action["status"] == "waiting" for action in fresh):
        root = actions[ROOT]
        fresh.append(suggested(root, root["query"], len(fresh), reason="Nothing was suggested."))
    return fresh


def _clean(text: str) -> list[str]:
    """The questions in one suggestion, which may be a whole numbered list."""
    return [query[:MAX_QUERY_CHARACTERS] for query in parse_queries(text) if same_query(query)]


def _best_parents_first(pool: Sequence[Action], actions: dict[str, Action]) -> list[Action]:
    return sorted(pool, key=lambda action: -_parent_score(action, actions))


def _parent_score(action: Action, actions: dict[str, Action]) -> float:
    parent = actions.get(action["parent_id"] or "")
    return (parent["score"] or 0.0) if parent else 0.0


async def _vectors(
    actions: Sequence[Action], context: DriftContext, state: DriftState
) -> tuple[dict[str, list[float]], list[str]]:
    """Embeddings by query; none, with a warning, where they cannot be had."""
    queries = list(dict.fromkeys(action["query"] for action in actions))
    try:
        graph = await searchable_graph(context, state["search_question"])
        if graph is None:
            return {}, []
        vectors = await query_vectors(queries, embeddings=graph.embeddings)
    except RagweaveError as error:
        return {}, [f"Follow-ups were ranked without embeddings: {error}"]
    return dict(zip(queries, vectors, strict=True)), []


def _choose(
    pool: Sequence[Action],
    actions: dict[str, Action],
    vectors: dict[str, list[float]],
    ranking: Ranking,
    room: int,
    context: DriftContext,
) -> list[Action]:
    """The pool's actions that change: those to search now, and those too near to another."""
    question = actions[ROOT]["query"]
    near = _Similarity(vectors)
    candidates = [
        Candidate(action, _parent_score(action, actions), near(action["query"], question))
        for action in pool
    ]
    asked = [a for a in actions.values() if a["status"] in ("answered", "failed") and a["depth"]]
    chosen: list[Action] = []
    changed: list[Action] = []
    for candidate in ranking(candidates):
        if len(chosen) == room:
            break
        action = candidate.action
        twin = next(
            (
                other
                for other in (*asked, *chosen)
                if context.similar_above < 1
                and near(action["query"], other["query"]) >= context.similar_above
            ),
            None,
        )
        if twin is not None:
            reason = f"It means nearly the same as {twin['id']}."
            changed.append({**action, "status": "dropped", "reason": reason})
            continue
        chosen.append({**action, "status": "pending"})
        changed.append(chosen[-1])
    return changed


class _Similarity:
    """Cosines of pairs of queries; 0 for one without an embedding."""

    def __init__(self, vectors: dict[str, list[float]]) -> None:
        self._places = {query: place for place, query in enumerate(vectors)}
        rows = list(vectors.values())
        self._cosines = similarities(rows, rows)

    def __call__(self, one: str, other: str) -> float:
        if one not in self._places or other not in self._places:
            return 0.0
        return self._cosines[self._places[one]][self._places[other]]
