"""Answering an agent: a technique is run, and only what an agent has use for is kept."""

from __future__ import annotations

from typing import Any

from langgraph.graph.state import CompiledStateGraph

from ragweave.nodes.citations.cited import in_brief
from ragweave.nodes.node import Node
from ragweave.nodes.subgraph import as_node
from ragweave.state.brief import BriefAnswer, BriefState
from ragweave.state.errors import RagweaveError


def answer_briefly(graph: CompiledStateGraph[Any, Any, Any, Any]) -> Node:
    """A node that answers by a technique's graph, and gives back a `BriefAnswer`."""

    def given(state: BriefState) -> dict[str, str]:
        return {"question": state.get("question", "")}

    return as_node(graph, given=given, gives=in_brief, instead=_failure)


def _failure(error: RagweaveError) -> BriefAnswer:
    """What went wrong and what to do, as an answer.

    Of a run that fails, the server tells an agent the kind of error alone.
    """
    return BriefAnswer(answer=str(error), status="failed", sources=[], warnings=[])
