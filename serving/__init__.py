"""How people and programs use the graphs: Python, command line, tools for agents.

Names are imported when they are first used, so that the command line starts without LangGraph.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragweave.serving.answer import Answer
    from ragweave.serving.api import aask, ask, ingest, search
    from ragweave.serving.ingesting import aingest
    from ragweave.serving.searching import asearch
    from ragweave.serving.stream import astream

__all__ = ["Answer", "aask", "aingest", "asearch", "ask", "astream", "ingest", "search"]

_MODULES = {
    "Answer": "answer",
    "aask": "api",
    "aingest": "ingesting",
    "ask": "api",
    "asearch": "searching",
    "astream": "stream",
    "ingest": "api",
    "search": "api",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
