"""From a model's name to the model. Names are plain strings, so contexts and checkpoints are too.

`offline`; `openai:MODEL` (OPENAI_API_KEY, or OPENAI_BASE_URL for any compatible server);
`PROVIDER:MODEL` for the other providers of LangChain; or a name given to `register`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from typing import TypeVar

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel

from ragweave.models.loops import PerLoop, close_with_loop
from ragweave.models.providers import build_chat_model, build_embeddings
from ragweave.state.errors import InvalidSetting

T = TypeVar("T")

OFFLINE = "offline"

_OWN_EMBEDDINGS = (
    " Your own: call `ragweave.models.register` with this name first; RagweaveVectorStore keeps "
    "the name given as `embeddings_name=` with an index that it makes."
)

_chat_models: dict[str, BaseChatModel] = {}
_embeddings: dict[str, Embeddings] = {}


class _Built:
    """Models built for one event loop."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.chat_models: dict[str, BaseChatModel] = {}
        self.embeddings: dict[str, Embeddings] = {}
        self.clients: list[AsyncGenerator[None, None]] = []


_built = PerLoop(_Built)


def register(name: str, model: BaseChatModel | Embeddings) -> None:
    """Make a chat model or embeddings of one's own known under `name`, in this process.

    One name can stand for both. Registering it again replaces what it stood for.

    Raises:
        InvalidSetting: the name is empty, has a colon or is `offline`, or `model` is neither a
            chat model nor embeddings.
    """
    if not name or ":" in name or name == OFFLINE:
        raise InvalidSetting(f'"{name}" cannot be registered: take a name without a colon.')
    if isinstance(model, BaseChatModel):
        _chat_models[name] = model
    elif isinstance(model, Embeddings):
        _embeddings[name] = model
    else:
        raise InvalidSetting(
            f"{type(model).__name__} cannot be registered: it is neither a LangChain chat model "
            "(BaseChatModel) nor Embeddings."
        )


async def chat_model(name: str) -> BaseChatModel:
    """The chat model of that name, built once for the running event loop.

    Raises:
        InvalidSetting: there is no such model, or its package or key is missing.
    """
    if name in _chat_models:
        return _chat_models[name]
    _check_known(name, "chat model", _chat_models)
    return await _build_once(name, _built.get().chat_models, _build_chat_model)


async def embeddings(name: str) -> Embeddings:
    """The embeddings of that name, built once for the running event loop.

    Raises:
        InvalidSetting: there are no such embeddings, or their package or key is missing.
    """
    if name in _embeddings:
        return _embeddings[name]
    _check_known(name, "embeddings", _embeddings, _OWN_EMBEDDINGS)
    return await _build_once(name, _built.get().embeddings, _build_embeddings)


async def _build_once(name: str, built: dict[str, T], build: Callable[[str], T]) -> T:
    here = _built.get()
    async with here.lock:
        if name not in built:
            # Packages are imported and certificates read: up to seconds of blocking.
            model = await asyncio.to_thread(build, name)
            client = getattr(model, "http_async_client", None)
            if client is not None:
                here.clients.append(await close_with_loop(client.aclose))
            built[name] = model
    return built[name]


def _build_chat_model(name: str) -> BaseChatModel:
    if name == OFFLINE:
        from ragweave.models.offline.chat import ExtractiveChatModel

        return ExtractiveChatModel()
    return build_chat_model(name)


def _build_embeddings(name: str) -> Embeddings:
    if name == OFFLINE:
        from ragweave.models.offline.embeddings import OfflineEmbeddings

        return OfflineEmbeddings()
    return build_embeddings(name)


def _check_known(name: str, kind: str, registered: Iterable[str], advice: str = "") -> None:
    if name != OFFLINE and ":" not in name:
        known = ", ".join([OFFLINE, "openai:MODEL", "PROVIDER:MODEL", *sorted(registered)])
        raise InvalidSetting(f'There is no {kind} "{name}". Known: {known}.{advice}')
