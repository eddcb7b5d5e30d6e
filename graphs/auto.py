"""A router: for each question the technique that suits it, picked by rules, with the reason.

1. Look at the index: has it documents, retrieval units, a knowledge graph? May the web be searched?
2. Search it once: is there a passage that seems to answer?
3. Pick by the form of the question (about a whole, of several sides, narrow, ...) and by what is
   there. No model is called for this.
4. Run that technique, a sub-graph, with the settings that it shares with this graph.

```mermaid
graph LR
    prepare --> inspect_index --> choose_technique
    choose_technique --> run_crag
    choose_technique --> run_rag_fusion
    choose_technique --> run_longrag
    choose_technique --> run_citation
    choose_technique --> run_local_search
    choose_technique --> run_drift
```
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START, StateGraph

from ragweave.graphs import citation, crag, drift, local_search, longrag, rag_fusion
from ragweave.nodes.index_abilities import inspect_index
from ragweave.nodes.policies import RETRY, TIMEOUT
from ragweave.nodes.prepare import prepare
from ragweave.nodes.route import choose_technique, run_technique
from ragweave.state.auto import AutoContext, AutoOutput, AutoState
from ragweave.state.base import Input


def which_technique(
    state: AutoState,
) -> Literal[
    "run_crag",
    "run_rag_fusion",
    "run_longrag",
    "run_citation",
    "run_local_search",
    "run_drift",
]:
    """The node of the technique that was picked."""
    return f"run_{state['technique']}"  # type: ignore[return-value]


def build() -> StateGraph[AutoState, AutoContext, Input, AutoOutput]:
    """The graph, not compiled, for those who want to change it."""
    builder = StateGraph(
        AutoState, context_schema=AutoContext, input_schema=Input, output_schema=AutoOutput
    )
    builder.add_node("prepare", prepare("auto", AutoState, AutoContext, condense=False))
    builder.add_node("inspect_index", inspect_index, retry_policy=RETRY, timeout=TIMEOUT)
    builder.add_node("choose_technique", choose_technique)
    # What can be tried again, and for how long, is for the nodes of the techniques to say.
    builder.add_node("run_crag", run_technique(crag.graph))
    builder.add_node("run_rag_fusion", run_technique(rag_fusion.graph))
    builder.add_node("run_longrag", run_technique(longrag.graph))
    builder.add_node("run_citation", run_technique(citation.graph))
    builder.add_node("run_local_search", run_technique(local_search.graph))
    builder.add_node("run_drift", run_technique(drift.graph))

    builder.add_edge(START, "prepare")
    builder.add_edge("prepare", "inspect_index")
    builder.add_edge("inspect_index", "choose_technique")
    builder.add_conditional_edges("choose_technique", which_technique)
    for technique in ("crag", "rag_fusion", "longrag", "citation", "local_search", "drift"):
        builder.add_edge(f"run_{technique}", END)
    return builder


graph = build().compile(name="auto")
