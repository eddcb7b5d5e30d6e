"""Indexes on every backend."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from ragweave.stores.base import Index
from ragweave.stores.registry import aclose_all, open_index
from tests.stores.backends import BACKENDS, IndexString


@pytest.fixture(params=BACKENDS)
def index_string(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[IndexString]:
    """Gives the string of an index on each backend, by a name."""
    with BACKENDS[request.param](tmp_path) as string:
        yield string


@pytest.fixture
async def index(index_string: IndexString) -> AsyncIterator[Index]:
    """An index that does not exist yet."""
    yield await open_index(index_string("docs"))
    await aclose_all()
