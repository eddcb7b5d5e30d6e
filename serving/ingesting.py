"""Filling an index."""

from __future__ import annotations

import asyncio
import importlib
import os
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from ragweave.serving.techniques import settled
from ragweave.state.ingest import IngestContext, IngestOutput

if TYPE_CHECKING:
    from langchain_core.documents import Document

    from ragweave.state.ingest import Ingesting, Interrupted

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
        InvalidSetting: a path does not exist, there is no such setting, or a value does not fit.
        RagweaveError: whatever else went wrong. Files that cannot be read are no error; they are
            `failed` in the output.
    """
    context = settled(IngestContext, settings, "setting of ingest")
    graph = (await asyncio.to_thread(importlib.import_module, "ragweave.graphs.ingest")).graph
    given = {"paths": [os.fspath(path) for path in paths], "documents": documents}
    parts = graph.astream(given, context=context, stream_mode=["custom", "values"])
    state: dict[str, Any] = {}
    async with aclosing(cast("AsyncGenerator[tuple[str, Any]]", parts)) as stream:
        async for mode, part in stream:
            if mode == "values":
                state = part
            elif on_progress is not None:
                on_progress(part)
    return cast("IngestOutput", {name: state[name] for name in IngestOutput.__annotations__})
