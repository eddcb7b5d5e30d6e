"""Finding the records of a knowledge graph around a question, as sources to answer from."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from ragweave.nodes.events import emit
from ragweave.nodes.graph_search.access import no_graph_yet, search_records, searchable_graph
from ragweave.nodes.node import Node
from ragweave.state.base import RagState
from ragweave.state.context import context_of
from ragweave.state.local_search import GraphContext


def retrieve_records(context_type: type[GraphContext]) -> Node:
    """Make the node `retrieve_records` of a technique: one local search for the question itself."""

    async def retrieve_records(state: RagState, runtime: Runtime[Any]) -> dict[str, Any]:
        context = context_of(state, runtime.context, context_type)
        question = state["search_question"]
        graph = await searchable_graph(context, question)
        if graph is None:
            return {"sources": [], "warnings": [no_graph_yet(context)]}
        sources, excerpts = await search_records(question, graph, context)
        ids = [source["id"] for source in sources]
        emit(state, runtime, "retrieved", query=question, ids=ids)
        return {"sources": sources, "excerpts": excerpts, "warnings": graph.warnings}

    return retrieve_records
