"""Sending step events on LangGraph's custom stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.runtime import Runtime

from ragweave.models.budget import ledger_of
from ragweave.state.errors import BudgetReached, CallFailed, RequestRefused
from ragweave.state.records import Decision


def emit(
    state: Mapping[str, Any], runtime: Runtime[Any], event_type: str, **fields: object
) -> None:
    """Send one event of `ragweave.state.events`: its type, then the fields of that type."""
    runtime.stream_writer(
        {
            "type": event_type,
            "technique": state["settings"]["technique"],
            "at": round(ledger_of(state).elapsed(), 3),
            **fields,
        }
    )


def failed(
    state: Mapping[str, Any], runtime: Runtime[Any], failure: CallFailed | RequestRefused
) -> dict[str, Any]:
    """State update for a model call that gave nothing: its cost, and a warning."""
    if isinstance(failure, BudgetReached):
        emit(state, runtime, "budget", limit=failure.limit, used=failure.used)
    return {"usage": failure.usage, "warnings": [str(failure)]}


def decided(node: str, choice: str, reason: str) -> list[Decision]:
    """State update that records one decision with its reason."""
    return [Decision(node=node, choice=choice, reason=reason)]
