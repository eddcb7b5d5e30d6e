"""Numbering the sources anew, in the order in which the answer uses them."""

from __future__ import annotations

import asyncio
from typing import Any

from langgraph.runtime import Runtime

from ragweave.nodes.answer_output import reworded
from ragweave.nodes.cite import Verified, renumber
from ragweave.nodes.events import emit
from ragweave.state.base import RagState


async def renumber_citations(state: RagState, runtime: Runtime[Any]) -> dict[str, Any]:
    """Number the sources from 1 by first use in the answer; those that are not cited follow."""
    verified = Verified(state["answer"], state["citations"], state["invalid_markers"])
    renamed, sources = await asyncio.to_thread(renumber, verified, state["sources"])
    answer, citations = renamed.answer, renamed.citations
    if answer != state["answer"]:
        reason = "Sources are numbered in the order of their first use."
        emit(state, runtime, "revised", answer=answer, reason=reason)
    return {**reworded(state, answer, citations), "sources": sources}
