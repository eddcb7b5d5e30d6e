"""Reading one batch of sources among several that are read at the same time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from langchain_core.messages import BaseMessage
from langgraph.runtime import Runtime

from ragweave.models.calls import ask_text
from ragweave.models.prompt import language_section, prompt, question_section, sources_section
from ragweave.nodes.citations.token_filter import filtered
from ragweave.nodes.events import decided, failed
from ragweave.state.context import context_of
from ragweave.state.errors import BudgetReached, CallFailed
from ragweave.state.longrag import LongRagContext, Reading, ReadTask
from ragweave.state.records import Source


async def read_batch(state: ReadTask, runtime: Runtime[LongRagContext]) -> dict[str, Any]:
    """Write down what one batch says about the question, cited by the numbers of its sources.

    A reading that cites nothing says nothing. One that fails costs its sources; the warning is that
    of `merge_readings`, which knows of the others.
    """
    context = context_of(state, runtime.context, LongRagContext)
    sources, batch = state["sources"], state["batch"]
    first, last = sources[0]["number"], sources[-1]["number"]
    try:
        reply = await ask_text(
            read_messages(state["question"], sources, context),
            model=context.model,
            stage="read",
            state=state,
            context=context,
        )
    except CallFailed as failure:
        budget = isinstance(failure, BudgetReached)
        reading = Reading(
            batch=batch, text="", failed="budget" if budget else "model", reason=str(failure)
        )
        return {**failed(state, runtime, failure), "readings": [reading], "warnings": []}
    text, cites = checked(reply.value, range(first, last + 1))
    found = "something" if cites else "nothing"
    return {
        "readings": [Reading(batch=batch, text=text if cites else "", failed=None, reason=None)],
        "usage": reply.usage,
        "decisions": decided(
            "read_batch", f"batch {batch}: {found}", f"Sources {first} to {last}."
        ),
    }


def read_messages(
    question: str, sources: Sequence[Source], context: LongRagContext
) -> list[BaseMessage]:
    """The prompt for reading one batch."""
    return prompt(
        context.read_prompt,
        sources_section(sources),
        question_section(question),
        language_section(context.language),
    )


def checked(text: str, numbers: Collection[int]) -> tuple[str, bool]:
    """The text without markers of other numbers, and whether any marker is left."""
    clean = filtered(text, numbers)
    return clean.text.strip(), bool(clean.mentions)
