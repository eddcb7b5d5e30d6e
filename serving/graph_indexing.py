"""Building a knowledge graph of documents, for `local_search` and `drift`."""

from __future__ import annotations

import asyncio
import importlib
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from ragweave.serving.techniques import settled
from ragweave.state.graph_index import GraphIndexContext

if TYPE_CHECKING:
    from ragweave.state.graph_index import GraphIndexOutput


async def agraph_index(
    *paths: str | os.PathLike[str], delete: Iterable[str] = (), **settings: Any
) -> GraphIndexOutput:
    """Build the knowledge graph of files and folders, or bring it up to date.

    Args:
        paths: files and folders.
        delete: ids or paths of documents to take out of the graph.
        settings: any field of `GraphIndexContext`; None keeps a field's default.

    Raises:
        RagweaveError: whatever went wrong, in one line that says what to do. Files that cannot
            be read are no error; they are `failed` in the output.
    """
    context = settled(GraphIndexContext, settings, "setting of graph-index")
    graph = (await asyncio.to_thread(importlib.import_module, "ragweave.graphs.graph_index")).graph
    given = {"paths": [os.fspath(path) for path in paths], "delete": list(delete)}
    return cast("GraphIndexOutput", await graph.ainvoke(given, context=context))
