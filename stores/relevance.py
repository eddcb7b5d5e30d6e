"""How near hits are to a question in itself, whatever kind of search found them.

A hybrid score says only which hit of one query is better: its best hit stands near 1 even where
nothing fits. Keyword scores have no upper end. A threshold can mean a cosine and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragweave.state.errors import IndexFailure
from ragweave.stores.base import Hit, Index


async def with_cosines(
    index: Index, hits: Sequence[Hit], vector: Sequence[float]
) -> list[tuple[Hit, float]]:
    """Each hit with the cosine of its vector and the question's, -1 to 1, in the order of the hits.

    A chunk that was deleted since it was found is left out.

    Raises:
        IndexFailure: the index has no vectors.
    """
    if all(hit.kind == "cosine" for hit in hits):
        return [(hit, _within(hit.score)) for hit in hits]
    chunks = await index.get([hit.chunk.id for hit in hits], vectors=True)
    vectors = {chunk.id: chunk.vector for chunk in chunks}
    return [
        (hit, _cosine(index, vectors[hit.chunk.id], vector))
        for hit in hits
        if hit.chunk.id in vectors
    ]


def _cosine(index: Index, one: Sequence[float] | None, other: Sequence[float]) -> float:
    if one is None:
        raise IndexFailure(
            f"{index.name} has no vectors to tell relevance by. "
            "Search without relevance scores and score_threshold."
        )
    lengths = np.linalg.norm(one) * np.linalg.norm(other)
    return _within(float(np.dot(one, other) / lengths)) if lengths > 0 else 0.0


def _within(cosine: float) -> float:
    """Rounding may carry a cosine a little beyond 1."""
    return min(1.0, max(-1.0, cosine))
