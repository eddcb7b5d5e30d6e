"""Filling an index, and grouping what is in it."""

from __future__ import annotations

import asyncio
import importlib
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, cast

from ragweave.nodes.group_units import build_units
from ragweave.nodes.running import values_at_the_end
from ragweave.serving.techniques import settled
from ragweave.state.ingest import IngestContext, IngestOutput
from ragweave.state.units import UnitsContext
from ragweave.stores import open_index

if TYPE_CHECKING:
    from langchain_core.documents import Document

    from ragweave.state.ingest import Ingesting, Interrupted
    from ragweave.state.units import UnitsReport

    OnProgress = Callable[[Ingesting | Interrupted], None]


async def aingest(
    *paths: str | os.PathLike[str],
    documents: Iterable[Document] = (),
    on_progress: OnProgress | None = None,
    **settings: Any,
) -> IngestOutput:
    """Ingest files, folders and documents in memory. What did not change is not embedded again.

    Args:
        paths: files and folders.
        documents: LangChain documents, or any iterable of them such as a loader's `lazy_load()`.
        on_progress: called each time something was stored, found unchanged, or failed.
        settings: any field of `IngestContext`; None keeps a field's default.

    Raises:
        InvalidSetting: a path does not exist, the paths hold nothing to read, there is no such
            setting, or a value does not fit.
        RagweaveError: whatever else went wrong. Files that cannot be read are no error; they are
            `failed` in the output.
    """
    context = settled(IngestContext, settings, "setting of ingest")
    graph = (await asyncio.to_thread(importlib.import_module, "ragweave.graphs.ingest")).graph
    given = {"paths": [os.fspath(path) for path in paths], "documents": documents}
    show = on_progress or (lambda event: None)
    state = await values_at_the_end(graph, given, show=show, context=context)
    return cast("IngestOutput", {name: state[name] for name in IngestOutput.__annotations__})


async def agroup(
    *, on_progress: Callable[[int, int], None] | None = None, **settings: Any
) -> UnitsReport:
    """Group an index's documents into the retrieval units of LongRAG. Nothing is embedded.

    Args:
        on_progress: called with the number of documents read, and of all documents.
        settings: any field of `UnitsContext`; None keeps a field's default.

    Raises:
        RagweaveError: whatever went wrong, in one line that says what to do.
    """
    context = settled(UnitsContext, settings, "setting of units")
    index = await open_index(context.index, tenant=context.tenant)
    return await build_units(index, context, on_progress)
