"""State and context of LongRAG."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from ragweave.state.base import RagState, Shared
from ragweave.state.context import PickingContext, prompt_field
from ragweave.state.records import Source
from ragweave.state.reducers import Replaced, append


class Reading(TypedDict):
    """What one batch of sources says about the question."""

    batch: int
    """From 1."""
    text: str
    """Empty if the batch says nothing about it."""
    failed: Literal["budget", "model"] | None
    """What kept the batch from being read to its end."""
    reason: str | None
    """The same in words."""


class LongRagState(RagState, total=False):
    """State of a LongRAG run.

    `sources` are the parts of the retrieved units, each a document or a piece of one.
    """

    documents: Annotated[list[Source], Replaced]
    """The best chunk of each retrieved unit, best first."""
    batches: list[list[int]]
    """Numbers of the sources that fit the reader together, batch by batch."""
    readings: Annotated[list[Reading], append]
    long_answer: str | None
    """What all readings say together, where a short answer is still to be made of it."""


class ReadTask(Shared):
    """What one parallel reader is given."""

    question: str
    batch: int
    sources: list[Source]


class LongRagContext(PickingContext):
    """Settings of LongRAG."""

    top_k: int = Field(default=8, ge=1, le=100, description="How many units to retrieve.")
    reader_tokens: int = Field(
        default=32_000,
        ge=1_000,
        le=10_000_000,
        description="Most tokens of one call to the reader. What does not fit is read in batches, "
        "all at once, and merged.",
    )
    short_answer: bool = Field(
        default=False, description="Make a short answer of the long one, in one more call."
    )
    read_prompt: str = prompt_field("read", "read_batch")
    merge_prompt: str = prompt_field("merge", "merge_readings")
    shorten_prompt: str = prompt_field("shorten", "shorten_answer")
