"""Local search over a knowledge graph: the records around the question, and an answer from them.

1. Find the entities nearest to the question.
2. Gather what speaks of them: reports of their communities, their relationships, text units.
3. Every table gets its share of the prompt, and what one leaves over goes to the others.
4. Answer from them; verify the citations without a model call.
5. Trace every cited record down to the words of the documents that it rests on.

After GraphRAG's local search: Edge et al., From Local to Global, arXiv 2404.16130.

```mermaid
graph LR
    prepare --> retrieve_records --> answer_question --> verify_citations
    retrieve_records -->|nothing found| report_no_evidence
    retrieve_records -->|a person picks| pick_sources --> answer_question
    verify_citations --> trace_evidence --> restyle_citations
```
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START, StateGraph

from ragweave.nodes.answer import answer_question
from ragweave.nodes.citations.data_references import restyle_citations
from ragweave.nodes.graph_search.evidence import trace_evidence
from ragweave.nodes.graph_search.local_records import retrieve_records
from ragweave.nodes.no_evidence import has_sources, report_no_evidence
from ragweave.nodes.pick_sources import pick_sources, wants_to_pick
from ragweave.nodes.policies import RETRY, TIMEOUT
from ragweave.nodes.prepare import prepare
from ragweave.nodes.tracing import traced_briefly
from ragweave.nodes.verify import verify_citations
from ragweave.state.base import Input, Output
from ragweave.state.local_search import LocalSearchContext, LocalSearchState


def who_picks(
    state: LocalSearchState,
) -> Literal["pick_sources", "answer_question", "report_no_evidence"]:
    """Whether the graph has anything, and whether a person wants to pick of it."""
    return "pick_sources" if wants_to_pick(state) else has_sources(state)


def build() -> StateGraph[LocalSearchState, LocalSearchContext, Input, Output]:
    """The graph, not compiled, for those who want to change it."""
    builder = StateGraph(
        LocalSearchState,
        context_schema=LocalSearchContext,
        input_schema=Input,
        output_schema=Output,
    )
    builder.set_node_defaults(retry_policy=RETRY, timeout=TIMEOUT)
    builder.add_node("prepare", prepare("local_search", LocalSearchState, LocalSearchContext))
    builder.add_node("retrieve_records", retrieve_records(LocalSearchContext))
    builder.add_node("pick_sources", pick_sources("sources"))
    builder.add_node("answer_question", answer_question)
    builder.add_node("report_no_evidence", report_no_evidence)
    builder.add_node("verify_citations", verify_citations)
    builder.add_node("trace_evidence", trace_evidence)
    builder.add_node("restyle_citations", restyle_citations)

    builder.add_edge(START, "prepare")
    builder.add_edge("prepare", "retrieve_records")
    builder.add_conditional_edges("retrieve_records", who_picks)
    builder.add_conditional_edges("pick_sources", has_sources)
    builder.add_edge("answer_question", "verify_citations")
    builder.add_edge("verify_citations", "trace_evidence")
    builder.add_edge("trace_evidence", "restyle_citations")
    builder.add_edge("restyle_citations", END)
    builder.add_edge("report_no_evidence", END)
    return traced_briefly(builder)


graph = build().compile(name="local_search")
