"""Weaviate servers as pytest fixtures: the double, and a live one if `WEAVIATE_URL` is set."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from uuid import uuid4

import httpx
import pytest

if TYPE_CHECKING:
    from tests.weaviate_double import WeaviateDouble

NewIndex = Callable[..., str]
"""Gives an index string of a collection that no other test uses."""


@pytest.fixture
def weaviate_double() -> Iterator[WeaviateDouble]:
    """A double of the server."""
    from tests.weaviate_double import WeaviateDouble  # takes a second, so only where it is used

    with WeaviateDouble() as double:
        yield double


@pytest.fixture(params=["double", "live"])
def new_index(request: pytest.FixtureRequest) -> Iterator[NewIndex]:
    """Index strings on the double, and once more on the live server."""
    if request.param == "double":
        url = request.getfixturevalue("weaviate_double").url
        yield lambda **options: _index_string(url, f"T{uuid4().hex}", options)
        return
    url = live_url()
    made: list[str] = []

    def new(**options: object) -> str:
        made.append(f"T{uuid4().hex}")
        return _index_string(url, made[-1], options)

    yield new
    server = url.removeprefix("weaviate:").partition("?")[0]
    for name in made:
        for collection in (name, f"{name}_parents", f"{name}_documents"):
            httpx.delete(f"{server}/v1/schema/{collection}")


def live_url() -> str:
    """The live server's index string without a collection; skips if there is none."""
    url = os.environ.get("WEAVIATE_URL")
    if not url:
        pytest.skip("WEAVIATE_URL is not set")
    try:
        httpx.get(f"{url.partition('?')[0]}/v1/meta", timeout=5).raise_for_status()
    except httpx.HTTPError as error:
        pytest.skip(f"no Weaviate answers at WEAVIATE_URL: {error}")
    return f"weaviate:{url}"


def _index_string(url: str, collection: str, options: dict[str, object]) -> str:
    query = "".join(f"&{name}={value}" for name, value in options.items())
    return f"{url}{'&' if '?' in url else '?'}collection={collection}{query}"
