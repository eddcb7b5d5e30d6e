"""The techniques by name. A graph is imported when it is first asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, TypeVar

from ragweave.state.errors import InvalidSetting
from ragweave.state.unknown_name import unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from langgraph.graph.state import CompiledStateGraph

    from ragweave.state.context import IndexContext, RagContext

    Graph = CompiledStateGraph[Any, Any, Any, Any]

ContextT = TypeVar("ContextT", bound="IndexContext")

TECHNIQUES = {
    "crag": "Grade what was retrieved; search the web when it does not suffice.",
    "rag_fusion": "Search for several queries instead of one, and fuse what they find.",
    "longrag": "Retrieve few long units instead of many short chunks, and read them whole.",
    "citation": "Number small sources, and cite them in every sentence of the answer.",
    "local_search": "Answer from the records of a knowledge graph around the question.",
    "drift": "Start from community reports of a knowledge graph, and dig down by follow-ups.",
    "auto": "Pick one of the others for each question, by its form and by what the index has.",
}
"""What each technique does. Its graph is `ragweave.graphs.<name>.graph`."""

DEFAULT_TECHNIQUE = "crag"

GRAPH_TECHNIQUES = ("local_search", "drift")
"""Those that search the knowledge graph of an index."""

LISTED = ("ingest", "units", "graph-index", *TECHNIQUES)
"""What `ragweave settings` lists the settings of."""


def load(technique: str) -> Graph:
    """The compiled graph of a technique. The first call imports it, which takes a second.

    Raises:
        InvalidSetting: there is no such technique.
    """
    if technique not in TECHNIQUES:
        raise InvalidSetting(unknown("technique", technique, TECHNIQUES))
    graph: Graph = importlib.import_module(f"ragweave.graphs.{technique}").graph
    return graph


def context_type(graph: Graph) -> type[RagContext]:
    """The schema of a graph's context."""
    schema = graph.context_schema
    assert schema is not None
    return schema


def settled(schema: type[ContextT], settings: Mapping[str, Any], kind: str) -> ContextT:
    """A context with these settings; those that are None keep their default.

    Raises:
        InvalidSetting: there is no such setting (`kind` says of what), or a value does not fit.
    """
    given = {name: value for name, value in settings.items() if value is not None}
    listed = [word for word in kind.split() if word in LISTED]
    schema.expect_fields(given, kind, listed=listed)
    return schema(**given)
