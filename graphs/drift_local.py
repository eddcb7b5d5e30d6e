"""One local search of DRIFT, as the sub-graph that every follow-up question runs through.

1. Gather the records around the follow-up: reports, entities, relationships, text units.
2. Answer it from them, score the answer for the overall question, and suggest what to ask next.

```mermaid
graph LR
    build_local_context --> answer_follow_up
```
"""

from __future__ import annotations

from langgraph.graph import END, START, StateGraph

from ragweave.nodes.drift.local import answer_follow_up, build_local_context
from ragweave.nodes.policies import RETRY, TIMEOUT
from ragweave.nodes.tracing import traced_briefly
from ragweave.state.drift import DriftContext, LocalResult, LocalState, LocalTask


def build() -> StateGraph[LocalState, DriftContext, LocalTask, LocalResult]:
    """The graph, not compiled, for those who want to change it."""
    builder = StateGraph(
        LocalState, context_schema=DriftContext, input_schema=LocalTask, output_schema=LocalResult
    )
    builder.set_node_defaults(retry_policy=RETRY, timeout=TIMEOUT)
    builder.add_node("build_local_context", build_local_context)
    builder.add_node("answer_follow_up", answer_follow_up)

    builder.add_edge(START, "build_local_context")
    builder.add_edge("build_local_context", "answer_follow_up")
    builder.add_edge("answer_follow_up", END)
    return traced_briefly(builder)


graph = build().compile(name="drift_local")
