"""Letting a person decide about a run that may become expensive."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field, model_validator

from ragweave.models.budget import ledger_of
from ragweave.nodes.asking import ask_person
from ragweave.nodes.events import decided
from ragweave.state.context import context_of
from ragweave.state.drift import DriftContext, DriftState


class CostApproval(BaseModel):
    """A person's answer to what a run may cost."""

    approve: bool = Field(default=True, description="Whether the run may make these calls.")
    max_model_calls: int | None = Field(
        default=None, ge=1, description="Most model calls it may make instead."
    )

    @model_validator(mode="before")
    @classmethod
    def _from_one_word(cls, value: object) -> object:
        """Yes, no, or a number of calls alone is an answer too."""
        match value:
            case bool():
                return {"approve": value}
            case int():
                return {"max_model_calls": value}
            case dict():
                return value
        raise ValueError("Give true or false, or the most calls that the run may make.")


def most_calls(context: DriftContext) -> int:
    """Most model calls of a DRIFT run in which none fails: its budget, if that is lower."""
    hypothesis = context.hyde != "off"
    primer = min(context.primer_folds, context.k_reports)
    searches = max(context.n_depth * context.drift_k_followups, 1)
    return min(hypothesis + primer + searches + context.reduce, context.max_model_calls)


async def approve_cost(state: DriftState, runtime: Runtime[DriftContext]) -> dict[str, Any]:
    """Wait for a person to approve, limit or refuse the calls.

    Refused, the question is answered by one local search.
    """
    context = context_of(state, runtime.context, DriftContext)
    calls = most_calls(context)
    asked = {"question": state["question"], "calls": calls, "model": context.hidden_model}
    answer = ask_person(asked, CostApproval)
    ledger_of(state).restart_clock()
    if not answer.approve:
        reason = f"A person refused up to {calls} model calls; one local search has to do."
        return {
            "refused": True,
            "decisions": decided("approve_cost", "refused", reason),
            "warnings": [reason],
        }
    if answer.max_model_calls is None:
        reason = f"A person approved up to {calls} model calls."
        return {"decisions": decided("approve_cost", "approved", reason)}
    limit = min(answer.max_model_calls, context.max_model_calls)
    reason = f"A person allowed {limit} model calls, not {calls}."
    settings = {**state["settings"], "max_model_calls": limit}
    return {"settings": settings, "decisions": decided("approve_cost", "limited", reason)}
