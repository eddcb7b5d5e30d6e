"""The backends that the contract suite and LangChain's standard suites run over.

A backend is started with a folder of the test's own and gives index strings: the same one for the
same name, so that a test can open an index twice, from another event loop or for another tenant.
One that cannot be had here calls `pytest.skip` with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from tests.weaviate_fixtures import on_double, on_live_server

IndexString = Callable[[str], str]


@contextmanager
def lance(folder: Path) -> Iterator[IndexString]:
    """LanceDB in the test's folder."""
    yield lambda name: f"lance:{folder / 'index'}?name={name}"


def weaviate_double(folder: Path) -> AbstractContextManager[IndexString]:
    """A double of a Weaviate server, on loopback."""
    return on_double()


def weaviate_live(folder: Path) -> AbstractContextManager[IndexString]:
    """The Weaviate server at `WEAVIATE_URL`."""
    return on_live_server()


BACKENDS: Mapping[str, Callable[[Path], AbstractContextManager[IndexString]]] = {
    "lance": lance,
    "weaviate_double": weaviate_double,
    "weaviate_live": weaviate_live,
}
