"""Citation RAG: small numbered sources, and an answer in which every sentence cites them.

1. Retrieve chunks and cut them into small sources with exact spans, numbered once for all.
2. Answer from as many as fit one prompt; refine the answer over the rest, batch by batch.
3. Verify the citations without a model call.
4. If sentences are uncited or markers name no source, let the model mend the answer, once.
5. If wanted, number the sources anew in the order of their first use.

```mermaid
graph LR
    prepare --> retrieve_documents --> number_sources --> answer_question
    number_sources -->|nothing found| report_no_evidence
    retrieve_documents -->|a person picks| pick_sources --> number_sources
    answer_question -->|sources left| refine_answer --> verify_citations
    refine_answer -->|sources left| refine_answer
    answer_question --> verify_citations
    verify_citations -->|faults, once| repair_answer --> verify_citations
    verify_citations -->|renumber| renumber_citations
```
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START, StateGraph

from ragweave.nodes.answer import answer_question
from ragweave.nodes.no_evidence import has_sources, report_no_evidence
from ragweave.nodes.number_sources import number_sources
from ragweave.nodes.pick_sources import pick_sources, wants_to_pick
from ragweave.nodes.policies import RETRY, TIMEOUT
from ragweave.nodes.prepare import prepare
from ragweave.nodes.refine_answer import refine_answer
from ragweave.nodes.renumber import renumber_citations
from ragweave.nodes.repair import repair_answer
from ragweave.nodes.retrieve import retrieve_documents
from ragweave.nodes.tracing import traced_briefly
from ragweave.nodes.verify import verify_citations
from ragweave.state.base import Input, Output
from ragweave.state.citation import CitationContext, CitationState
from ragweave.state.context import context_of


def who_picks(state: CitationState) -> Literal["pick_sources", "number_sources"]:
    """Whether a person wants to pick what is cut into sources."""
    return "pick_sources" if wants_to_pick(state, "documents") else "number_sources"


def has_unread_sources(state: CitationState) -> Literal["refine_answer", "verify_citations"]:
    """Whether sources are left that did not fit the prompts so far."""
    return "refine_answer" if state["pending"] else "verify_citations"


def needs_repair(
    state: CitationState,
) -> Literal["repair_answer", "renumber_citations", "__end__"]:
    """Whether something is wrong that one more call may mend."""
    context = context_of(state, None, CitationContext)
    uncited = any(citation["status"] == "missing" for citation in state["citations"])
    done = state.get("repaired") or state["draft"]["partial"]
    if context.repair and not done and (uncited or state["invalid_markers"]):
        return "repair_answer"
    return "renumber_citations" if context.renumber else "__end__"


def build() -> StateGraph[CitationState, CitationContext, Input, Output]:
    """The graph, not compiled, for those who want to change it."""
    builder = StateGraph(
        CitationState, context_schema=CitationContext, input_schema=Input, output_schema=Output
    )
    builder.set_node_defaults(retry_policy=RETRY, timeout=TIMEOUT)
    builder.add_node("prepare", prepare("citation", CitationState, CitationContext))
    builder.add_node("retrieve_documents", retrieve_documents)
    builder.add_node("pick_sources", pick_sources("documents"))
    builder.add_node("number_sources", number_sources)
    builder.add_node("answer_question", answer_question)
    builder.add_node("refine_answer", refine_answer)
    builder.add_node("report_no_evidence", report_no_evidence)
    builder.add_node("verify_citations", verify_citations)
    builder.add_node("repair_answer", repair_answer)
    builder.add_node("renumber_citations", renumber_citations)

    builder.add_edge(START, "prepare")
    builder.add_edge("prepare", "retrieve_documents")
    builder.add_conditional_edges("retrieve_documents", who_picks)
    builder.add_edge("pick_sources", "number_sources")
    builder.add_conditional_edges("number_sources", has_sources)
    builder.add_conditional_edges("answer_question", has_unread_sources)
    builder.add_conditional_edges("refine_answer", has_unread_sources)
    builder.add_conditional_edges("verify_citations", needs_repair)
    builder.add_edge("repair_answer", "verify_citations")
    builder.add_edge("renumber_citations", END)
    builder.add_edge("report_no_evidence", END)
    return traced_briefly(builder)


graph = build().compile(name="citation")
