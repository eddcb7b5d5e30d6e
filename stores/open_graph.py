"""From an index's name to its knowledge graph, opened once for each event loop."""

from __future__ import annotations

import asyncio
import os
from importlib import import_module
from pathlib import Path
from threading import Lock
from weakref import WeakKeyDictionary

from ragweave.state.errors import InvalidSetting
from ragweave.stores.graph import GraphIndex, GraphReader

_BACKENDS = {  # (module, class); imported when the first graph of its kind is opened
    "graphrag": ("ragweave.stores.graphrag.folder", "GraphRagFolder"),
    "lance": ("ragweave.stores.lance.graph", "LanceGraph"),
    "weaviate": ("ragweave.stores.weaviate.graph", "WeaviateGraph"),
}
_KINDS = "lance:PATH, weaviate:URL, graphrag:PATH"

_Key = tuple[int, Path | None, str, str | None]
"""Process, working folder if the name's path starts there, name, tenant."""

_registered: dict[str, GraphReader] = {}
_opened: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[_Key, GraphIndex]] = WeakKeyDictionary()
_lock = Lock()


def register_graph(name: str, graph: GraphReader) -> None:
    """Make a graph index of one's own known under `name`, in this process.

    Raises:
        InvalidSetting: the name is empty or has a colon.
    """
    if not name or ":" in name:
        raise InvalidSetting(f'"{name}" cannot be registered: take a name without a colon.')
    _registered[name] = graph


async def open_graph(name: str, *, tenant: str | None = None) -> GraphReader:
    """The knowledge graph of the index called `name`.

    Nothing is read yet; a graph that is not there is noticed at its first use.

    Raises:
        InvalidSetting: no index of that kind holds a graph.
    """
    if name in _registered:
        return _registered[name]
    kind, colon, _ = name.partition(":")
    if not colon or kind not in _BACKENDS:
        raise InvalidSetting(f'"{name}" names no knowledge graph. Known: {_KINDS}.')
    folder = None if Path(_path_in(name)).is_absolute() else await asyncio.to_thread(Path.cwd)
    key = (os.getpid(), folder, name, tenant)
    opened = _opened_here()
    if key not in opened:
        opened.setdefault(key, await asyncio.to_thread(_build, kind, name, tenant))
    return opened[key]


async def aclose_graphs() -> None:
    """Close what was opened on the running event loop."""
    opened = _opened_here()
    graphs = list(opened.values())
    opened.clear()
    await asyncio.gather(*(graph.aclose() for graph in graphs))


def _path_in(name: str) -> str:
    return name.partition(":")[2].partition("?")[0]


def _opened_here() -> dict[_Key, GraphIndex]:
    with _lock:
        for loop in list(_opened):  # a graph may refer to its loop and so keep it alive
            if loop.is_closed():
                del _opened[loop]
        return _opened.setdefault(asyncio.get_running_loop(), {})


def _build(kind: str, name: str, tenant: str | None) -> GraphIndex:
    module, backend = _BACKENDS[kind]
    built: GraphIndex = getattr(import_module(module), backend).from_url(name, tenant=tenant)
    return built
