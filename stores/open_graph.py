"""From an index's name to its knowledge graph, opened once for each event loop."""

from __future__ import annotations

import asyncio
from threading import Lock
from weakref import WeakKeyDictionary

from ragweave.state.errors import InvalidSetting
from ragweave.stores import graphrag
from ragweave.stores.graph import GraphReader

_registered: dict[str, GraphReader] = {}
_opened: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, GraphReader]] = WeakKeyDictionary()
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
    with _lock:
        here = _opened.setdefault(asyncio.get_running_loop(), {})
        key = f"{tenant or ''}\0{name}"
        if key not in here:
            here[key] = _built(name, tenant)
        return here[key]


def _built(name: str, tenant: str | None) -> GraphReader:
    if name.startswith(graphrag.PREFIX):
        return graphrag.GraphRagFolder(name)
    raise InvalidSetting(
        f"{name} holds no knowledge graph. Name the output folder of GraphRAG, graphrag:PATH."
    )
