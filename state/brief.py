"""An answer in few words, for agents: what it says, and where each source that it cites stands."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from ragweave.state.base import Question
from ragweave.state.records import Status


class BriefSource(TypedDict):
    """One source that an answer cites."""

    number: int
    place: str
    """Title, path or address, and page."""
    quotes: list[str]
    """The words of the source that the answer rests on."""


class BriefAnswer(TypedDict):
    """What an agent is given of a technique's output."""

    answer: str
    """With its markers `[n]`; of a run that failed, what went wrong and what to do."""
    status: Status | Literal["failed"]
    sources: list[BriefSource]
    """Those that the answer cites, by number."""
    warnings: list[str]


class BriefInput(TypedDict):
    """What an agent gives."""

    question: Question


class BriefState(BriefInput, BriefAnswer):
    """State of a run that answers an agent. What the technique read is not part of it."""
