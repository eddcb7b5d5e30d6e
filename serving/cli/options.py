"""Options that several commands share, and reading the values that people type."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Coroutine, Sequence
from typing import Annotated, Any, TypeVar

import typer

from ragweave.serving.techniques import TECHNIQUES
from ragweave.state.errors import InvalidSetting

T = TypeVar("T")

Technique = Annotated[
    str, typer.Option("--technique", "-t", help=f"One of: {', '.join(TECHNIQUES)}.")
]
Index = Annotated[
    str | None,
    typer.Option(
        help="lance:PATH, weaviate:URL or graphrag:PATH. Default: lance:.ragweave/index, or "
        "RAGWEAVE_INDEX.",
        show_default=False,
    ),
]
Embeddings = Annotated[
    str | None,
    typer.Option(
        help="offline, openai:MODEL or PROVIDER:MODEL. Default: those of the index, or "
        "RAGWEAVE_EMBEDDINGS.",
        show_default=False,
    ),
]
Tenant = Annotated[
    str | None, typer.Option(help="Tenant of a multi-tenant index.", show_default=False)
]
TopK = Annotated[
    int | None, typer.Option(min=1, max=100, help="Chunks to retrieve (8).", show_default=False)
]
Filter = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        help="Only chunks whose field matches: year=2024, or JSON such as "
        '\'{"year": {"$gte": 2020}}\'. Repeatable.',
        metavar="FIELD=VALUE",
        show_default=False,
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any other setting; `ragweave settings` lists them. Repeatable.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


def run_async(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a command's async part, closing what it opened."""

    from ragweave.stores.registry import aclose_all

    async def closing() -> T:
        try:
            return await coroutine
        finally:
            await aclose_all()

    return asyncio.run(closing())


def text_argument(text: str) -> str:
    """The text itself, or standard input for `-`."""
    return sys.stdin.read() if text == "-" else text


def read_filters(given: Sequence[str] | None) -> dict[str, Any] | None:
    """Filters from `field=value` pairs and JSON objects.

    Raises:
        InvalidSetting: one is neither.
    """
    filters: dict[str, Any] = {}
    for text in given or ():
        if text.lstrip().startswith("{"):
            filters |= _json_object(text)
        else:
            name, value = _pair(text, "--filter")
            filters[name] = value
    return filters or None


def read_settings(given: Sequence[str] | None) -> dict[str, Any]:
    """Context fields from `name=value` pairs.

    Raises:
        InvalidSetting: one is not a pair.
    """
    return dict(_pair(text, "--set") for text in given or ())


def _pair(text: str, option: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise InvalidSetting(f"{option} takes name=value, not {text!r}.")
    return name.strip(), _value(value)


def _value(text: str) -> Any:
    """A number, true, false, null or JSON where it is one, else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InvalidSetting(f"--filter is not valid JSON: {error}.") from error
    return dict(value)
