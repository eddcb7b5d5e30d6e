"""Rules for every test: no network but loopback, no blocking call in async code, no stray keys."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

# Read by langgraph and langsmith when they are imported, so set before anything imports them.
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
os.environ["LANGSMITH_TRACING"] = "false"
os.environ["LANGSMITH_TEST_TRACKING"] = "false"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import pytest
from blockbuster import BlockBuster, blockbuster_ctx

pytest_plugins = ["tests.servers.fixtures", "tests.weaviate_fixtures"]

_SETTINGS = ("OPENAI_", "TAVILY_", "RAGWEAVE_INDEX", "RAGWEAVE_MODEL", "RAGWEAVE_EMBEDDINGS")
_LOOPBACK = ("127.", "::1", "localhost", "0.0.0.0")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away keys, endpoints and defaults that the developer's shell may hold."""
    for name in list(os.environ):
        if name.startswith(_SETTINGS):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail any attempt to connect beyond this machine."""
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex

    def checked(address: object) -> None:
        if isinstance(address, tuple) and not str(address[0]).startswith(_LOOPBACK):
            pytest.fail(f"a test tried to reach {address[0]}:{address[1]}")

    def guarded_connect(self: socket.socket, address: object) -> None:
        checked(address)
        connect(self, address)  # type: ignore[arg-type]

    def guarded_connect_ex(self: socket.socket, address: object) -> int:
        checked(address)
        return connect_ex(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", guarded_connect)
    monkeypatch.setattr(socket.socket, "connect_ex", guarded_connect_ex)


@pytest.fixture(autouse=True)
def no_blocking_calls(only_loopback: None) -> Iterator[BlockBuster]:
    """Raise BlockingError where async code blocks its event loop.

    Both patch sockets, and have to be undone in the opposite order, or each test leaves a layer.
    """
    with blockbuster_ctx() as blockbuster:
        yield blockbuster


@pytest.fixture(scope="session")
def data() -> Path:
    """Folder of third-party documents and questions; tests that need it skip without it."""
    folder = os.environ.get("RAGWEAVE_DATA")
    if not folder:
        pytest.skip("RAGWEAVE_DATA is not set")
    return Path(folder)


@pytest.fixture(scope="session")
def town(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An index of a few documents with their knowledge graph, for every technique."""
    from tests.graphs.techniques import make_town

    return make_town(tmp_path_factory.mktemp("town"))
