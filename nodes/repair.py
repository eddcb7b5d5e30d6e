"""Mending an answer that has uncited sentences or markers that name no source, once."""

from __future__ import annotations

import asyncio
from typing import Any

from langgraph.runtime import Runtime

from ragweave.models.calls import ask_text
from ragweave.models.prompt import Section, prompt, question_section, sources_section
from ragweave.nodes.cite import Verified, count_statuses, verify
from ragweave.nodes.events import decided, emit, failed
from ragweave.state.citation import CitationContext, CitationState
from ragweave.state.context import context_of
from ragweave.state.errors import CallFailed


async def repair_answer(state: CitationState, runtime: Runtime[CitationContext]) -> dict[str, Any]:
    """Let the model mend the citations; its answer counts only if it is better.

    Better means fewer faults, and no citation that its source does not support: a model that is
    urged to cite must not invent.
    """
    context = context_of(state, runtime.context, CitationContext)
    draft, sources = state["draft"], state["sources"]
    messages = prompt(
        context.repair_prompt,
        sources_section(sources, state.get("excerpts")),
        question_section(state["question"]),
        Section("answer", draft["text"]),
        Section("note", _faults_in_words(state)),
    )
    try:
        reply = await ask_text(
            messages, model=context.model, stage="repair", state=state, context=context
        )
    except CallFailed as failure:
        return {**failed(state, runtime, failure), "repaired": True}
    mended = await asyncio.to_thread(verify, reply.value, sources)
    earlier = await asyncio.to_thread(verify, draft["text"], sources)
    better, reason = _is_better(mended, earlier)
    update = {
        "repaired": True,
        "usage": reply.usage,
        "decisions": decided("repair_answer", "mended" if better else "unchanged", reason),
    }
    if not better:
        return update
    emit(state, runtime, "revised", answer=mended.answer, reason=reason)
    return {**update, "draft": {**draft, "text": reply.value}}


def _faults_in_words(state: CitationState) -> str:
    uncited = [c["sentence"] for c in state["citations"] if c["status"] == "missing"]
    lines = [f"Cites nothing: {sentence}" for sentence in uncited]
    if state["invalid_markers"]:
        lines.append(f"Name no source: {' '.join(state['invalid_markers'])}")
    return "\n".join(lines)


def _is_better(mended: Verified, earlier: Verified) -> tuple[bool, str]:
    before, after = count_statuses(earlier), count_statuses(mended)
    summary = (
        f"Uncited sentences: {before['missing']} before, {after['missing']} after; invalid markers "
        f"{before['invalid']}, {after['invalid']}; grounded citations {before['grounded']}, "
        f"{after['grounded']}; ungrounded {before['ungrounded']}, {after['ungrounded']}."
    )
    better = (
        after["missing"] + after["invalid"] < before["missing"] + before["invalid"]
        and after["grounded"] >= max(before["grounded"], 1)
        and after["ungrounded"] <= before["ungrounded"]
    )
    return better, summary
