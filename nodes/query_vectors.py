"""Vectors of queries, remembered for a while: a follow-up is ranked first and then searched."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

from ragweave.models.embedding import embed_query, embed_texts

MAX_REMEMBERED = 1_024
_ALIKE = ("offline", "openai:")
"""Embeddings that make no difference between queries and documents, so one request does."""

_remembered: OrderedDict[tuple[str, str], list[float]] = OrderedDict()
"""By embeddings and text. The same text always has the same vector, so runs may share them."""


async def query_vectors(texts: Sequence[str], *, embeddings: str) -> list[list[float]]:
    """The vectors of queries, in their order; those not known yet are made at the same time.

    Raises:
        ModelUnavailable, ModelRefused, InvalidSetting: see `embed_query`.
    """
    known = {text: _remembered.get((embeddings, text)) for text in dict.fromkeys(texts)}
    new = [text for text, vector in known.items() if vector is None]
    made = await _embedded(new, embeddings)
    vectors = {**known, **dict(zip(new, made, strict=True))}
    found = {text: vector for text, vector in vectors.items() if vector is not None}
    for text, vector in found.items():
        _remember((embeddings, text), vector)
    return [found[text] for text in texts]


async def _embedded(texts: Sequence[str], embeddings: str) -> list[list[float]]:
    if len(texts) > 1 and embeddings.startswith(_ALIKE):
        return await embed_texts(texts, embeddings=embeddings)
    return await asyncio.gather(*(embed_query(text, embeddings=embeddings) for text in texts))


async def query_vector(text: str, *, embeddings: str) -> list[float]:
    """The vector of one query."""
    return (await query_vectors([text], embeddings=embeddings))[0]


def similarities(
    rows: Sequence[Sequence[float]], columns: Sequence[Sequence[float]]
) -> list[list[float]]:
    """Cosines of every row with every column. It may import numpy: call it off the event loop."""
    import numpy as np

    if not rows or not columns:
        return [[] for _ in rows]
    matrices = [np.asarray(vectors, dtype=np.float64) for vectors in (rows, columns)]
    lengths = [np.linalg.norm(matrix, axis=1, keepdims=True) for matrix in matrices]
    left, right = (m / np.where(n > 0, n, 1) for m, n in zip(matrices, lengths, strict=True))
    cosines: list[list[float]] = (left @ right.T).tolist()
    return cosines


def _remember(key: tuple[str, str], vector: list[float]) -> None:
    _remembered[key] = vector
    _remembered.move_to_end(key)
    while len(_remembered) > MAX_REMEMBERED:
        _remembered.popitem(last=False)
