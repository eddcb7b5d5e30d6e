"""Exact search as the server ranks: by vector, by BM25, and both fused.

Hand-computed examples of each are in `tests/stores/test_weaviate_double.py`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from tests.weaviate_double.collection import Collection, StoredObject, Vector

K1, B = 1.2, 0.75
HYBRID_DEPTH = 100
"""Least number of results of each leg that enter the fusion."""

Ranked = list[tuple[StoredObject, float]]
"""Objects with their scores, best first."""


def by_distance(
    objects: Sequence[StoredObject], vector: str, query: Vector, *, metric: str
) -> Ranked:
    """Objects by `cosine` or `l2-squared` distance, nearest first, if they have the vector."""
    found = [item for item in objects if vector in item.vectors]
    if not found:
        return []
    matrix = np.stack([item.vectors[vector] for item in found])
    if metric == "l2-squared":
        distances = ((matrix - query) ** 2).sum(axis=1)
    else:
        lengths = np.linalg.norm(matrix, axis=1) * np.linalg.norm(query)
        distances = 1 - (matrix @ query) / np.where(lengths == 0, 1, lengths)
    order = np.argsort(distances, kind="stable")
    return [(found[at], float(distances[at])) for at in order]


def by_bm25(
    collection: Collection, everything: Sequence[StoredObject], query: str, names: Sequence[str]
) -> Ranked:
    """Objects by BM25 over white-space tokens, best first; those without a term are left out.

    The server leaves out the factor (k1 + 1): one occurrence at average length scores idf / 2.2.
    """
    scores: dict[str, float] = defaultdict(float)
    for name in names or _searchable(collection):
        documents = {item.id: str(item.properties.get(name, "")).split() for item in everything}
        average = sum(map(len, documents.values())) / max(len(documents), 1) or 1
        for term in dict.fromkeys(query.split()):
            holders = {id: words for id, words in documents.items() if term in words}
            idf = math.log(1 + (len(documents) - len(holders) + 0.5) / (len(holders) + 0.5))
            for id, words in holders.items():
                count = words.count(term)
                scores[id] += idf * count / (count + K1 * (1 - B + B * len(words) / average))
    found = [(item, scores[item.id]) for item in everything if scores[item.id] > 0]
    return sorted(found, key=lambda pair: (-pair[1], pair[0].id))


def fused(keyword: Ranked, distances: Ranked, *, alpha: float, ranked: bool) -> Ranked:
    """Both legs as one list: `alpha` is the weight of the vector leg."""
    legs = [
        (1 - alpha, keyword),
        (alpha, [(item, 1 - distance) for item, distance in distances]),
    ]
    objects = {item.id: item for _, leg in legs for item, _ in leg}
    scores: dict[str, float] = defaultdict(float)
    for weight, leg in legs:
        parts = _by_rank(leg) if ranked else _by_relative_score(leg)
        for (item, _), part in zip(leg, parts, strict=True):
            scores[item.id] += weight * part
    order = sorted(objects, key=lambda id: (-round(scores[id], 7), id))
    return [(objects[id], scores[id]) for id in order]


def _by_rank(leg: Ranked) -> list[float]:
    """The server counts ranks from 0."""
    return [1 / (60 + rank) for rank in range(len(leg))]


def _by_relative_score(leg: Ranked) -> list[float]:
    """Scaled so that the leg's best is 1 and its worst 0; all 1 if they are the same."""
    scores = [score for _, score in leg]
    low, high = min(scores, default=0), max(scores, default=0)
    return [(score - low) / (high - low) if high > low else 1 for score in scores]


def _searchable(collection: Collection) -> list[str]:
    return [
        name
        for name, schema in collection.properties.items()
        if schema["dataType"][0] == "text" and schema.get("indexSearchable", True)
    ]
