"""Turning the question into a query for a web search engine."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from ragweave.models.calls import ask_structured
from ragweave.models.prompt import prompt, question_section, tried_section
from ragweave.models.schemas import SearchQuery
from ragweave.nodes.events import decided, emit, failed
from ragweave.state.context import context_of
from ragweave.state.crag import CragContext, CragState
from ragweave.state.errors import CallFailed

MAX_QUERY_CHARACTERS = 400
"""Tavily refuses longer ones."""


async def rewrite_question(state: CragState, runtime: Runtime[CragContext]) -> dict[str, Any]:
    """Rewrite the question for search, knowing which queries were tried before.

    If the call fails the question itself is the query.
    """
    context = context_of(state, runtime.context, CragContext)
    question, tried = state["search_question"], state["queries"]
    try:
        reply = await ask_structured(
            SearchQuery,
            prompt(context.rewrite_prompt, tried_section(tried), question_section(question)),
            model=context.hidden_model,
            stage="rewrite",
            state=state,
            context=context,
        )
    except CallFailed as failure:
        query, reason = short_query(question), f"The question as it stands: {failure}"
        spent = failed(state, runtime, failure)
    else:
        query, reason = short_query(reply.value.query) or short_query(question), reply.value.reason
        spent = {"usage": reply.usage}
    emit(state, runtime, "rewrote", query=query, reason=reason)
    return {
        **spent,
        "web_query": query,
        "queries": [query],
        "decisions": decided("rewrite_question", query, reason),
    }


def short_query(text: str) -> str:
    """The text on one line, cut at a word to what a search engine takes."""
    line = " ".join(text.split())
    if len(line) <= MAX_QUERY_CHARACTERS:
        return line
    cut = line[: MAX_QUERY_CHARACTERS + 1].rpartition(" ")[0]
    return cut or line[:MAX_QUERY_CHARACTERS]
