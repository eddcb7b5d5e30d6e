"""From an index's name to the index, opened once for each event loop, process and tenant."""

from __future__ import annotations

import asyncio
import os
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, cast
from weakref import WeakKeyDictionary

from ragweave.state.errors import InvalidSetting
from ragweave.stores.base import Index
from ragweave.stores.open_graph import aclose_graphs

if TYPE_CHECKING:
    from langchain_core.retrievers import BaseRetriever

_BACKENDS = {  # (module, class); imported when the first index of its kind is opened
    "lance": ("ragweave.stores.lance.index", "LanceIndex"),
    "weaviate": ("ragweave.stores.weaviate.index", "WeaviateIndex"),
}
_KINDS = "lance:PATH, weaviate:URL"

_Key = tuple[int, str, str, str | None]
"""Process (a forked one shares no connection), working folder, name, tenant."""

_registered: dict[str, Index] = {}
_lock = Lock()
_opened: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[_Key, Index]] = WeakKeyDictionary()


def register(name: str, index: Index | BaseRetriever) -> None:
    """Make an index or a LangChain retriever of one's own known under `name`, in this process.

    Registering a name again replaces what it stood for. Whoever registers an index closes it.

    Raises:
        InvalidSetting: the name is empty or has a colon, or `index` is neither.
    """
    from langchain_core.retrievers import BaseRetriever

    from ragweave.stores.retriever import RetrieverIndex

    if not name or ":" in name:
        raise InvalidSetting(f'"{name}" cannot be registered: take a name without a colon.')
    if isinstance(index, BaseRetriever):
        _registered[name] = RetrieverIndex(index, name=name)
    elif isinstance(index, Index):
        _registered[name] = index
    else:
        raise InvalidSetting(
            f"{type(index).__name__} cannot be registered: it is neither an index nor a "
            "LangChain retriever (BaseRetriever)."
        )


async def open_index(name: str, *, tenant: str | None = None) -> Index:
    """The index called `name`, for `tenant`. It need not exist yet, and is connected to on use.

    `lance:PATH?name=docs`, `weaviate:URL?collection=Docs`, or a name given to `register`.

    Raises:
        InvalidSetting: there is no such kind of index, or no such registered name.
    """
    if name in _registered:
        return _registered_index(name, tenant)
    kind, colon, _ = name.partition(":")
    if not colon or kind not in _BACKENDS:
        raise InvalidSetting(_unknown(name, kind if colon else None))
    opened = _opened_here()
    key = (os.getpid(), await asyncio.to_thread(_working_folder), name, tenant)
    if key not in opened:
        opened.setdefault(key, await asyncio.to_thread(_build, kind, name, tenant))
    return opened[key]


async def aclose_all() -> None:
    """Close indexes and graphs opened on the running event loop; call it before the loop ends."""
    opened = _opened_here()
    indexes = list(opened.values())
    opened.clear()
    await asyncio.gather(*(index.aclose() for index in indexes), aclose_graphs())


def _opened_here() -> dict[_Key, Index]:
    with _lock:
        for loop in list(_opened):  # an index may refer to its loop and so keep it alive
            if loop.is_closed():
                del _opened[loop]
        return _opened.setdefault(asyncio.get_running_loop(), {})


def _registered_index(name: str, tenant: str | None) -> Index:
    if tenant is not None:
        raise InvalidSetting(
            f'"{name}" is a registered index and has no tenants. '
            "Leave the tenant out, or register an index for each."
        )
    return _registered[name]


def _build(kind: str, name: str, tenant: str | None) -> Index:
    module, backend = _BACKENDS[kind]
    return cast("Index", getattr(import_module(module), backend).from_url(name, tenant=tenant))


def _working_folder() -> str:
    """What relative paths start from; "" if it has been deleted."""
    try:
        return str(Path.cwd())
    except OSError:
        return ""


def _unknown(name: str, kind: str | None) -> str:
    if kind == "graphrag":
        return (
            f"{name} cannot be searched for chunks: it holds GraphRAG's output, which "
            "drift and local_search read."
        )
    if kind is not None:
        return (
            f'Unknown kind of index "{kind}:" in {name}. Known: {_KINDS}, and graphrag:PATH for '
            "local_search and drift."
        )
    known = ", ".join(sorted(_registered)) or "none"
    return f'There is no index "{name}". Write {_KINDS}, or register it (registered: {known}).'
