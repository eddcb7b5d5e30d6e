"""State and context of ingest. No document's text is ever part of the state."""

from __future__ import annotations

from typing import Any, Literal, Self

from langchain_core.documents import Document
from pydantic import Field, model_validator
from typing_extensions import TypedDict

from ragweave.state.context import MAX_NAME, IndexContext
from ragweave.state.events import Event

MAX_FAILURES_REPORTED = 1000


class Failure(TypedDict):
    """What could not be ingested."""

    path: str
    """Path of the file, with `:line` after it for one record of a JSON Lines file."""
    reason: str


class IngestInput(TypedDict, total=False):
    """Files and folders, or documents in memory, or both."""

    paths: list[str]
    documents: list[Document]
    """Also any iterable of them, such as a loader's `lazy_load()`, which is read piece by piece."""


class IngestOutput(TypedDict):
    """What an ingest did."""

    added: int
    """Documents that are new or have changed."""
    unchanged: int
    removed: int
    """Documents that are gone from the given paths."""
    failed: list[Failure]
    """The first `MAX_FAILURES_REPORTED`, of a JSON Lines file the first five broken lines; entries
    after these say how many more there were."""
    failed_count: int
    """How many failed in all, each broken line counted."""
    chunks: int
    """Chunks that the added and the unchanged documents have together."""
    seconds: float


class IngestState(IngestInput, total=False):
    """State of an ingest."""

    settings: dict[str, Any]
    total_files: int
    total_bytes: int
    added: int
    unchanged: int
    removed: int
    failed: list[Failure]
    failed_count: int
    chunks: int
    seconds: float


class Progress(Event):
    """How far an ingest has come."""

    document: str
    """Path or id of the document that was last finished."""
    documents: int
    """Documents finished so far: added, unchanged or failed."""
    failed: int
    chunks: int
    bytes: int
    """Bytes of the files that are done, of `total_bytes`."""
    total_bytes: int
    """Bytes of all files that were found; documents in memory are not counted."""


class Ingesting(Progress):
    """Something was stored, found unchanged, or failed."""

    type: Literal["ingesting"]


class Interrupted(Progress):
    """The run was cancelled. What was counted is stored; the next run goes on from there."""

    type: Literal["interrupted"]


class IngestContext(IndexContext):
    """Settings of ingest."""

    chunk_tokens: int = Field(
        default=512, ge=32, le=8192, description="Most tokens of a chunk (about 4 characters each)."
    )
    chunk_overlap: int = Field(
        default=0,
        ge=0,
        le=2048,
        description="Tokens, at most, that a chunk repeats from the end of the one before it.",
    )
    text_field: str = Field(
        default="text",
        min_length=1,
        max_length=MAX_NAME,
        description="Field of a JSON Lines record with its text.",
    )
    id_field: str = Field(
        default="id",
        min_length=1,
        max_length=MAX_NAME,
        description="Field of a JSON Lines record with its id.",
    )
    title_field: str = Field(
        default="title",
        min_length=1,
        max_length=MAX_NAME,
        description="Field of a JSON Lines record with its title.",
    )
    url_field: str = Field(
        default="url",
        min_length=1,
        max_length=MAX_NAME,
        description="Field of a JSON Lines record with its address.",
    )
    filter_fields: list[str] = Field(
        default_factory=list,
        max_length=64,
        description="Metadata to filter searches by, such as year:int. Types: text, int, number, "
        "bool, date; text if none is given.",
    )
    prune: bool = Field(
        default=True, description="Remove documents that are gone from the given paths."
    )
    part: str | None = Field(
        default=None,
        pattern=r"^[1-9]\d{0,3}/[1-9]\d{0,3}$",
        description="Ingest only this part of the documents, such as 1/4, so that several "
        "machines can share the work.",
    )
    max_file_mb: int = Field(
        default=64,
        ge=1,
        le=2048,
        description="Largest file that is read; JSON Lines may be larger.",
    )
    max_file_seconds: float = Field(
        default=60, gt=0, le=3600, description="Most seconds that one PDF or office file may take."
    )
    batch_chunks: int = Field(
        default=256, ge=1, le=4096, description="Chunks that are embedded and stored together."
    )

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.chunk_overlap > self.chunk_tokens // 2:
            raise ValueError("chunk_overlap can be at most half of chunk_tokens")
        number, _, parts = (self.part or "1/1").partition("/")
        if int(number) > int(parts):
            raise ValueError(f"part {self.part} does not exist: there are {parts}")
        return self
