"""Settings and report of grouping an index's documents into retrieval units."""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from typing_extensions import TypedDict

from ragweave.state.context import IndexContext


class UnitsContext(IndexContext):
    """How documents are grouped."""

    unit_tokens: int = Field(
        default=4_000, ge=50, le=1_000_000, description="Most tokens of a retrieval unit."
    )
    max_unit_documents: int | None = Field(
        default=20,
        ge=1,
        description="Most documents of a retrieval unit; no limit if empty. 1 makes each a unit.",
    )
    unit_relations: list[Literal["links", "file", "folder"]] = Field(
        default=["links", "file", "folder"],
        description="What relates documents: links between them; the same file, or else folder, "
        "for those that nothing stronger relates.",
    )
    relation_field: str | None = Field(
        default=None,
        description="Metadata field that names related documents, or a value they share.",
    )
    long_documents: Literal["keep", "split"] = Field(
        default="keep",
        description="A document of more tokens is a unit by itself, or is split at its headings.",
    )


class UnitsReport(TypedDict):
    """What grouping did."""

    documents: int
    units: int
    largest: int
    """Tokens of the largest unit."""
    moved: int
    """Chunks that now belong to another unit than before."""
    removed: int
    """Units that no longer exist."""
