"""What retrieval finds, without a model call."""

from __future__ import annotations

from typing import Any

from ragweave.indexing.loading.spacing import close_up
from ragweave.nodes.retrieve import no_index_yet, search_index, searchable_index
from ragweave.nodes.sources import numbered
from ragweave.serving.techniques import settled
from ragweave.state.base import MAX_QUESTION_CHARACTERS
from ragweave.state.context import RagContext
from ragweave.state.errors import IndexMissing, InvalidQuestion
from ragweave.state.records import Source


async def asearch(query: str, **settings: Any) -> list[Source]:
    """The chunks that an index finds for a query, best first, numbered from 1.

    Args:
        query: words or a question.
        settings: `index`, `embeddings`, `tenant`, `top_k`, `search_mode`, `alpha`, `filters`, as
            in `RagContext`; None keeps a default.

    Raises:
        RagweaveError: whatever went wrong, in one line that says what to do.
    """
    context = settled(RagContext, settings, "setting of a search")
    if not query.strip():
        raise InvalidQuestion("The query is empty: say what to search for.")
    if len(query) > MAX_QUESTION_CHARACTERS:
        raise InvalidQuestion(
            f"The query has {len(query):,} characters; at most {MAX_QUESTION_CHARACTERS:,} are "
            "allowed."
        )
    index, spec = await searchable_index(context)
    if spec is None:
        raise IndexMissing(no_index_yet(context))
    found = await search_index(
        close_up(query.strip()), index=index, embeddings=spec.embeddings, context=context
    )
    return numbered(found)
