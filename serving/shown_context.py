"""What any technique would show the model for a question, without calling one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any, cast

from ragweave.models.prompt import sources_section
from ragweave.models.tokens import token_counter
from ragweave.serving.graph_context import GraphTechnique, ShownContext, show_context
from ragweave.serving.searchable import expect_searchable
from ragweave.serving.techniques import GRAPH_TECHNIQUES, context_type, load, settled
from ragweave.state.errors import InvalidSetting

_NO_CALLS = {"max_model_calls": 0, "web_search": "never"}
_BUDGET = "max_model_calls is 0"
"""What the warnings say that come from calling nothing."""


async def show_any_context(question: str, *, technique: str, **settings: Any) -> ShownContext:
    """The context of `question` by `technique`.

    For `local_search` and `drift` it is that of a local search, as `show_context` gives it. For
    the others it is what the answering call would be shown, were nothing graded, expanded or
    chosen by a model; `sources` are their ids, in the order shown. For `auto` it is that of the
    technique that is picked, with the `reason`.

    Args:
        question: what to search for.
        technique: a name of `ragweave.serving.techniques.TECHNIQUES`.
        settings: fields of the technique's context; for graphs also those of `show_context`. None
            keeps a default.

    Raises:
        RagweaveError: whatever went wrong, in one line that says what to do.
    """
    given = {name: value for name, value in settings.items() if value is not None}
    if "query_vector" in given and technique not in GRAPH_TECHNIQUES:
        raise InvalidSetting(
            f"A query vector is for the techniques that search a graph ({_graphs()}), not for "
            f"{technique}."
        )
    if technique == "auto":
        picked, reason = await _pick(question, given)
        fitting = context_type(load(picked)).model_fields.keys() & given.keys()
        passed = {name: given[name] for name in fitting}
        shown = await show_any_context(question, technique=picked, **passed)
        return {**shown, "reason": reason}
    if technique in GRAPH_TECHNIQUES:
        return await show_context(question, technique=cast("GraphTechnique", technique), **given)
    state = await _before_the_answer(question, technique, given)
    sources = state.get("sources") or []
    section = sources_section(sources, state.get("excerpts"))
    text = "".join(f"{source.render()}\n" for source in section.children)
    count = await token_counter()
    tokens = (await asyncio.to_thread(count, [text]))[0] if sources else 0
    return ShownContext(
        question=question,
        technique=technique,
        reason=None,
        mode="sources",
        entities=[],
        relationships=[],
        reports=[],
        sources=[source["id"] for source in sources],
        claims=[],
        tokens={"sources": tokens} if sources else {},
        total_tokens=tokens,
        text=text,
        warnings=[warning for warning in state["warnings"] if _BUDGET not in warning],
    )


async def _pick(question: str, given: Mapping[str, Any]) -> tuple[str, str]:
    """The technique that `auto` picks for a question, and why."""
    async with _running("auto", question, given) as states:
        async for state in states:
            if state.get("technique"):
                return state["technique"], state["reason"]
    raise AssertionError("auto always picks a technique")


async def _before_the_answer(
    question: str, technique: str, given: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The state in which the technique's graph would ask for the answer."""
    state: Mapping[str, Any] = {}
    async with _running(technique, question, given) as states:
        async for after in states:
            if after.get("draft"):
                break
            state = after
    return state


@asynccontextmanager
async def _running(
    technique: str, question: str, given: Mapping[str, Any]
) -> AsyncIterator[AsyncIterator[Mapping[str, Any]]]:
    """The states of a run of the technique's graph, as they come.

    No call is left in its budget, so that every node that would ask a model takes the way that it
    takes without one.
    """
    graph = await asyncio.to_thread(load, technique)
    schema = context_type(graph)
    fixed = {name: value for name, value in _NO_CALLS.items() if name in schema.model_fields}
    settings = {**given, **fixed}
    await expect_searchable(technique, settings)
    context = settled(schema, settings, f"setting of {technique}")
    parts = graph.astream({"question": question}, context=context, stream_mode="values")
    async with aclosing(cast("AsyncGenerator[Mapping[str, Any]]", parts)) as states:
        yield states


def _graphs() -> str:
    return " and ".join(GRAPH_TECHNIQUES)
