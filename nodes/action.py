"""CRAG's decision: are the documents enough, or is the web needed instead, or as well."""

from __future__ import annotations

from collections import Counter
from typing import Any

from langgraph.runtime import Runtime

from ragweave.nodes.events import decided
from ragweave.nodes.rewrite import short_query
from ragweave.nodes.web import web_is_configured
from ragweave.state.context import context_of
from ragweave.state.crag import Action, CragContext, CragState, Verdict
from ragweave.state.records import Source


async def choose_action(state: CragState, runtime: Runtime[CragContext]) -> dict[str, Any]:
    """Choose CRAG's three-way action from the grades, and with it whether to search the web."""
    context = context_of(state, runtime.context, CragContext)
    counts = Counter(verdicts_of(state).values())
    action = _action(counts, context)
    wanted, reason = _web_wanted(action, counts, context)
    chosen: dict[str, Any] = {
        "action": action,
        "search_web": wanted and web_is_configured(),
        "web_query": short_query(state["search_question"]),
        "decisions": decided("choose_action", action, reason),
    }
    if wanted and not web_is_configured():
        chosen["warnings"] = ["The web was not searched: TAVILY_API_KEY is not set."]
    return chosen


def verdicts_of(state: CragState) -> dict[str, Verdict]:
    """Verdict by source id."""
    return {grade["source_id"]: grade["verdict"] for grade in state["grades"]}


def usable_documents(state: CragState) -> list[Source]:
    """Documents to answer from: with `correct` the relevant ones, else all but the irrelevant."""
    verdicts = verdicts_of(state)
    accepted = {"relevant"} if state["action"] == "correct" else {"relevant", "partly", "ungraded"}
    return [source for source in state["documents"] if verdicts[source["id"]] in accepted]


def usable_web_results(state: CragState) -> list[Source]:
    """Web results to answer from: all that were not graded irrelevant."""
    verdicts = verdicts_of(state)
    return [source for source in state["web_results"] if verdicts[source["id"]] != "irrelevant"]


def found_on_the_web(state: CragState) -> bool:
    """Whether some web result was graded relevant, or partly."""
    verdicts = verdicts_of(state)
    return any(verdicts[source["id"]] in ("relevant", "partly") for source in state["web_results"])


def _action(counts: Counter[Verdict], context: CragContext) -> Action:
    if counts["relevant"] >= context.min_relevant:
        return "correct"
    if counts["irrelevant"] == counts.total():
        return "incorrect"
    return "ambiguous"


def _web_wanted(action: Action, counts: Counter[Verdict], context: CragContext) -> tuple[bool, str]:
    graded = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    summary = f"Of the documents: {graded or 'none retrieved'}."
    if context.web_search == "never":
        return False, f"{summary} Web search is switched off."
    if context.web_search == "always":
        return True, f"{summary} Web search is always on."
    if context.search_web_when == "any_irrelevant" and counts["irrelevant"]:
        return True, f"{summary} One irrelevant document is enough to search the web."
    if action == "correct":
        return False, f"{summary} Enough to answer."
    return True, f"{summary} Fewer than {context.min_relevant} relevant."
