"""`ragweave settings`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragweave.serving.cli.options import Json
from ragweave.serving.cli.screen import out, print_json
from ragweave.serving.techniques import LISTED, TECHNIQUES, context_type, load
from ragweave.state.errors import InvalidSetting
from ragweave.state.unknown_name import unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

SIGNS = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}
"""Keys of a JSON schema that bound a number."""


def settings(
    technique: Annotated[str, typer.Argument(help=f"{', '.join(LISTED)}.")],
    as_json: Json = False,
) -> None:
    """List what --set can set for a technique, ingest or graph-index, with defaults and bounds.

    [dim]ragweave settings crag[/dim]
    """
    schema = _context_type(technique)
    fields = schema.model_json_schema()
    if as_json:
        print_json(fields)
        return
    defaults = schema().model_dump()
    for name, field in fields["properties"].items():
        out.print(name, style="bold", end="")
        out.print(f" = {_default(field, defaults[name])}{_allowed(field)}")
        out.print(f"    {field['description']}", style="dim")


def _context_type(name: str) -> type[BaseModel]:
    if name == "ingest":
        from ragweave.state.ingest import IngestContext

        return IngestContext
    if name == "units":
        from ragweave.state.units import UnitsContext

        return UnitsContext
    if name == "graph-index":
        from ragweave.state.graph_index import GraphIndexContext

        return GraphIndexContext
    if name not in TECHNIQUES:
        raise InvalidSetting(unknown("list of settings", name, LISTED))
    return context_type(load(name))


def _default(field: Mapping[str, Any], value: object) -> str:
    if field.get("langgraph_type") == "prompt":
        return "a prompt"
    if isinstance(value, bool):
        return str(value).lower()
    return "empty" if value in (None, {}, []) else str(value)


def _allowed(field: Mapping[str, Any]) -> str:
    allowed = [", ".join(field.get("enum", ()))]
    allowed += [f"{sign} {field[name]:,}" for name, sign in SIGNS.items() if name in field]
    shown = ", ".join(filter(None, allowed))
    return f"  ({shown})" if shown else ""
