"""The embedded mode, with the double in place of the server's program."""

from __future__ import annotations

import hashlib
import socket
import sys
from pathlib import Path

import pytest
import weaviate.embedded

from ragweave.state.errors import IndexUnavailable
from ragweave.stores.base import Chunk, IndexSpec, SearchSpec
from ragweave.stores.weaviate.embedded import stop_embedded
from ragweave.stores.weaviate.index import WeaviateIndex

ROOT = Path(__file__).parents[2]
VERSION = "1.39.0"


def free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1]), int(other.getsockname()[1])


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program under the name by which the client finds one that is already there."""
    name = f"v{VERSION}"
    path = tmp_path / f"weaviate-{name}-{hashlib.sha256(name.encode()).hexdigest()}"
    path.write_text(f'#!/bin/sh\ncd {ROOT}\nexec {sys.executable} -m tests.weaviate_double "$@"\n')
    path.chmod(0o755)
    monkeypatch.setenv("WEAVIATE_BINARY_PATH", str(tmp_path))
    return path


async def test_the_server_is_started_once_and_serves_ordinary_connections(
    program: Path, tmp_path: Path
) -> None:
    port, grpc_port = free_ports()
    string = (
        f"weaviate:embedded?path={tmp_path}/data&version={VERSION}&port={port}"
        f"&grpc_port={grpc_port}&timeout=60"
    )
    index = WeaviateIndex.from_url(string)
    await index.ensure(IndexSpec(dimension=2, embeddings="test"))
    await index.upsert([Chunk(id="a", document_id="d", text="a fox", vector=[1.0, 2.0])])
    again = WeaviateIndex.from_url(f"{string}&collection=Docs")
    (hit,) = await again.search(SearchSpec(text="fox", vector=[1.0, 2.0]))
    assert hit.chunk.id == "a"
    await index.aclose()
    await again.aclose()
    assert await index.count() == 1  # the server outlives its connections
    await index.aclose()
    stop_embedded()
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


async def test_a_program_that_cannot_be_had_is_said_to_be_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEAVIATE_BINARY_PATH", str(tmp_path))
    monkeypatch.setattr(weaviate.embedded, "GITHUB_RELEASE_DOWNLOAD_URL", "file:///nowhere/")
    port, grpc_port = free_ports()
    index = WeaviateIndex.from_url(
        f"weaviate:embedded?path={tmp_path}/data&version=9.9.9&port={port}&grpc_port={grpc_port}"
    )
    with pytest.raises(IndexUnavailable, match="did not start"):
        await index.count()
