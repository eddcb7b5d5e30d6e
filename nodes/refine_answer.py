"""Refining an answer over the sources that did not fit the first prompt."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from ragweave.models.calls import ask_structured
from ragweave.models.prompt import (
    Section,
    language_section,
    prompt,
    question_section,
    sources_section,
)
from ragweave.models.schemas import Refinement
from ragweave.nodes.events import decided, emit, failed
from ragweave.nodes.read import checked
from ragweave.state.base import Draft
from ragweave.state.citation import CitationContext, CitationState
from ragweave.state.context import context_of
from ragweave.state.errors import BudgetReached, CallFailed
from ragweave.state.records import Source
from ragweave.state.text import sentences


async def refine_answer(state: CitationState, runtime: Runtime[CitationContext]) -> dict[str, Any]:
    """Read the next batch; the answer stays word for word unless that batch adds to it.

    A batch that cannot be read costs its sources and a warning; with the budget's end all that
    are left are given up. The answer is partial then.
    """
    context = context_of(state, runtime.context, CitationContext)
    draft, (batch, *later) = state["draft"], state["pending"]
    messages = prompt(
        context.refine_prompt,
        Section("answer", draft["text"]),
        sources_section(batch),
        question_section(state["question"]),
        language_section(context.language),
    )
    seen = [*state["sources"], *batch]
    try:
        reply = await ask_structured(
            Refinement,
            messages,
            model=context.model,
            stage="refine",
            state=state,
            context=context,
            salvage=lambda text: _salvage(text, seen),
        )
    except CallFailed as failure:
        return _given_up(state, runtime, failure, batch, later)
    answer = _refined(draft["text"], reply.value, seen)
    if answer != draft["text"]:
        shown, _ = checked(answer, [source["number"] for source in seen])
        emit(state, runtime, "revised", answer=shown, reason="Further sources add to the answer.")
    return {
        "draft": {**draft, "text": answer},
        "sources": seen,
        "pending": later,
        "usage": reply.usage,
        "decisions": decided(
            "refine_answer",
            "refined" if answer != draft["text"] else "unchanged",
            f"Sources {batch[0]['number']} to {batch[-1]['number']}.",
        ),
    }


def _given_up(
    state: CitationState,
    runtime: Runtime[CitationContext],
    failure: CallFailed,
    batch: list[Source],
    later: list[list[Source]],
) -> dict[str, Any]:
    budget = isinstance(failure, BudgetReached)
    last = later[-1] if budget and later else batch
    warning = f"Sources {batch[0]['number']} to {last[-1]['number']} were not read: {failure}"
    draft: Draft = {**state["draft"], "partial": True}
    return {
        **failed(state, runtime, failure),
        "draft": draft,
        "pending": [] if budget else later,
        "warnings": [warning],
    }


def _salvage(text: str, seen: list[Source]) -> Refinement:
    """Prose that cites is the new answer; other prose says that there is nothing to add."""
    _, cites = checked(text, [source["number"] for source in seen])
    return Refinement(adds=cites, answer=text if cites else "")


def _refined(before: str, refinement: Refinement, seen: list[Source]) -> str:
    """The new answer, unless it says nothing or has lost all its citations."""
    numbers = [source["number"] for source in seen]
    after = refinement.answer.strip()
    if not refinement.adds or not after:
        return before
    if checked(before, numbers)[1] and not checked(after, numbers)[1]:
        return before
    return keep_citations(before, after)


def keep_citations(before: str, after: str) -> str:
    """The new answer, with the citations of each earlier sentence that it repeats without them."""
    cited = {}
    for span in sentences(before):
        sentence = before[slice(*span)]
        if (bare := _bare(sentence)) != _folded(sentence):
            cited[bare] = sentence
    pieces, end = [], 0
    for span in sentences(after):
        sentence = after[slice(*span)]
        kept = cited.get(_folded(sentence), sentence)  # only a sentence without markers is found
        pieces += [after[end : span.start], kept]
        end = span.end
    return "".join(pieces) + after[end:]


def _bare(sentence: str) -> str:
    return _folded(checked(sentence, [])[0])


def _folded(sentence: str) -> str:
    return " ".join(sentence.split())
