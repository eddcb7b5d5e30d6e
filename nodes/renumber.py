"""Numbering the sources anew, in the order in which the answer uses them."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime

from ragweave.nodes.cite import Verified, renumber
from ragweave.nodes.events import emit
from ragweave.state.base import RagState


async def renumber_citations(state: RagState, runtime: Runtime[Any]) -> dict[str, Any]:
    """Number the sources from 1 by first use in the answer; those that are not cited follow."""
    draft, status = state["draft"], state["status"]
    verified = Verified(state["answer"], state["citations"], state["invalid_markers"])
    renamed, sources = await asyncio.to_thread(renumber, verified, state["sources"])
    answer, citations = renamed.answer, renamed.citations
    if answer != state["answer"]:
        reason = "Sources are numbered in the order of their first use."
        emit(state, runtime, "revised", answer=answer, reason=reason)
    message = AIMessage(answer, id=draft["message_id"], response_metadata=draft["metadata"])
    return {
        "answer": answer,
        "citations": citations,
        "sources": sources,
        "messages": [message],
        "structured_response": {"answer": answer, "status": status, "citations": citations},
    }
