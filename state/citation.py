"""State and context of citation RAG."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ragweave.state.base import RagState
from ragweave.state.context import PickingContext, prompt_field
from ragweave.state.records import Source
from ragweave.state.reducers import Replaced


class CitationState(RagState, total=False):
    """State of a citation RAG run. `sources` grow as they are read, batch by batch."""

    documents: Annotated[list[Source], Replaced]
    """Retrieved from the index, best first."""
    pending: Annotated[list[list[Source]], Replaced]
    """Numbered sources that did not fit the first prompt, batch by batch, not read yet."""
    repaired: bool
    """Whether a repair was tried; it is tried once."""


class CitationContext(PickingContext):
    """Settings of citation RAG."""

    top_k: int = Field(default=6, ge=1, le=100, description="How many chunks to retrieve.")
    source_tokens: int = Field(
        default=512, ge=32, le=8_192, description="Most tokens of a numbered source."
    )
    source_overlap: int = Field(
        default=20,
        ge=0,
        le=1_024,
        description="Tokens of whole sentences, at most, that a source repeats from the one before "
        "it, where both are cut from one chunk.",
    )
    prompt_tokens: int = Field(
        default=16_000,
        ge=1_000,
        le=10_000_000,
        description="Most tokens of one prompt. Sources that do not fit the first one are read in "
        "further calls, each of which may refine the answer.",
    )
    repair: bool = Field(
        default=True,
        description="If sentences cite nothing, or markers name no source, let the model mend the "
        "answer once.",
    )
    renumber: bool = Field(
        default=False,
        description="Number the sources anew, from 1, in the order of their first use.",
    )
    refine_prompt: str = prompt_field("refine", "refine_answer")
    repair_prompt: str = prompt_field("repair", "repair_answer")
