"""Searching the web by Tavily, with a person's approval where that is asked for."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field, model_validator

from ragweave.models.budget import ledger_of
from ragweave.nodes.asking import ask_person
from ragweave.nodes.events import decided, emit
from ragweave.nodes.rewrite import short_query
from ragweave.nodes.tavily_search import tavily_search
from ragweave.state.context import context_of
from ragweave.state.crag import CragContext, CragState

SEARCH_SECONDS = 20.0


class WebQueryApproval(BaseModel):
    """A person's answer to the query that is about to leave for the web."""

    approve: bool = Field(default=True, description="Whether the web may be searched.")
    query: str | None = Field(default=None, description="Another query to search for instead.")

    @model_validator(mode="before")
    @classmethod
    def _from_one_word(cls, value: object) -> object:
        """Yes, no, or another query alone is an answer too."""
        match value:
            case bool():
                return {"approve": value}
            case str():
                return {"query": value}
        return value


def web_is_configured() -> bool:
    """Whether a key for web search is in the environment."""
    return bool(os.environ.get("TAVILY_API_KEY"))


async def approve_web_query(state: CragState, runtime: Runtime[CragContext]) -> dict[str, Any]:
    """Wait for a person to approve, edit or refuse the query."""
    asked = {"question": state["question"], "query": state["web_query"]}
    answer = ask_person(asked, WebQueryApproval)
    ledger_of(state).restart_clock()
    if not answer.approve:
        reason = "A person refused the web search."
        return {
            "search_web": False,
            "decisions": decided("approve_web_query", "refused", reason),
            "warnings": [reason],
        }
    query = short_query(answer.query or "") or state["web_query"]
    edited = "edited" if query != state["web_query"] else "approved"
    return {"web_query": query, "decisions": decided("approve_web_query", edited, query)}


async def search_web(state: CragState, runtime: Runtime[CragContext]) -> dict[str, Any]:
    """Search the web for `web_query`. A search that fails leaves a warning, never an error."""
    context = context_of(state, runtime.context, CragContext)
    query = state["web_query"]
    seconds = min(SEARCH_SECONDS, ledger_of(state).remaining(context))
    try:
        async with asyncio.timeout(seconds):
            results = await tavily_search(query, context.web_results, seconds=SEARCH_SECONDS)
    except Exception as error:  # Tavily's own errors, httpx's, and whatever its answer breaks
        warning = _failure(error)
        emit(state, runtime, "searched_web", query=query, count=0)
        return {"warnings": [warning], "decisions": decided("search_web", "failed", warning)}
    readable = {source["id"]: source for source in results if source["text"]}
    known = {source["id"] for source in state["web_results"]}
    fresh = [source for source in readable.values() if source["id"] not in known]
    emit(state, runtime, "searched_web", query=query, count=len(results))
    reason = f"{len(results)} results for {query!r}, {len(fresh)} of them new."
    empty = sum(not source["text"] for source in results)
    return {
        "web_results": fresh,
        "decisions": decided("search_web", "searched", reason),
        "warnings": [f"{empty} web results had no text and were left out."] if empty else [],
    }


def _failure(error: Exception) -> str:
    name = type(error).__name__
    if name in ("InvalidAPIKeyError", "MissingAPIKeyError", "ForbiddenError"):
        return "Tavily refused the key: check TAVILY_API_KEY. The web was not searched."
    if isinstance(error, TimeoutError) or "Timeout" in name:
        return f"The web search gave no answer within {SEARCH_SECONDS:g} seconds."
    return f"The web search failed ({name}); the answer rests on the documents alone."
