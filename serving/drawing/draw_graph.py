"""The page of an index's knowledge graph."""

from __future__ import annotations

import asyncio
from typing import Any

from ragweave.serving.drawing.graph_page import graph_page
from ragweave.serving.techniques import settled
from ragweave.state.context import IndexContext
from ragweave.stores.open_graph import open_graph


async def draw_graph(**settings: Any) -> str:
    """The HTML page that shows a graph; `settings` are `index` and `tenant`.

    Raises:
        IndexMissing: there is no graph.
    """
    context = settled(IndexContext, settings, "setting of a graph")
    graph = await open_graph(context.index, tenant=context.tenant)
    tables = await graph.tables()
    return await asyncio.to_thread(graph_page, tables, context.index)
