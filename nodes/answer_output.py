"""What of a technique's output says the answer: as text, as a message, and for agents."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage

from ragweave.state.base import RagState
from ragweave.state.records import Citation, Status


def answer_output(
    answer: str, status: Status, citations: list[Citation], message: AIMessage
) -> dict[str, Any]:
    """State update with an answer whose citations were checked; `message` is what a chat shows."""
    return {
        "answer": answer,
        "status": status,
        "citations": citations,
        "messages": [message],
        "structured_response": {"answer": answer, "status": status, "citations": citations},
    }


def reworded(state: RagState, answer: str, citations: list[Citation]) -> dict[str, Any]:
    """The same of an answer that is written otherwise: its message keeps its id and its author."""
    message = state["messages"][-1].model_copy(update={"content": answer})
    assert isinstance(message, AIMessage)
    return answer_output(answer, state["status"], citations, message)
