"""Step events: one typed union, common to all techniques, sent on LangGraph's custom stream.

Every event has `type`, `technique` and `at` (seconds since the run started).
"""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict


class Event(TypedDict):
    """Fields that every event has."""

    technique: str
    at: float


class Routed(Event):
    """A technique was picked for the question."""

    type: Literal["routed"]
    choice: str
    reason: str


class Retrieved(Event):
    """A search of the index returned these chunks, best first."""

    type: Literal["retrieved"]
    query: str
    ids: list[str]


class Graded(Event):
    """A document was judged against the question."""

    type: Literal["graded"]
    id: str
    title: str | None
    grade: str
    reason: str


class Rewrote(Event):
    """The question was rewritten for search."""

    type: Literal["rewrote"]
    query: str
    reason: str


class SearchedWeb(Event):
    """The web was searched."""

    type: Literal["searched_web"]
    query: str
    count: int


class Expanded(Event):
    """The question was expanded to several queries."""

    type: Literal["expanded"]
    kind: str
    queries: list[str]


class Fused(Event):
    """Several result lists became one."""

    type: Literal["fused"]
    method: str
    ids: list[str]


class Hypothesized(Event):
    """A hypothetical answer was written, to search with."""

    type: Literal["hypothesized"]
    text: str


class Primed(Event):
    """One fold of community reports was read."""

    type: Literal["primed"]
    fold: int
    score: float | None
    follow_ups: list[str]


class FollowUp(Event):
    """A follow-up question changed its status."""

    type: Literal["follow_up"]
    id: str
    parent_id: str | None
    query: str
    status: str
    score: float | None


class Reduced(Event):
    """Partial answers are being merged."""

    type: Literal["reduced"]
    count: int


class Cited(Event):
    """The answer's citations were verified; each field counts them."""

    type: Literal["cited"]
    grounded: int
    ungrounded: int
    missing: int
    invalid: int


class BudgetEvent(Event):
    """A budget was reached; the run ends with what it has."""

    type: Literal["budget"]
    limit: str
    used: float


class Token(Event):
    """A piece of the final answer, its markers checked: all pieces together are the answer."""

    type: Literal["token"]
    text: str


class Revised(Event):
    """The answer changed after it was streamed; this is the whole new text."""

    type: Literal["revised"]
    answer: str
    reason: str


StepEvent = (
    Routed
    | Retrieved
    | Graded
    | Rewrote
    | SearchedWeb
    | Expanded
    | Fused
    | Hypothesized
    | Primed
    | FollowUp
    | Reduced
    | Cited
    | BudgetEvent
    | Token
    | Revised
)
