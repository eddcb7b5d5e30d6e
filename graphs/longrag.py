"""LongRAG: retrieve few long units instead of many short chunks, and read them whole.

1. Documents that belong together were grouped into units when they were indexed.
2. Retrieve the units with the best chunks.
3. If they fit the reader, read them in one call; if not, read batches of them at once and merge.
4. If wanted, make a short answer of the long one, as in the paper.
5. Citations point at the documents of a unit, and are verified without a model call.

Paper: Jiang, Ma and Chen, LongRAG: Enhancing Retrieval-Augmented Generation with Long-context
LLMs, arXiv 2406.15319.

```mermaid
graph LR
    prepare --> retrieve_units --> plan_reading
    retrieve_units -->|a person picks| pick_sources --> plan_reading
    plan_reading -->|fits one call| answer_question --> verify_citations
    plan_reading -->|each batch| read_batch --> merge_readings --> verify_citations
    merge_readings -->|short answer wanted| shorten_answer --> verify_citations
    plan_reading -->|nothing found| report_no_evidence
    merge_readings -->|nothing read| report_no_evidence
```
"""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from ragweave.nodes.answer import answer_question
from ragweave.nodes.merge import merge_readings, shorten_answer
from ragweave.nodes.no_evidence import report_no_evidence
from ragweave.nodes.pick_sources import pick_sources, wants_to_pick
from ragweave.nodes.plan_reading import plan_reading
from ragweave.nodes.policies import RETRY, TIMEOUT
from ragweave.nodes.prepare import prepare
from ragweave.nodes.read import read_batch
from ragweave.nodes.retrieve_units import retrieve_units
from ragweave.nodes.tracing import traced_briefly
from ragweave.nodes.verify import verify_citations
from ragweave.state.base import Input, Output, carried
from ragweave.state.context import context_of
from ragweave.state.longrag import LongRagContext, LongRagState, ReadTask


def who_picks(state: LongRagState) -> Literal["pick_sources", "plan_reading"]:
    """Whether a person wants to pick what is read."""
    return "pick_sources" if wants_to_pick(state) else "plan_reading"


def how_to_read(
    state: LongRagState,
) -> list[Send] | Literal["answer_question", "report_no_evidence"]:
    """In one call, in parallel batches, or not at all.

    Where a short answer is wanted, the long one is read like a batch: nobody sees it being written.
    """
    batches, sources = state["batches"], state["sources"]
    if not batches:
        return "report_no_evidence"
    if len(batches) == 1 and not context_of(state, None, LongRagContext).short_answer:
        return "answer_question"
    return [
        Send(
            "read_batch",
            ReadTask(
                **carried(state),
                question=state["question"],
                batch=at,
                sources=sources[numbers[0] - 1 : numbers[-1]],
            ),
        )
        for at, numbers in enumerate(batches, 1)
    ]


def wants_short_answer(
    state: LongRagState,
) -> Literal["shorten_answer", "verify_citations", "report_no_evidence"]:
    """Whether anything was read, and whether it is to be made shorter."""
    if state.get("long_answer"):
        return "shorten_answer"
    return "verify_citations" if state.get("draft") else "report_no_evidence"


def build() -> StateGraph[LongRagState, LongRagContext, Input, Output]:
    """The graph, not compiled, for those who want to change it."""
    builder = StateGraph(
        LongRagState, context_schema=LongRagContext, input_schema=Input, output_schema=Output
    )
    builder.set_node_defaults(retry_policy=RETRY, timeout=TIMEOUT)
    builder.add_node("prepare", prepare("longrag", LongRagState, LongRagContext))
    builder.add_node("retrieve_units", retrieve_units)
    builder.add_node("pick_sources", pick_sources("sources"))
    builder.add_node("plan_reading", plan_reading)
    builder.add_node("read_batch", read_batch, input_schema=ReadTask)
    builder.add_node("merge_readings", merge_readings)
    builder.add_node("shorten_answer", shorten_answer)
    builder.add_node("answer_question", answer_question)
    builder.add_node("report_no_evidence", report_no_evidence)
    builder.add_node("verify_citations", verify_citations)

    builder.add_edge(START, "prepare")
    builder.add_edge("prepare", "retrieve_units")
    builder.add_conditional_edges("retrieve_units", who_picks)
    builder.add_edge("pick_sources", "plan_reading")
    builder.add_conditional_edges(
        "plan_reading", how_to_read, ["read_batch", "answer_question", "report_no_evidence"]
    )
    builder.add_edge("read_batch", "merge_readings")
    builder.add_conditional_edges("merge_readings", wants_short_answer)
    builder.add_edge("shorten_answer", "verify_citations")
    builder.add_edge("answer_question", "verify_citations")
    builder.add_edge("verify_citations", END)
    builder.add_edge("report_no_evidence", END)
    return traced_briefly(builder)


graph = build().compile(name="longrag")
