"""Tavily's search: results as sources, over connections that stay open between questions."""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import os
import ssl
from collections.abc import AsyncGenerator, Mapping
from functools import cache
from types import ModuleType
from typing import Any

from ragweave.models.loops import PerLoop, close_with_loop
from ragweave.nodes.sources import traced_documents
from ragweave.nodes.tracing import traced_search
from ragweave.state.records import Source

MAX_RESULT_CHARACTERS = 8_000


class _Clients:
    """Tavily's clients of one event loop, open until that ends."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._clients: dict[tuple[str, str | None], Any] = {}
        self._lifetimes: list[AsyncGenerator[None, None]] = []

    async def client(self, key: str, base_url: str | None) -> Any:
        """The client for a key and an address, made at first use."""
        async with self._lock:
            if (key, base_url) not in self._clients:
                tavily, httpx, tls = await asyncio.to_thread(_web_modules)
                http = httpx.AsyncClient(verify=tls)
                self._lifetimes.append(await close_with_loop(http.aclose))
                self._clients[key, base_url] = tavily.AsyncTavilyClient(
                    api_key=key, api_base_url=base_url, client=http
                )
        return self._clients[key, base_url]


_clients = PerLoop(_Clients)


@traced_search("tavily_search", documents=traced_documents)
async def tavily_search(query: str, count: int, *, seconds: float) -> list[Source]:
    """One Tavily search: a source for each result, with empty text where it had none.

    It gives up after so many `seconds`. The key and, for a proxy, the address come from
    TAVILY_API_KEY and TAVILY_BASE_URL.
    """
    base_url = os.environ.get("TAVILY_BASE_URL") or None
    client = await _clients.get().client(os.environ["TAVILY_API_KEY"], base_url)
    answer = await client.search(query, max_results=count, timeout=seconds)
    return [_source(result) for result in _results(answer)][:count]


@cache
def _web_modules() -> tuple[ModuleType, ModuleType, ssl.SSLContext]:
    """What a search needs and what blocks: two imports, and a TLS context that takes 30 ms."""
    modules = [importlib.import_module(name) for name in ("tavily", "httpx")]
    return modules[0], modules[1], ssl.create_default_context()


def _results(answer: object) -> list[object]:
    results = answer.get("results") if isinstance(answer, Mapping) else None
    if not isinstance(results, list):
        raise ValueError("Tavily's answer has no list of results")
    return results


def _source(given: object) -> Source:
    result: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    url, title, score = (result.get(name) for name in ("url", "title", "score"))
    content = result.get("content")
    text = content.strip()[:MAX_RESULT_CHARACTERS] if isinstance(content, str) else ""
    url = url if isinstance(url, str) and url.startswith(("http://", "https://")) else None
    identity = hashlib.sha256((url or text).encode()).hexdigest()[:16]
    return Source(
        number=0,
        id=f"web:{identity}",
        document_id=url or f"web:{identity}",
        text=text,
        title=title if isinstance(title, str) else None,
        url=url,
        path=None,
        page=None,
        start=0,
        end=len(text),
        score=float(score) if isinstance(score, int | float) else None,
        score_kind="web",
        metadata={},
    )
