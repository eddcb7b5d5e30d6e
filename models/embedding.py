"""The one place that embeds texts: batched, bounded, tried again, checked."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence

from ragweave.models.attempts import attempted, in_flight
from ragweave.models.faults import LONGEST_WAIT, Transient, faults_of
from ragweave.models.providers import EMBEDDING_BATCH
from ragweave.models.registry import embeddings as embeddings_named
from ragweave.state.errors import ModelUnavailable

REQUEST_SECONDS = 60.0
"""Longest wait for the vectors of one batch."""


async def embed_query(text: str, *, embeddings: str) -> list[float]:
    """The vector of a search query.

    Raises:
        ModelUnavailable: no vector after all attempts, or one that is not a vector of numbers.
        ModelRefused: the provider refused the key or the request.
        InvalidSetting: there are no such embeddings.
    """
    model = await embeddings_named(embeddings)
    vectors = await _request(embeddings, lambda: _one(model.aembed_query(text)))
    _check(vectors, 1, embeddings)
    return vectors[0]


async def embed_texts(texts: Sequence[str], *, embeddings: str) -> list[list[float]]:
    """The vectors of texts, in their order.

    Raises:
        ModelUnavailable: no vectors after all attempts, or not one of equal length for each text.
        ModelRefused: the provider refused the key or the request.
        InvalidSetting: there are no such embeddings.
    """
    model = await embeddings_named(embeddings)
    batches = [
        list(texts[first : first + EMBEDDING_BATCH])
        for first in range(0, len(texts), EMBEDDING_BATCH)
    ]

    async def embed(batch: list[str]) -> list[list[float]]:
        return await _request(embeddings, lambda: model.aembed_documents(batch))

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(embed(batch)) for batch in batches]
    except ExceptionGroup as failures:  # `except*` wraps what it raises again on older Pythons
        raise failures.exceptions[0] from None
    vectors = [vector for task in tasks for vector in task.result()]
    _check(vectors, len(texts), embeddings)
    return vectors


async def _request(
    name: str, embed: Callable[[], Awaitable[list[list[float]]]]
) -> list[list[float]]:
    async def attempt() -> list[list[float]]:
        async with in_flight():
            try:
                async with asyncio.timeout(REQUEST_SECONDS):
                    with faults_of(name):
                        return await embed()
            except TimeoutError as error:
                raise Transient(f"{name}: no vectors in {REQUEST_SECONDS:.0f} seconds") from error

    return await attempted(attempt, remaining=lambda: LONGEST_WAIT)


async def _one(vector: Awaitable[list[float]]) -> list[list[float]]:
    return [await vector]


def _check(vectors: Sequence[Sequence[float]], expected: int, name: str) -> None:
    if len(vectors) != expected:
        raise ModelUnavailable(f"{name} gave {len(vectors)} vectors for {expected} texts.")
    lengths = {len(vector) for vector in vectors}
    if len(lengths) > 1 or 0 in lengths:
        raise ModelUnavailable(f"{name} gave vectors of different lengths: {sorted(lengths)}.")
    if not all(math.isfinite(sum(vector)) for vector in vectors):
        raise ModelUnavailable(f"{name} gave a vector that holds NaN or infinity.")
