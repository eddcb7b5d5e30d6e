"""State and context of the router that picks a technique for each question."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field
from typing_extensions import TypedDict

from ragweave.state.base import Output, RagState
from ragweave.state.context import PickingContext

TechniqueName = Literal["crag", "rag_fusion", "longrag", "citation", "local_search", "drift"]
TECHNIQUE_NAMES: tuple[TechniqueName, ...] = get_args(TechniqueName)


class Abilities(TypedDict):
    """What the index can do, and what one search of it found for the question."""

    documents: bool
    """It has chunks to search."""
    units: bool
    """What was found belongs to retrieval units, which `longrag` reads."""
    graph: bool
    """It has a knowledge graph, which `local_search` and `drift` read."""
    web: bool
    """The web may be searched, and there is a key for it."""
    evidence: float | None
    """How well the best passage answers the question, by `models/offline/relevance.py`; null if
    none was found."""
    missing: list[str]
    """Words of the question that this passage lacks, rarest first."""


class AutoState(RagState, total=False):
    """State of a routed run. The rest of its keys comes from the technique."""

    abilities: Abilities
    technique: TechniqueName
    """The technique that was picked."""
    reason: str
    """Why."""


class AutoOutput(Output):
    """The output of every technique, and which one it is of."""

    technique: TechniqueName
    reason: str


class AutoContext(PickingContext):
    """Settings of the router. All but `techniques` are handed to the technique, where it has them;
    one that is left at its default is left at the technique's own.
    """

    techniques: list[TechniqueName] = Field(
        default=list(TECHNIQUE_NAMES),
        min_length=1,
        max_length=len(TECHNIQUE_NAMES),
        description="Techniques to choose from.",
    )
    web_search: Literal["auto", "always", "never", "ask"] = Field(
        default="auto",
        description="For crag: search the web when the documents do not suffice, always, never, "
        "or after a person has approved the query.",
    )
    pick_sources: bool = Field(
        default=False,
        description="Let a person pick the sources before the answer is written (not for drift).",
    )
    approve_above_calls: int | None = Field(
        default=None,
        ge=0,
        le=10_000,
        description="For drift: ask a person first if the run may make more model calls than "
        "this; never if empty.",
    )
