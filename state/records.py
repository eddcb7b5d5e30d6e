"""The records that travel through states and outputs: plain data that survives any checkpointer.

All are `typing_extensions.TypedDict`: with `typing.TypedDict` on Python 3.11 the LangGraph server
publishes empty schemas, and pydantic models or dataclasses come back from a pause as dicts.
A value that is not known is `None`, never left out.
"""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

Status = Literal["answered", "no_evidence", "partial"]
CitationStatus = Literal["grounded", "ungrounded", "missing"]
ScoreKind = Literal["cosine", "bm25", "relative", "rrf", "web", "retriever"]


class Source(TypedDict):
    """One chunk or one web result, numbered as the answering model saw it."""

    number: int
    """Number of the source in the prompt, from 1; 0 while it is not numbered yet."""
    id: str
    document_id: str
    text: str
    title: str | None
    url: str | None
    path: str | None
    """Path as it was given to `ingest`."""
    page: int | None
    """Page of the document, from 1."""
    start: int | None
    """First character of the text in its document."""
    end: int | None
    """Character after the last one, so that `document[start:end] == text`."""
    score: float | None
    """Higher is better, whatever the kind."""
    score_kind: str | None
    metadata: dict[str, Any]


class Passage(TypedDict):
    """What a grader needs to see of a source."""

    id: str
    title: str | None
    text: str


class Citation(TypedDict):
    """One use of one source by one sentence of the answer."""

    number: int | None
    source_id: str | None
    sentence: str
    quote: str | None
    """The words of the source that support the sentence, verbatim."""
    start: int | None
    """First character of the quote in its document (in the source's text if that is unknown)."""
    end: int | None
    status: CitationStatus
    """`grounded`: the quote was found. `ungrounded`: the source does not support the sentence.
    `missing`: the sentence states something and cites nothing; number and source_id are null."""


class StageUsage(TypedDict):
    """What the model calls of one stage cost."""

    calls: int
    """Requests sent, failed and repeated ones included."""
    input_tokens: int
    output_tokens: int
    seconds: float
    """Time spent waiting for answers, added up over calls (which may overlap)."""


class Usage(StageUsage):
    """What all model calls of a run cost, in total and by stage."""

    stages: dict[str, StageUsage]


class Decision(TypedDict):
    """One choice that the graph made, with its reason, for whoever reads the state or a trace."""

    node: str
    choice: str
    reason: str


def no_usage() -> Usage:
    """Usage of a run that has called no model."""
    return Usage(calls=0, input_tokens=0, output_tokens=0, seconds=0.0, stages={})
