"""One ranking from the two legs of a hybrid search, by score or by rank.

Relative-score fusion follows Weaviate's `relativeScoreFusion`; reciprocal rank fusion is
Cormack, Clarke and Buettcher (SIGIR 2009), https://doi.org/10.1145/1571941.1572114.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from ragweave.stores.base import Fusion

LEG_DEPTH = 100
"""How many of a leg's best hits its scores are scaled over."""

RRF_CONSTANT = 60

Scores = Mapping[str, float]
"""Score by chunk id, best first."""


def fuse(vector: Scores, keyword: Scores, *, alpha: float, fusion: Fusion) -> dict[str, float]:
    """Fused scores by id, best first; equal ones in the order of their best rank, then of ids.

    `alpha` is the weight of the vector leg, `1 - alpha` that of the keyword leg, under either
    fusion: at 0.5, `rrf` ranks as plain reciprocal rank fusion does.
    """
    scale = _relative if fusion == "relative" else _reciprocal
    legs = ((alpha, scale(vector)), (1 - alpha, scale(keyword)))
    fused: dict[str, float] = {}
    for weight, leg in legs:
        if weight:
            for id, score in leg.items():
                fused[id] = fused.get(id, 0.0) + weight * score
    ranks = best_ranks(vector, keyword)
    return dict(sorted(fused.items(), key=lambda item: (-item[1], ranks[item[0]], item[0])))


def best_ranks(*legs: Scores) -> dict[str, int]:
    """The better of each id's ranks in several rankings, from 1."""
    ranks: dict[str, int] = {}
    for leg in legs:
        for rank, id in enumerate(leg, start=1):
            ranks[id] = min(rank, ranks.get(id, rank))
    return ranks


def _relative(scores: Scores) -> dict[str, float]:
    """Scores scaled so that the best is 1 and the one at `LEG_DEPTH`, or the last, is 0."""
    top: Sequence[float] = list(islice(scores.values(), LEG_DEPTH))
    if not top:
        return {}
    best, least = top[0], top[-1]
    if best == least:
        return {id: float(score == best) for id, score in scores.items()}
    return {id: max(0.0, (score - least) / (best - least)) for id, score in scores.items()}


def _reciprocal(scores: Scores) -> dict[str, float]:
    return {id: 1 / (RRF_CONSTANT + rank) for rank, id in enumerate(scores, start=1)}
