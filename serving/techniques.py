"""The techniques by name. A graph is imported when it is first asked for."""

from __future__ import annotations

import importlib
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar

from ragweave.state.errors import InvalidSetting

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from langgraph.graph.state import CompiledStateGraph
    from pydantic import BaseModel

    from ragweave.state.context import RagContext

    Graph = CompiledStateGraph[Any, Any, Any, Any]

ContextT = TypeVar("ContextT", bound="BaseModel")

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
    from ragweave.state.context import context_of

    given = {name: value for name, value in settings.items() if value is not None}
    for name in given:
        if name not in schema.model_fields:
            listed = [word for word in kind.split() if word in LISTED]
            raise InvalidSetting(unknown(kind, name, schema.model_fields, listed=listed))
    return context_of({}, given, schema)


def unknown(kind: str, name: str, known: Iterable[str], *, listed: Sequence[str] = ()) -> str:
    """One line about a name that does not exist, with the nearest ones that do.

    Args:
        kind: what it should be a name of, such as "technique".
        name: what was given.
        known: the names that there are.
        listed: what `ragweave settings` lists them by; without it all are named if none is near.
    """
    names = list(known)
    near = _nearest(name, names)
    said = [f'There is no {kind} "{name}".']
    if near:
        said.append(f"Did you mean {' or '.join(near)}?")
    if listed:
        commands = " and ".join(f"`ragweave settings {subject}`" for subject in listed)
        said.append(f"{commands} {'lists' if len(listed) == 1 else 'list'} all.")
    elif not near:
        said.append(f"There are: {', '.join(names)}.")
    return " ".join(said)


def _nearest(name: str, names: Sequence[str]) -> list[str]:
    """Names that are spelled alike, or else that share a word with it."""
    words = set(name.lower().replace("-", "_").split("_"))
    sharing = [known for known in names if words & set(known.split("_"))]
    return get_close_matches(name, names, n=3) or sharing[:3]
