"""What any technique would show the model for a question, without calling one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, cast

from ragweave.models.prompt import sources_section
from ragweave.models.tokens import token_counter
from ragweave.serving.graph_context import GraphTechnique, ShownContext, show_context
from ragweave.serving.techniques import context_type, load, settled
from ragweave.state.errors import InvalidSetting

GRAPH_TECHNIQUES = ("local_search", "drift")
"""Those whose context is built of the tables of a knowledge graph."""

_NO_CALLS = {"max_model_calls": 0, "web_search": "never"}
_BUDGET = "max_model_calls is 0"
"""What the warnings say that come from calling nothing."""


async def show_any_context(question: str, *, technique: str, **settings: Any) -> ShownContext:
    """The context of `question` by `technique`.

    For `local_search` and `drift` it is that of a local search, as `show_context` gives it. For
    the others it is what the answering call would be shown, were nothing graded, expanded or
    chosen by a model; `sources` are their ids, in the order shown.

    Args:
        question: what to search for.
        technique: a name of `ragweave.serving.techniques.TECHNIQUES`.
        settings: fields of the technique's context; for graphs also those of `show_context`. None
            keeps a default.

    Raises:
        RagweaveError: whatever went wrong, in one line that says what to do.
    """
    given = {name: value for name, value in settings.items() if value is not None}
    if technique in GRAPH_TECHNIQUES:
        return await show_context(question, technique=cast("GraphTechnique", technique), **given)
    if "query_vector" in given:
        raise InvalidSetting(
            f"A query vector is for the techniques that search a graph ({_graphs()}), not for "
            f"{technique}."
        )
    state = await _before_the_answer(question, technique, given)
    sources = state.get("sources") or []
    section = sources_section(sources, state.get("excerpts"))
    text = "".join(f"{source.render()}\n" for source in section.children)
    count = await token_counter()
    tokens = (await asyncio.to_thread(count, [text]))[0] if sources else 0
    return ShownContext(
        question=question,
        technique=technique,
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


async def _before_the_answer(
    question: str, technique: str, given: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The state in which the technique's graph would ask for the answer.

    The graph itself runs, with no call left in its budget, so that every node that would ask a
    model takes the way that it takes without one.
    """
    graph = await asyncio.to_thread(load, technique)
    schema = context_type(graph)
    fixed = {name: value for name, value in _NO_CALLS.items() if name in schema.model_fields}
    context = settled(schema, {**given, **fixed}, f"setting of {technique}")
    state: Mapping[str, Any] = {}
    parts = graph.astream({"question": question}, context=context, stream_mode="values")
    async with aclosing(cast("AsyncGenerator[Mapping[str, Any]]", parts)) as states:
        async for after in states:
            if after.get("draft"):
                break
            state = after
    return state


def _graphs() -> str:
    return " and ".join(GRAPH_TECHNIQUES)
