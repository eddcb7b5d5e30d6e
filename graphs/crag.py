"""Corrective RAG (CRAG): grade what was retrieved, and correct it before answering.

1. Retrieve chunks and grade each one against the question, in parallel.
2. Enough relevant ones: answer from them. None: search the web instead. In between: use both.
3. For the web the question is rewritten, the results are graded too, and the loop is bounded.
4. Of everything kept, only the best strips reach the prompt.
5. The answer's citations are verified without a model call.

Paper: Yan et al., Corrective Retrieval Augmented Generation, arXiv 2401.15884.

```mermaid
graph LR
    prepare --> retrieve_documents --> grade_document --> choose_action
    choose_action -->|correct| refine_documents
    choose_action -->|incorrect, ambiguous| rewrite_question --> search_web
    search_web --> grade_web_results -->|found| refine_documents
    grade_web_results -->|nothing yet| rewrite_question
    refine_documents --> answer_question --> verify_citations
    refine_documents -->|nothing kept| report_no_evidence
    refine_documents -->|a person picks| pick_sources --> answer_question
```
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from ragweave.nodes.action import choose_action, found_on_the_web
from ragweave.nodes.answer import answer_question
from ragweave.nodes.grade import (
    grade_document,
    grade_documents,
    grade_web_results,
    passage_of,
)
from ragweave.nodes.no_evidence import has_sources, report_no_evidence
from ragweave.nodes.pick_sources import pick_sources, wants_to_pick
from ragweave.nodes.policies import RETRY, TIMEOUT
from ragweave.nodes.prepare import prepare
from ragweave.nodes.refine import refine_documents
from ragweave.nodes.retrieve import retrieve_documents
from ragweave.nodes.rewrite import rewrite_question
from ragweave.nodes.tracing import traced_briefly
from ragweave.nodes.verify import verify_citations
from ragweave.nodes.web import approve_web_query, search_web
from ragweave.state.base import Input, Output, carried
from ragweave.state.context import context_of
from ragweave.state.crag import CragContext, CragState, GradeTask


def how_to_grade(
    state: CragState,
) -> list[Send] | Literal["grade_documents", "choose_action"]:
    """One worker for each document, one call for all, or nothing to grade."""
    documents = state["documents"]
    if not documents:
        return "choose_action"
    if context_of(state, None, CragContext).grading == "batch":
        return "grade_documents"
    question = state["search_question"]
    return [
        Send(
            "grade_document",
            GradeTask(**carried(state), search_question=question, document=passage_of(document)),
        )
        for document in documents
    ]


def needs_web_search(
    state: CragState,
) -> Literal["rewrite_question", "approve_web_query", "search_web", "refine_documents"]:
    """Whether to leave for the web, and whether by a rewritten query."""
    if not state["search_web"]:
        return "refine_documents"
    if context_of(state, None, CragContext).max_rewrites:
        return "rewrite_question"
    return needs_approval(state)


def needs_approval(state: CragState) -> Literal["approve_web_query", "search_web"]:
    """Whether a person wants to see the query before it leaves."""
    asks = context_of(state, None, CragContext).web_search == "ask"
    return "approve_web_query" if asks else "search_web"


def was_approved(state: CragState) -> Literal["search_web", "refine_documents"]:
    """What the person said."""
    return "search_web" if state["search_web"] else "refine_documents"


def found_enough(state: CragState) -> Literal["rewrite_question", "refine_documents"]:
    """Whether the web gave something, or another query is allowed to try."""
    rewrites_left = len(state["queries"]) < context_of(state, None, CragContext).max_rewrites
    if rewrites_left and not found_on_the_web(state):
        return "rewrite_question"
    return "refine_documents"


def who_picks(
    state: CragState,
) -> Literal["pick_sources", "answer_question", "report_no_evidence"]:
    """Whether anything was kept, and whether a person wants to pick of it."""
    return "pick_sources" if wants_to_pick(state) else has_sources(state)


def build() -> StateGraph[CragState, CragContext, Input, Output]:
    """The graph, not compiled, for those who want to change it."""
    builder = StateGraph(
        CragState, context_schema=CragContext, input_schema=Input, output_schema=Output
    )
    builder.set_node_defaults(retry_policy=RETRY, timeout=TIMEOUT)
    builder.add_node("prepare", prepare("crag", CragState, CragContext))
    builder.add_node("retrieve_documents", retrieve_documents)
    builder.add_node("grade_document", grade_document, input_schema=GradeTask)
    builder.add_node("grade_documents", grade_documents)
    builder.add_node("choose_action", choose_action)
    builder.add_node("rewrite_question", rewrite_question)
    builder.add_node("approve_web_query", approve_web_query)
    builder.add_node("search_web", search_web)
    builder.add_node("grade_web_results", grade_web_results)
    builder.add_node("refine_documents", refine_documents)
    builder.add_node("pick_sources", pick_sources("sources"))
    builder.add_node("answer_question", answer_question)
    builder.add_node("report_no_evidence", report_no_evidence)
    builder.add_node("verify_citations", verify_citations)

    builder.add_edge(START, "prepare")
    builder.add_edge("prepare", "retrieve_documents")
    builder.add_conditional_edges(
        "retrieve_documents", how_to_grade, ["grade_document", "grade_documents", "choose_action"]
    )
    builder.add_edge("grade_document", "choose_action")
    builder.add_edge("grade_documents", "choose_action")
    builder.add_conditional_edges("choose_action", needs_web_search)
    builder.add_conditional_edges("rewrite_question", needs_approval)
    builder.add_conditional_edges("approve_web_query", was_approved)
    builder.add_edge("search_web", "grade_web_results")
    builder.add_conditional_edges("grade_web_results", found_enough)
    builder.add_conditional_edges("refine_documents", who_picks)
    builder.add_conditional_edges("pick_sources", has_sources)
    builder.add_edge("answer_question", "verify_citations")
    builder.add_edge("verify_citations", END)
    builder.add_edge("report_no_evidence", END)
    return traced_briefly(builder)


graph = build().compile(name="crag")
