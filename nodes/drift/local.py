"""One local search: the records around a follow-up question, and what the model makes of them."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from ragweave.models.budget import ledger_of
from ragweave.models.calls import ask_structured
from ragweave.models.drift_schemas import LocalAnswer, salvage
from ragweave.models.prompt import Section, prompt, question_section, sources_section
from ragweave.nodes.drift.tree import announce
from ragweave.nodes.events import failed
from ragweave.nodes.graph_search.access import search_records, searchable_graph
from ragweave.nodes.language import named_language
from ragweave.state.context import context_of
from ragweave.state.drift import Action, DriftContext, LocalState
from ragweave.state.errors import CallFailed, RequestRefused
from ragweave.state.records import no_usage


async def build_local_context(state: LocalState, runtime: Runtime[DriftContext]) -> dict[str, Any]:
    """Find the records around the follow-up question: `sources`, with `excerpts` of long ones."""
    context = context_of(state, runtime.context, DriftContext)
    # The ledger of a resumed run begins from what the payload says was spent. Handed on is only
    # what this search spends, which the graph adds up.
    ledger_of(state)
    spent = {"usage": no_usage()}
    graph = await searchable_graph(context, state["search_question"])
    if graph is None:
        return {"sources": [], "excerpts": {}, **spent}
    query = state["action"]["query"]
    sources, excerpts = await search_records(query, graph, context)
    return {"sources": sources, "excerpts": excerpts, **spent}


async def answer_follow_up(state: LocalState, runtime: Runtime[DriftContext]) -> dict[str, Any]:
    """Answer the follow-up question from those records, and suggest what to ask next.

    A call that fails or is refused leaves a failed action with its reason, and the run goes on;
    a key that is refused ends it.
    """
    if "sources" not in state:  # the run was stopped after they had been found
        found = await build_local_context(state, runtime)
        state = {**state, "sources": found["sources"], "excerpts": found["excerpts"]}
    context = context_of(state, runtime.context, DriftContext)
    action, sources = state["action"], state["sources"]
    done: Action = {**action, "source_ids": [source["id"] for source in sources]}
    if not sources:
        done = {**done, "status": "failed", "reason": "No record of the graph is about it."}
        return _done(state, runtime, done, {})
    messages = prompt(
        instructions(context.local_prompt, context),
        sources_section(sources, state["excerpts"]),
        Section("overall", state["question"]),
        question_section(action["query"]),
        Section("limit", f"At most {context.k_followups} follow-up questions."),
        named_language(context, state["question"]),
    )
    try:
        reply = await ask_structured(
            LocalAnswer,
            messages,
            model=context.hidden_model,
            stage="local_search",
            state=state,
            context=context,
            salvage=salvage(LocalAnswer),
        )
    except (CallFailed, RequestRefused) as failure:
        done = {**done, "status": "failed", "reason": str(failure), "usage": failure.usage}
        return _done(state, runtime, done, failed(state, runtime, failure))
    answer = reply.value
    done = {
        **done,
        "answer": answer.response or None,
        "score": answer.score,
        "follow_ups": answer.follow_up_queries,
        "status": "answered" if answer.response else "failed",
        "reason": "" if answer.response else "The model gave no answer.",
        "usage": reply.usage,
    }
    return _done(state, runtime, done, {"usage": reply.usage})


def instructions(text: str, context: DriftContext) -> str:
    """The instructions of a prompt, and whether the model may add what it knows by itself."""
    return text + (GENERAL_KNOWLEDGE if context.allow_general_knowledge else "")


GENERAL_KNOWLEDGE = (
    "\n- You may add what you know by yourself where it helps. Every such sentence ends with "
    "(general knowledge) and has no number."
)


def _done(
    state: LocalState, runtime: Runtime[DriftContext], action: Action, update: dict[str, Any]
) -> dict[str, Any]:
    announce(state, runtime, action)
    return {"actions": [action], **update}
