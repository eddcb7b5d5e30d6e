"""Build a knowledge graph of documents, and keep it up to date.

1. Load what is new or has changed, and cut it into text units; note what is gone.
2. Extract entities and relationships of each unit, with bounded gleaning, or by the corpus's terms.
3. Merge what means the same; summarise descriptions only where they have become too long.
4. Find communities by hierarchical Leiden, and write their reports, the finest level first.
5. Embed and write what has changed, and delete the rest, so that nothing leads nowhere.

Every answer is kept by what was asked: a run that was cut off repeats no finished call.

After GraphRAG: Edge et al., From Local to Global, arXiv 2404.16130.

```mermaid
graph LR
    prepare_graph_index --> load_documents --> plan_extraction --> extract_unit --> plan_summaries
    plan_extraction -->|nothing to ask| plan_summaries
    plan_summaries --> summarize_description --> plan_reports
    plan_summaries -->|none too long| plan_reports
    plan_reports --> write_report --> next_level --> plan_reports
    plan_reports -->|all levels| write_graph
```
"""

from __future__ import annotations

from typing import Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from ragweave.nodes.graph_build.answers import extract_unit, summarize_description, write_report
from ragweave.nodes.graph_build.documents import load_documents, prepare_graph_index
from ragweave.nodes.graph_build.finish import write_graph
from ragweave.nodes.graph_build.steps import (
    next_level,
    plan_extraction,
    plan_reports,
    plan_summaries,
)
from ragweave.nodes.policies import RETRY
from ragweave.state.base import carried
from ragweave.state.context import context_of
from ragweave.state.graph_index import (
    GraphIndexContext,
    GraphIndexInput,
    GraphIndexOutput,
    GraphIndexState,
)


def what_to_extract(state: GraphIndexState) -> list[Send] | Literal["plan_summaries", "__end__"]:
    """One call for each text unit that was not extracted yet; none of a dry run."""
    if context_of(state, None, GraphIndexContext).dry_run:
        return "__end__"
    tasks = _tasks(state, "extract_unit", [{"unit_id": unit} for unit in state["to_extract"]])
    return tasks or "plan_summaries"


def what_to_summarize(state: GraphIndexState) -> list[Send] | Literal["plan_reports"]:
    """One call for each description that has become too long."""
    return _tasks(state, "summarize_description", state["to_summarize"]) or "plan_reports"


def what_to_report(
    state: GraphIndexState,
) -> list[Send] | Literal["next_level", "write_graph"]:
    """One call for each community of this level whose report is not there; then the next level."""
    if state["level"] < 0:
        return "write_graph"
    tasks = _tasks(state, "write_report", [{"text": text} for text in state["to_report"]])
    return tasks or "next_level"


def _tasks(state: GraphIndexState, node: str, payloads: list[dict[str, Any]]) -> list[Send]:
    return [Send(node, {**carried(state), **payload}) for payload in payloads]


def build() -> StateGraph[GraphIndexState, GraphIndexContext, GraphIndexInput, GraphIndexOutput]:
    """The graph, not compiled, for those who want to change it."""
    builder = StateGraph(
        GraphIndexState,
        context_schema=GraphIndexContext,
        input_schema=GraphIndexInput,
        output_schema=GraphIndexOutput,
    )
    builder.set_node_defaults(retry_policy=RETRY)  # no timeout: loading takes as long as the files
    builder.add_node("prepare_graph_index", prepare_graph_index)
    builder.add_node("load_documents", load_documents)
    builder.add_node("plan_extraction", plan_extraction)
    builder.add_node("extract_unit", extract_unit)
    builder.add_node("plan_summaries", plan_summaries)
    builder.add_node("summarize_description", summarize_description)
    builder.add_node("plan_reports", plan_reports)
    builder.add_node("write_report", write_report)
    builder.add_node("next_level", next_level)
    builder.add_node("write_graph", write_graph)

    builder.add_edge(START, "prepare_graph_index")
    builder.add_edge("prepare_graph_index", "load_documents")
    builder.add_edge("load_documents", "plan_extraction")
    builder.add_conditional_edges(
        "plan_extraction", what_to_extract, ["extract_unit", "plan_summaries", END]
    )
    builder.add_edge("extract_unit", "plan_summaries")
    builder.add_conditional_edges(
        "plan_summaries", what_to_summarize, ["summarize_description", "plan_reports"]
    )
    builder.add_edge("summarize_description", "plan_reports")
    builder.add_conditional_edges(
        "plan_reports", what_to_report, ["write_report", "next_level", "write_graph"]
    )
    builder.add_edge("write_report", "next_level")
    builder.add_edge("next_level", "plan_reports")
    builder.add_edge("write_graph", END)
    return builder


graph = build().compile(name="graph_index")
