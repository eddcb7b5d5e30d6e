"""How people and programs use the graphs: Python, command line, tools for agents.

Names are imported when they are first used, so that the command line starts without LangGraph.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragweave.serving.agents import as_subagent, as_tool
    from ragweave.serving.answer import Answer
    from ragweave.serving.api import aask, ask, ingest, search, stream
    from ragweave.serving.copying import acopy
    from ragweave.serving.ingesting import aingest
    from ragweave.serving.searching import asearch
    from ragweave.serving.streaming import astream

__all__ = [
    "Answer",
    "aask",
    "acopy",
    "aingest",
    "as_subagent",
    "as_tool",
    "asearch",
    "ask",
    "astream",
    "ingest",
    "search",
    "stream",
]

_MODULES = {
    "Answer": "answer",
    "aask": "api",
    "acopy": "copying",
    "aingest": "ingesting",
    "as_subagent": "agents",
    "as_tool": "agents",
    "ask": "api",
    "asearch": "searching",
    "astream": "streaming",
    "ingest": "api",
    "search": "api",
    "stream": "api",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
