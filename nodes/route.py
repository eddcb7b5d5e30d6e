"""Picking the technique for a question by its form and by what the index can do, and running it.

No model is called: every technique answers every question, so a pick that is not the best costs
little, and a call would cost more than what it saves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from ragweave.models.offline.relevance import RELEVANT
from ragweave.nodes.events import decided, emit
from ragweave.nodes.node import Node
from ragweave.nodes.question_form import Form, question_form
from ragweave.nodes.subgraph import as_node
from ragweave.state.auto import TECHNIQUE_NAMES, Abilities, AutoContext, AutoState, TechniqueName
from ragweave.state.base import Input
from ragweave.state.context import context_of

Need = Literal["evidence"] | Form

SAYS: dict[Need, str] = {
    "evidence": "No passage was found that seems to answer the question",
    "broad": "The question is about a whole",
    "document": "The question wants an account of something",
    "relation": "The question is about how things relate",
    "many_sided": "The question has several sides",
    "narrow": "The question is narrow",
}
SUITED: dict[Need, tuple[tuple[TechniqueName, str], ...]] = {
    "evidence": (("crag", "it grades what was found before it answers"),),
    "broad": (
        ("drift", "the knowledge graph has reports on the whole"),
        ("longrag", "whole documents are read"),
        ("rag_fusion", "several queries see more of it than one"),
    ),
    "document": (
        ("longrag", "whole documents are read"),
        ("drift", "the knowledge graph has reports on it"),
        ("rag_fusion", "several queries see more of it than one"),
    ),
    "relation": (
        ("local_search", "the knowledge graph holds relationships"),
        ("rag_fusion", "each side is searched for"),
    ),
    "many_sided": (
        ("rag_fusion", "each side is searched for"),
        ("local_search", "the knowledge graph is all there is"),
    ),
    "narrow": (
        ("citation", "a passage seems to answer it, and each sentence is traced to its source"),
        ("local_search", "the knowledge graph is all there is"),
    ),
}
"""By what a question needs, the techniques that suit it, best first, each with its reason."""
_HAN = re.compile(r"[\u3400-\u9fff]")
NAMED_WORDS = 4
"""Missing words that a reason names."""


async def choose_technique(state: AutoState, runtime: Runtime[AutoContext]) -> dict[str, Any]:
    """Pick the technique, and say why: in the state, and as an event."""
    context = context_of(state, runtime.context, AutoContext)
    technique, reason = choose(state["question"], state["abilities"], context.techniques)
    emit(state, runtime, "routed", choice=technique, reason=reason)
    return {
        "technique": technique,
        "reason": reason,
        "decisions": decided("choose_technique", technique, reason),
    }


def choose(
    question: str, abilities: Abilities, allowed: Sequence[TechniqueName] = TECHNIQUE_NAMES
) -> tuple[TechniqueName, str]:
    """The first technique that suits the question, is allowed, and can be served; and why."""
    need, said = _need(question, abilities)
    web = need == "evidence" and abilities["web"]
    able = [technique for technique in allowed if _can_serve(abilities, technique)]
    for technique, why in SUITED[need]:
        if technique in able:
            return technique, f"{said}; {why}{', and searches the web' if web else ''}."
    technique = next(iter(able), allowed[0])
    return technique, f"{said}; of what is allowed and there, {technique} comes first."


def run_technique(graph: CompiledStateGraph[Any, Any, Any, Any]) -> Node:
    """A node that answers by a technique's graph, with the settings of the routed run."""
    schema: Any = graph.context_schema

    def asked(state: AutoState) -> Input:
        return Input(question=state["question"], messages=state["messages"])

    def context(state: AutoState, runtime: Runtime[Any]) -> object:
        return context_of({}, state["settings"], schema)

    return as_node(graph, given=asked, context=context)


def _need(question: str, abilities: Abilities) -> tuple[Need, str]:
    """What a question needs: what its form tells, unless the index has little to say to it.

    A question about a whole names no fact that a passage could state.
    """
    form, shown_by = question_form(question)
    if form not in ("broad", "document") and _is_thin(abilities):
        # Of Chinese these are pairs of characters, which tell a reader nothing.
        words = [word for word in abilities["missing"] if not _HAN.search(word)]
        lacking = ", ".join(words[:NAMED_WORDS])
        return "evidence", SAYS["evidence"] + (f" (the best lacks {lacking})" if lacking else "")
    return form, SAYS[form] + (f" ({shown_by})" if shown_by else "")


def _is_thin(abilities: Abilities) -> bool:
    if not abilities["documents"]:
        return not abilities["graph"]
    return abilities["evidence"] is None or abilities["evidence"] < RELEVANT


def _can_serve(abilities: Abilities, technique: TechniqueName) -> bool:
    """Whether the index has what the technique reads."""
    match technique:
        case "local_search" | "drift":
            return abilities["graph"]
        case "longrag":
            return abilities["units"]
        case "crag":
            return abilities["documents"] or not abilities["graph"]
        case _:
            return abilities["documents"]
