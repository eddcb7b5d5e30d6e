"""Letting a person pick the sources to answer from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel, Field, model_validator

from ragweave.models.budget import ledger_of
from ragweave.nodes.asking import ask_person
from ragweave.nodes.events import decided
from ragweave.nodes.node import Node
from ragweave.nodes.sources import numbered
from ragweave.state.context import PickingContext, context_of
from ragweave.state.records import Source

SHOWN_CHARACTERS = 500


class SourceChoice(BaseModel):
    """A person's choice of sources."""

    numbers: list[int] | None = Field(
        default=None, description="Numbers of the sources to answer from; all if null."
    )

    @model_validator(mode="before")
    @classmethod
    def _from_one_word(cls, value: object) -> object:
        """All, none, or the numbers alone are an answer too."""
        match value:
            case bool():
                return {"numbers": None if value else []}
            case str() if re.fullmatch(r"[\d\s,;]+", value):
                return {"numbers": re.findall(r"\d+", value)}
            case list():
                return {"numbers": value}
            case dict():
                return value
        raise ValueError(
            "Give the numbers of sources, such as [1, 3]; true for all, false for none."
        )


def wants_to_pick(
    state: Mapping[str, Any], key: Literal["documents", "sources"] = "sources"
) -> bool:
    """Whether a person wants to pick among `key`, and there is something to pick."""
    return bool(state[key]) and context_of(state, None, PickingContext).pick_sources


def pick_sources(key: Literal["documents", "sources"]) -> Node:
    """Make the node `pick_sources`: wait for a person to pick among `key`, and number them anew."""

    async def pick_sources(state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        offered: list[Source] = numbered(state[key])
        asked = {"question": state["question"], "sources": [_shown(source) for source in offered]}

        def unknown(choice: SourceChoice) -> str | None:
            strange = set(choice.numbers or ()) - {source["number"] for source in offered}
            return f"There is no source {min(strange)}." if strange else None

        choice = ask_person(asked, SourceChoice, unknown)
        ledger_of(state).restart_clock()
        if choice.numbers is None:
            return {"decisions": decided("pick_sources", "all", f"All {len(offered)} were kept.")}
        kept = [source for source in offered if source["number"] in choice.numbers]
        reason = f"A person kept {len(kept)} of {len(offered)} sources."
        return {key: numbered(kept), "decisions": decided("pick_sources", "picked", reason)}

    return pick_sources


def _shown(source: Source) -> dict[str, Any]:
    """What a person needs to see of a source."""
    fields = ("number", "title", "path", "url", "page", "score")
    shown: dict[str, Any] = {name: source[name] for name in fields}  # type: ignore[literal-required]
    return {**shown, "text": source["text"][:SHOWN_CHARACTERS]}
