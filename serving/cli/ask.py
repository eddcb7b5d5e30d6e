"""`ragweave ask`."""

from __future__ import annotations

import sys
from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ragweave.serving.cli.approval import approve_on_terminal, expect_no_questions
from ragweave.serving.cli.options import (
    Embeddings,
    Filter,
    Index,
    Json,
    Set,
    Technique,
    Tenant,
    TopK,
    read_filters,
    read_settings,
    run_async,
    text_argument,
)
from ragweave.serving.cli.screen import print_json
from ragweave.serving.cli.show import Page, show_answer
from ragweave.serving.techniques import DEFAULT_TECHNIQUE, TECHNIQUES
from ragweave.state.errors import InvalidSetting

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from ragweave.serving.answer import Answer
    from ragweave.state.events import StepEvent

SEARCH_THE_WEB = ("auto", "crag")
"""Techniques that have `--web`."""


def ask(
    question: Annotated[str, typer.Argument(help="The question; - reads standard input.")],
    technique: Technique = DEFAULT_TECHNIQUE,
    index: Index = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            help="Model that answers: openai:MODEL, PROVIDER:MODEL, or offline (quotes the "
            "documents). Default: offline, or RAGWEAVE_MODEL.",
            show_default=False,
        ),
    ] = None,
    fast_model: Annotated[
        str | None,
        typer.Option(help="Model that grades and rewrites (that of --model).", show_default=False),
    ] = None,
    embeddings: Embeddings = None,
    tenant: Tenant = None,
    top_k: TopK = None,
    filters: Filter = None,
    web: Annotated[
        Literal["auto", "always", "never", "ask"] | None,
        typer.Option(
            help="Search the web when the documents do not suffice (auto), always, never, or "
            "after asking you (ask). Needs TAVILY_API_KEY.",
            show_default=False,
        ),
    ] = None,
    settings: Set = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Hide the steps.")] = False,
    as_json: Json = False,
) -> None:
    """Answer a question, with citations checked against your documents.

    Steps go to standard error as they happen; the answer and its sources to standard output.

    [dim]ragweave ask "How do I restore a backup?" --model openai:gpt-4.1-mini[/dim]

    [dim]ragweave ask "Was kostet das?" --web ask --filter year=2024 --set max_rewrites=1[/dim]
    """
    from ragweave.serving.searchable import expect_searchable
    from ragweave.serving.streaming import astream

    named = {
        "index": index,
        "model": model,
        "fast_model": fast_model,
        "embeddings": embeddings,
        "tenant": tenant,
        "top_k": top_k,
        "filters": read_filters(filters),
        "web_search": _web_search(technique, web),
    }
    given = read_settings(settings)
    given |= {name: value for name, value in named.items() if value is not None}
    page = Page(steps=not (quiet or as_json), text=not as_json)
    approve = page.asking(approve_on_terminal) if sys.stdin.isatty() else None
    if approve is None:
        expect_no_questions(technique, given)
    asked = text_argument(question)

    async def answered() -> Answer:
        if asked.strip():  # an empty question is the first thing to say
            await expect_searchable(technique, given)
        stream = astream(asked, technique=technique, approve=approve, **given)
        async with aclosing(stream) as parts:
            return await _shown(parts, page)

    answer = run_async(answered())
    if as_json:
        print_json(answer)
    else:
        show_answer(answer)


def _web_search(technique: str, web: str | None) -> str | None:
    """The setting for `--web`, which only some techniques have: the others never search the web."""
    if technique in SEARCH_THE_WEB or technique not in TECHNIQUES:
        return web
    if web in (None, "never"):
        return None
    searching = " and ".join(SEARCH_THE_WEB)
    raise InvalidSetting(f"--web {web} is for {searching}: {technique} never searches the web.")


async def _shown(stream: AsyncIterator[StepEvent | Answer], page: Page) -> Answer:
    """Show a stream as it comes; its answer."""
    from ragweave.serving.answer import Answer

    async for part in stream:
        if isinstance(part, Answer):
            page.end(part)
            return part
        page.show(part)
    raise AssertionError("a graph's stream ends with its answer")
