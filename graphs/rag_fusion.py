"""RAG-Fusion: search for several queries instead of one, and fuse what they find.

1. Expand the question to a few queries: other angles on it, or the sub-questions it is made of.
2. Retrieve for the question and for each query, in parallel.
3. Fuse the lists into one; the state keeps which query found what at which rank.
4. If wanted, let a reranker order the best of them anew.
5. Answer the question in the user's own words; citations are verified without a model call.

Paper: Rackauckas, RAG-Fusion: a New Take on Retrieval-Augmented Generation, arXiv 2402.03367.

```mermaid
graph LR
    prepare --> expand_question --> embed_queries
    embed_queries -->|each query| retrieve_query --> fuse_results
    fuse_results -->|reranker named| rerank_documents --> answer_question
    fuse_results --> answer_question --> verify_citations
    fuse_results -->|nothing found| report_no_evidence
    fuse_results -->|a person picks| pick_sources --> answer_question
```
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START, StateGraph

from ragweave.nodes.answer import answer_question
from ragweave.nodes.expand import expand_question
from ragweave.nodes.fuse_results import fuse_results
from ragweave.nodes.no_evidence import has_sources, report_no_evidence
from ragweave.nodes.pick_sources import pick_sources, wants_to_pick
from ragweave.nodes.policies import RETRY, TIMEOUT
from ragweave.nodes.prepare import prepare
from ragweave.nodes.rerank import rerank_documents
from ragweave.nodes.retrieve_queries import embed_queries, retrieve_query
from ragweave.nodes.tracing import traced_briefly
from ragweave.nodes.verify import verify_citations
from ragweave.state.base import Input, Output
from ragweave.state.context import context_of
from ragweave.state.rag_fusion import QueryTask, RagFusionContext, RagFusionState


def wants_reranking(
    state: RagFusionState,
) -> Literal["rerank_documents", "pick_sources", "answer_question", "report_no_evidence"]:
    """Whether anything was found, and whether a reranker is to order it."""
    if not state["sources"]:
        return "report_no_evidence"
    if context_of(state, None, RagFusionContext).reranker:
        return "rerank_documents"
    return who_picks(state)


def who_picks(state: RagFusionState) -> Literal["pick_sources", "answer_question"]:
    """Whether a person wants to pick the sources."""
    return "pick_sources" if wants_to_pick(state) else "answer_question"


def build() -> StateGraph[RagFusionState, RagFusionContext, Input, Output]:
    """The graph, not compiled, for those who want to change it."""
    builder = StateGraph(
        RagFusionState, context_schema=RagFusionContext, input_schema=Input, output_schema=Output
    )
    builder.set_node_defaults(retry_policy=RETRY, timeout=TIMEOUT)
    builder.add_node("prepare", prepare("rag_fusion", RagFusionState, RagFusionContext))
    builder.add_node("expand_question", expand_question)
    builder.add_node("embed_queries", embed_queries)
    builder.add_node("retrieve_query", retrieve_query, input_schema=QueryTask)
    builder.add_node("fuse_results", fuse_results)
    builder.add_node("rerank_documents", rerank_documents)
    builder.add_node("pick_sources", pick_sources("sources"))
    builder.add_node("answer_question", answer_question)
    builder.add_node("report_no_evidence", report_no_evidence)
    builder.add_node("verify_citations", verify_citations)

    builder.add_edge(START, "prepare")
    builder.add_edge("prepare", "expand_question")
    builder.add_edge("expand_question", "embed_queries")
    builder.add_edge("retrieve_query", "fuse_results")
    builder.add_conditional_edges("fuse_results", wants_reranking)
    builder.add_conditional_edges("rerank_documents", who_picks)
    builder.add_conditional_edges("pick_sources", has_sources)
    builder.add_edge("answer_question", "verify_citations")
    builder.add_edge("verify_citations", END)
    builder.add_edge("report_no_evidence", END)
    return traced_briefly(builder)


graph = build().compile(name="rag_fusion")
