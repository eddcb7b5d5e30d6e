"""DRIFT: start wide, from community reports, and dig down by follow-up questions.

1. Write a hypothetical answer in the form of a report, and select the reports that are like it.
2. Prime: read them in folds, for a first answer, its score, and questions to follow up.
3. Search the best of these locally, in parallel; each answer is scored and suggests more.
4. Dig on, level by level, while questions are new, scores rise, and depth and budget allow.
5. Reduce all partial answers, weighed by their scores, to one; verify and trace its citations.

After Microsoft's GraphRAG: Whiting et al., Introducing DRIFT Search, 2024.

```mermaid
graph LR
    prepare -->|over the limit| approve_cost --> write_hypothesis
    prepare --> write_hypothesis --> select_reports --> prime_reports --> plant_root
    select_reports -->|no reports| plant_root
    plant_root --> rank_follow_ups -->|dig deeper| search_local --> rank_follow_ups
    rank_follow_ups --> reduce_answers --> verify_citations
    rank_follow_ups -->|reduce off| report_tree
    rank_follow_ups -->|nothing answered| retrieve_records --> answer_question
    answer_question --> verify_citations --> trace_evidence --> return_context
    return_context --> restyle_citations
    retrieve_records -->|nothing found| report_no_evidence
    approve_cost -->|refused| retrieve_records
```
"""

from __future__ import annotations

from typing import Any, Literal

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from ragweave.graphs import drift_local
from ragweave.nodes.answer import answer_question
from ragweave.nodes.citations.data_references import restyle_citations
from ragweave.nodes.drift.approve_cost import approve_cost, most_calls
from ragweave.nodes.drift.follow_ups import Ranking, by_score_and_similarity, rank_follow_ups
from ragweave.nodes.drift.hypothesis import select_reports, write_hypothesis
from ragweave.nodes.drift.primer import folds_of, plant_root, prime_reports
from ragweave.nodes.drift.reduce import reduce_answers, report_tree
from ragweave.nodes.drift.tree import answered, current
from ragweave.nodes.graph_search.evidence import return_context, trace_evidence
from ragweave.nodes.graph_search.local_records import retrieve_records
from ragweave.nodes.no_evidence import has_sources, report_no_evidence
from ragweave.nodes.policies import RETRY, TIMEOUT
from ragweave.nodes.prepare import prepare
from ragweave.nodes.subgraph import as_node
from ragweave.nodes.tracing import traced_briefly
from ragweave.nodes.verify import verify_citations
from ragweave.state.base import Input, carried
from ragweave.state.context import context_of
from ragweave.state.drift import DriftContext, DriftOutput, DriftState, FoldTask, LocalTask


def needs_approval(state: DriftState) -> Literal["approve_cost", "write_hypothesis"]:
    """Whether the run may cost more than a person wants without being asked."""
    context = context_of(state, None, DriftContext)
    limit = context.approve_above_calls
    asks = limit is not None and most_calls(context) > limit
    return "approve_cost" if asks else "write_hypothesis"


def was_approved(state: DriftState) -> Literal["write_hypothesis", "retrieve_records"]:
    """What the person said; refused, one local search answers."""
    return "retrieve_records" if state.get("refused") else "write_hypothesis"


def how_to_prime(state: DriftState) -> list[Send] | Literal["plant_root"]:
    """One call for each fold of the reports, if there are any."""
    folds = folds_of(state["reports"], context_of(state, None, DriftContext).primer_folds)
    if not folds:
        return "plant_root"
    return [
        Send("prime_reports", {**_shared(state), "number": number, "reports": reports})
        for number, reports in enumerate(folds, 1)
    ]


def should_dig_deeper(
    state: DriftState,
) -> list[Send] | Literal["reduce_answers", "report_tree", "retrieve_records"]:
    """Search what was ranked; else end with one answer, with the tree, or with what is at hand."""
    actions = current(state["actions"]).values()
    pending = [action for action in actions if action["status"] == "pending"]
    if pending:
        return [Send("search_local", {**_shared(state), "action": action}) for action in pending]
    if not context_of(state, None, DriftContext).reduce:
        return "report_tree"
    return "reduce_answers" if answered(actions) else "retrieve_records"


def _shared(state: DriftState) -> dict[str, Any]:
    """What both kinds of task need of the state."""
    questions = {name: state[name] for name in ("question", "search_question")}
    return {**carried(state), **questions}


def build(
    ranking: Ranking = by_score_and_similarity,
) -> StateGraph[DriftState, DriftContext, Input, DriftOutput]:
    """The graph, not compiled, for those who want to change it; `ranking` orders follow-ups."""
    builder = StateGraph(
        DriftState, context_schema=DriftContext, input_schema=Input, output_schema=DriftOutput
    )
    builder.set_node_defaults(retry_policy=RETRY, timeout=TIMEOUT)
    builder.add_node("prepare", prepare("drift", DriftState, DriftContext))
    builder.add_node("approve_cost", approve_cost)
    builder.add_node("write_hypothesis", write_hypothesis)
    builder.add_node("select_reports", select_reports)
    builder.add_node("prime_reports", prime_reports, input_schema=FoldTask)
    builder.add_node("plant_root", plant_root)
    builder.add_node("rank_follow_ups", rank_follow_ups(ranking))
    builder.add_node("search_local", as_node(drift_local.graph), input_schema=LocalTask)
    builder.add_node("reduce_answers", reduce_answers)
    builder.add_node("report_tree", report_tree)
    builder.add_node("retrieve_records", retrieve_records(DriftContext))
    builder.add_node("answer_question", answer_question)
    builder.add_node("report_no_evidence", report_no_evidence)
    builder.add_node("verify_citations", verify_citations)
    builder.add_node("trace_evidence", trace_evidence)
    builder.add_node("return_context", return_context)
    builder.add_node("restyle_citations", restyle_citations)

    builder.add_edge(START, "prepare")
    builder.add_conditional_edges("prepare", needs_approval)
    builder.add_conditional_edges("approve_cost", was_approved)
    builder.add_edge("write_hypothesis", "select_reports")
    builder.add_conditional_edges("select_reports", how_to_prime, ["prime_reports", "plant_root"])
    builder.add_edge("prime_reports", "plant_root")
    builder.add_edge("plant_root", "rank_follow_ups")
    builder.add_conditional_edges(
        "rank_follow_ups",
        should_dig_deeper,
        ["search_local", "reduce_answers", "report_tree", "retrieve_records"],
    )
    builder.add_edge("search_local", "rank_follow_ups")
    builder.add_edge("reduce_answers", "verify_citations")
    builder.add_edge("report_tree", END)
    builder.add_conditional_edges("retrieve_records", has_sources)
    builder.add_edge("answer_question", "verify_citations")
    builder.add_edge("report_no_evidence", END)
    builder.add_edge("verify_citations", "trace_evidence")
    builder.add_edge("trace_evidence", "return_context")
    builder.add_edge("return_context", "restyle_citations")
    builder.add_edge("restyle_citations", END)
    return traced_briefly(builder)


graph = build().compile(name="drift")
