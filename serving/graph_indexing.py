"""Building a knowledge graph of documents, for `local_search` and `drift`."""

from __future__ import annotations

import asyncio
import importlib
import os
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast

from ragweave.serving.techniques import settled
from ragweave.state.graph_index import GraphIndexContext, GraphIndexOutput

_PLANS = {
    "plan_extraction": ("extract", "to_extract"),
    "plan_summaries": ("summarize", "to_summarize"),
    "plan_reports": ("report", "to_report"),
}
"""By node, the stage that it plans, and where it puts what is to be asked."""
_ASKING = {"extract_unit", "summarize_description", "write_report"}


@dataclass(slots=True)
class BuildProgress:
    """How far a build has come."""

    stage: str = "load"
    """`load`, `extract`, `summarize`, `report` or `write`."""
    done: int = 0
    total: int = 0
    """Of this stage; reports are counted level by level."""
    calls: int = 0
    tokens: int = 0
    """What was spent so far, in and out."""

    def after(self, node: str, update: Mapping[str, Any]) -> bool:
        """Count what one node has done; whether there is anything to tell."""
        if node in _PLANS:
            self.stage, planned = _PLANS[node]
            self.done, self.total = 0, len(update.get(planned) or ())
            if node == "plan_reports" and update.get("level", 0) < 0:
                self.stage = "write"
        elif node in _ASKING:
            self.done += 1
            if usage := update.get("usage"):
                self.calls += usage["calls"]
                self.tokens += usage["input_tokens"] + usage["output_tokens"]
        return node in _PLANS or node in _ASKING


OnProgress = Callable[[BuildProgress], None]


async def agraph_index(
    *paths: str | os.PathLike[str],
    delete: Iterable[str] = (),
    on_progress: OnProgress | None = None,
    **settings: Any,
) -> GraphIndexOutput:
    """Build the knowledge graph of files and folders, or bring it up to date.

    Args:
        paths: files and folders.
        delete: ids or paths of documents to take out of the graph.
        on_progress: is called after every call of a model with how far the build has come.
        settings: any field of `GraphIndexContext`; None keeps a field's default.

    Raises:
        RagweaveError: whatever went wrong, in one line that says what to do. Files that cannot
            be read are no error; they are `failed` in the output.
    """
    context = settled(GraphIndexContext, settings, "setting of graph-index")
    graph = (await asyncio.to_thread(importlib.import_module, "ragweave.graphs.graph_index")).graph
    given = {"paths": [os.fspath(path) for path in paths], "delete": list(delete)}
    progress, state = BuildProgress(), dict[str, Any]()
    parts = graph.astream(given, context=context, stream_mode=["updates", "values"])
    async with aclosing(cast("AsyncGenerator[tuple[str, Any]]", parts)) as stream:
        async for mode, part in stream:
            if mode == "values":
                state = part
                continue
            for node, update in part.items():
                if progress.after(node, update or {}) and on_progress is not None:
                    on_progress(progress)
    output = {name: state[name] for name in GraphIndexOutput.__annotations__ if name in state}
    return cast("GraphIndexOutput", output)
