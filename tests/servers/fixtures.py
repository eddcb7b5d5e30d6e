"""The servers as pytest fixtures, with the environment that leads ragweave to them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.openai_stub import OpenAIStub
from tests.servers.tavily_stub import TavilyStub

OPENAI_KEY = "sk-test-0123456789"
TAVILY_KEY = "tvly-test-0123456789"


@pytest.fixture
def openai_stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIStub]:
    """An OpenAI-compatible server; any model `openai:NAME` is answered by it."""
    with OpenAIStub(api_key=OPENAI_KEY) as stub:
        monkeypatch.setenv("OPENAI_BASE_URL", stub.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", OPENAI_KEY)
        yield stub


@pytest.fixture
def tavily_stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[TavilyStub]:
    """A server that answers like Tavily; it finds nothing until it is told to."""
    with TavilyStub(api_key=TAVILY_KEY) as stub:
        monkeypatch.setenv("TAVILY_BASE_URL", stub.url)
        monkeypatch.setenv("TAVILY_API_KEY", TAVILY_KEY)
        yield stub
