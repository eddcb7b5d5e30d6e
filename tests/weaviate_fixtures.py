"""Weaviate servers for tests: the double, and a live one if `WEAVIATE_URL` is set."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from uuid import uuid4

import httpx
import pytest

if TYPE_CHECKING:
    from tests.weaviate_double import WeaviateDouble

IndexString = Callable[[str], str]
NewIndex = Callable[..., str]
"""Gives an index string of a collection that no other test uses; takes options for it."""


@contextmanager
def on_double() -> Iterator[IndexString]:
    """Index strings on a double of its own."""
    from tests.weaviate_double import WeaviateDouble  # takes a second, so only where it is used

    with WeaviateDouble() as double:
        yield lambda name: f"{double.url}&collection={_collection('T', name)}"


@contextmanager
def on_live_server() -> Iterator[IndexString]:
    """Index strings on the live server, whose collections are deleted afterwards."""
    url = os.environ.get("WEAVIATE_URL")
    if not url:
        pytest.skip("WEAVIATE_URL is not set")
    server, _, options = url.partition("?")
    try:
        httpx.get(f"{server}/v1/meta", timeout=5).raise_for_status()
    except httpx.HTTPError as error:
        pytest.skip(f"no Weaviate answers at WEAVIATE_URL: {error}")
    prefix = f"T{uuid4().hex}"
    yield lambda name: f"weaviate:{server}?{options}&collection={_collection(prefix, name)}"
    for kept in httpx.get(f"{server}/v1/schema").json()["classes"]:
        if kept["class"].startswith(prefix):
            httpx.delete(f"{server}/v1/schema/{kept['class']}")


@pytest.fixture
def weaviate_double() -> Iterator[WeaviateDouble]:
    """A double of the server."""
    from tests.weaviate_double import WeaviateDouble

    with WeaviateDouble() as double:
        yield double


@pytest.fixture(params=[on_double, on_live_server], ids=["double", "live"])
def new_index(request: pytest.FixtureRequest) -> Iterator[NewIndex]:
    """Index strings on the double, and once more on the live server."""
    with request.param() as string:

        def new(**options: object) -> str:
            given = "".join(f"&{name}={value}" for name, value in options.items())
            return f"{string(uuid4().hex)}{given}"

        yield new


def _collection(prefix: str, name: str) -> str:
    return f"{prefix}_{re.sub(r'[^A-Za-z0-9]', '_', name)}"
