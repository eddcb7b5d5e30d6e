"""Is there anything to search for a question? Asked where a person waits for the answer.

A graph answers `no_evidence` when the default index was not made yet, since a server may run before
the first document comes. Whoever types a question is told what to do instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from ragweave.nodes.graph_search.access import no_graph_yet
from ragweave.nodes.index_abilities import has_graph
from ragweave.nodes.retrieve import no_index_yet, searchable_index
from ragweave.nodes.web import web_is_configured
from ragweave.serving.techniques import GRAPH_TECHNIQUES, context_type, load, settled
from ragweave.state.context import DEFAULT_INDEX, RagContext
from ragweave.state.errors import IndexMissing


async def expect_searchable(technique: str, settings: Mapping[str, Any]) -> None:
    """Check that a technique finds an index, or may search the web.

    An index that was named is left to the technique, which raises if it is not there.

    Raises:
        IndexMissing: the default index was not made yet, and the web is not searched either.
        InvalidSetting: a setting does not exist or does not fit.
    """
    graph = await asyncio.to_thread(load, technique)
    context = settled(context_type(graph), settings, f"setting of {technique}")
    if context.index != DEFAULT_INDEX or _searches_the_web(context):
        return
    if technique in GRAPH_TECHNIQUES:
        if not await has_graph(context):
            raise IndexMissing(no_graph_yet(context))
        return
    _, spec = await searchable_index(context)
    if spec is None and not (technique == "auto" and await has_graph(context)):
        raise IndexMissing(no_index_yet(context))


def _searches_the_web(context: RagContext) -> bool:
    return getattr(context, "web_search", "never") != "never" and web_is_configured()
