"""Stub servers in a process of their own, so that what is measured is ragweave and not they."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from typing import Any

from tests.servers import OpenAIStub, TavilyStub


@contextmanager
def stub_process(
    answer: Callable[[dict[str, Any]], Any], find: Callable[[dict[str, Any]], Any] | None = None
) -> Iterator[None]:
    """A model that says `answer`, and a web search that returns `find`, named in the environment.

    Both are functions of a module, of one request, as for the stub servers.
    """
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_serve, args=(there, answer, find), daemon=True
    )
    process.start()
    os.environ |= here.recv()
    try:
        yield
    finally:
        here.send("stop")
        process.join()


def _serve(pipe: Connection, answer: Any, find: Any) -> None:
    with ExitStack() as servers:
        model = servers.enter_context(OpenAIStub(answer))
        names = {"OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": "sk-benchmark"}
        if find:
            web = servers.enter_context(TavilyStub(find))
            names |= {"TAVILY_BASE_URL": web.url, "TAVILY_API_KEY": "tvly-benchmark"}
        pipe.send(names)
        pipe.recv()
