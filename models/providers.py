"""Building a model of a provider from its name. Everything here blocks: call it in a thread."""

from __future__ import annotations

import os
from collections.abc import Collection
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import SecretStr

from ragweave.state.errors import InvalidSetting
from ragweave.state.unknown_name import unknown

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

ModelT = TypeVar("ModelT")

REQUEST_SECONDS = 120.0
"""Longest wait for an answer, or for the next piece of a streamed one."""
CONNECT_SECONDS = 10.0
EMBEDDING_BATCH = 128
"""Texts in one request for embeddings."""

_LISTS = "https://docs.langchain.com/oss/python/integrations/"
_KEY_VARIABLES = {"google_genai": "GOOGLE_API_KEY", "google_vertexai": "GOOGLE_API_KEY"}


def key_variable(name: str) -> str | None:
    """Environment variable that holds the key of `PROVIDER:MODEL`; None for other names."""
    provider, colon, _ = name.partition(":")
    if not colon:
        return None
    return _KEY_VARIABLES.get(provider, f"{provider.upper()}_API_KEY")


def build_chat_model(name: str) -> BaseChatModel:
    """The chat model `PROVIDER:MODEL`."""
    provider, model = _split(name)
    if provider == "openai":
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(
            model=model,
            stream_usage=True,
            stream_chunk_timeout=None,  # attempts.py watches the time between pieces
            **_openai_settings(name),
        )
    try:
        from langchain.chat_models import base, init_chat_model
    except ImportError as error:
        raise _langchain_missing(name) from error
    _expect_provider(provider, getattr(base, "_BUILTIN_PROVIDERS", ()), "chat")
    try:
        chat_model: BaseChatModel = init_chat_model(model, model_provider=provider)
        if "max_retries" in type(chat_model).model_fields:  # retries are made in attempts.py
            chat_model = init_chat_model(model, model_provider=provider, max_retries=0)
    except (ImportError, ValueError) as error:
        raise _not_built(name, error) from error
    return chat_model


def build_embeddings(name: str) -> Embeddings:
    """The embeddings `PROVIDER:MODEL`."""
    provider, model = _split(name)
    if provider == "openai":
        from langchain_openai import OpenAIEmbeddings

        # Splitting by OpenAI's limit needs OpenAI's tokenizer, downloaded at the first call, and
        # sends token ids, which other servers do not take.
        return OpenAIEmbeddings(
            model=model,
            chunk_size=EMBEDDING_BATCH,
            check_embedding_ctx_length=_base_url_is_openai(),
            **_openai_settings(name),
        )
    try:
        from langchain.embeddings import base, init_embeddings
    except ImportError as error:
        raise _langchain_missing(name) from error
    _expect_provider(provider, getattr(base, "_BUILTIN_PROVIDERS", ()), "embeddings")
    try:
        embeddings: Embeddings = init_embeddings(model, provider=provider)
    except (ImportError, ValueError) as error:
        raise _not_built(name, error) from error
    return embeddings


def _split(name: str) -> tuple[str, str]:
    provider, _, model = name.partition(":")
    if not provider or not model:
        raise InvalidSetting(
            f'"{name}" is not a model name. Write PROVIDER:MODEL, such as openai:gpt-4.1-mini.'
        )
    return provider, model


def _expect_provider(provider: str, known: Collection[str], kind: str) -> None:
    """LangChain would name all thirty. Where it does not say which it has, it is left to it."""
    if known and provider.replace("-", "_") not in known:
        more = (
            f"{_LISTS}{kind} lists all; any OpenAI-compatible server is openai:MODEL with "
            "OPENAI_BASE_URL."
        )
        raise InvalidSetting(unknown("provider", provider, known, more=more))


def _openai_settings(name: str) -> dict[str, Any]:
    import openai

    key = os.environ.get("OPENAI_API_KEY")
    if not key and _base_url_is_openai():
        raise InvalidSetting(
            f"{name} needs OPENAI_API_KEY (or OPENAI_BASE_URL, for an OpenAI-compatible server)."
        )
    timeout = openai.Timeout(REQUEST_SECONDS, connect=CONNECT_SECONDS)
    proxy = os.environ.get("OPENAI_PROXY")
    return {
        "api_key": SecretStr(key or "none"),
        "base_url": _base_url(),
        "max_retries": 0,  # retries are made in attempts.py, where they are counted
        "timeout": timeout,
        "openai_proxy": None,
        # Left alone, langchain-openai shares one client between event loops, which have to have
        # their own connections. By aiohttp a call takes a fifth less of the CPU.
        "http_async_client": openai.DefaultAioHttpClient(timeout=timeout, proxy=proxy),
        "http_client": _unused_client(),
    }


@cache
def _unused_client() -> Any:
    """All calls are asynchronous, but the other client is made as well: 35 ms for certificates."""
    import openai

    return openai.DefaultHttpxClient()


def _base_url() -> str | None:
    return os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE") or None


def _base_url_is_openai() -> bool:
    host = urlsplit(_base_url() or "https://api.openai.com").hostname or ""
    return host == "openai.com" or host.endswith(".openai.com")


def _langchain_missing(name: str) -> InvalidSetting:
    return InvalidSetting(
        f"{name} needs the langchain package: pip install 'ragweave[providers]' "
        "and the provider's own package."
    )


def _not_built(name: str, error: Exception) -> InvalidSetting:
    return InvalidSetting(f"{name} cannot be used: {' '.join(str(error).split())}")
