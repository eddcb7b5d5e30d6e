"""The last node of every technique: check the answer's citations and fill in the output."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime

from ragweave.nodes.answer_output import answer_output
from ragweave.nodes.cite import Verified, verify
from ragweave.nodes.events import emit
from ragweave.nodes.no_evidence import authorship, no_evidence
from ragweave.state.context import RagContext, context_of
from ragweave.state.records import Status


async def verify_citations(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
    """Resolve the draft's markers to sources, align quotes, and drop what names no source.

    No model is called. The message keeps the id under which its tokens were streamed.
    """
    draft, context = state["draft"], context_of(state, runtime.context, RagContext)
    verified = await asyncio.to_thread(verify, draft["text"], state["sources"])
    statuses = Counter(citation["status"] for citation in verified.citations)
    emit(
        state,
        runtime,
        "cited",
        grounded=statuses["grounded"],
        ungrounded=statuses["ungrounded"],
        missing=statuses["missing"],
        invalid=len(verified.invalid_markers),
    )
    answer = verified.answer
    if not answer.strip():
        answer = no_evidence(state, context)
        emit(state, runtime, "revised", answer=answer, reason="The model gave no answer.")
    status = _status(verified, partial=draft["partial"])
    metadata = {**authorship(context), **draft["metadata"]}
    message = AIMessage(answer, id=draft["message_id"], response_metadata=metadata)
    output = answer_output(answer, status, verified.citations, message)
    return {**output, "invalid_markers": verified.invalid_markers}


def _status(verified: Verified, *, partial: bool) -> Status:
    """`no_evidence` where no sentence of the answer states anything, cited or not."""
    if partial:
        return "partial"
    return "answered" if verified.citations else "no_evidence"
