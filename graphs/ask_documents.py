"""The router for agents: the same answer in few words, without the texts that were read.

1. Run `auto`, which picks a technique, as a sub-graph.
2. Keep the answer, its warnings, and of the sources those that it cites, with their quotes.

The other graphs give all that was read, for people who check it and programs that show it. As the
result of a tool that would be tens of thousands of tokens in an agent's conversation.

```mermaid
graph LR
    START --> answer_briefly --> END
```
"""

from __future__ import annotations

from langgraph.graph import END, START, StateGraph

from ragweave.graphs import auto
from ragweave.nodes.brief import answer_briefly
from ragweave.state.auto import AutoContext
from ragweave.state.brief import BriefAnswer, BriefInput, BriefState


def build() -> StateGraph[BriefState, AutoContext, BriefInput, BriefAnswer]:
    """The graph, not compiled, for those who want to change it."""
    builder = StateGraph(
        BriefState, context_schema=AutoContext, input_schema=BriefInput, output_schema=BriefAnswer
    )
    builder.add_node("answer_briefly", answer_briefly(auto.graph))
    builder.add_edge(START, "answer_briefly")
    builder.add_edge("answer_briefly", END)
    return builder


graph = build().compile(name="ask_documents")
