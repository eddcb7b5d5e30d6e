"""Fusing several ranked lists into one: pure functions over ids and scores.

A list is best first, and its order is the truth: scores that rise along it are distances, and are
turned round. Ties are broken by the best rank and then by id, and sums are exact, so that neither
the order of the lists nor the hash seed changes a result. Only `round_robin` depends on the order
of the lists, by definition.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from statistics import fmean, pstdev

RRF_CONSTANT = 60
"""Damps the lead of the first ranks; 60 is the value of the paper and of the field."""

Ranking = Sequence[tuple[str, float | None]]
"""Ids with their scores (None where there is none), best first."""


@dataclass(frozen=True, slots=True)
class Found:
    """One place where a document was found."""

    list_index: int
    rank: int
    """From 1."""
    score: float | None


@dataclass(frozen=True, slots=True)
class Fused:
    """One document of the fused list."""

    id: str
    score: float
    """Higher is better; comparable within one fused list only."""
    found: tuple[Found, ...]
    """Where it was found, in the order of the lists, each list once at its best rank."""

    @property
    def best_rank(self) -> int:
        """The best rank it has in any list."""
        return min(place.rank for place in self.found)


def rrf(
    rankings: Sequence[Ranking],
    *,
    weights: Sequence[float] | None = None,
    constant: int = RRF_CONSTANT,
) -> list[Fused]:
    """Reciprocal rank fusion: the sum of `weight / (constant + rank)`.

    Source: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and
    individual Rank Learning Methods", SIGIR 2009.

    Raises:
        ValueError: there are not as many weights as lists.
    """
    return _by_sum(
        rankings, weights, lambda ranking: [1 / (constant + place.rank) for place in ranking]
    )


def relative_score(
    rankings: Sequence[Ranking], *, weights: Sequence[float] | None = None
) -> list[Fused]:
    """The weighted mean of each list's scores, scaled so that its worst is 0 and its best 1.

    A document that a list lacks counts 0 there. A list without scores is scaled by rank.

    Raises:
        ValueError: there are not as many weights as lists.
    """
    return _by_sum(rankings, weights, _scaled_to_range, mean=True)


def dist_based_score(
    rankings: Sequence[Ranking], *, weights: Sequence[float] | None = None
) -> list[Fused]:
    """Like `relative_score`, scaled so that mean - 3 deviations is 0 and mean + 3 is 1.

    Source: distribution-based score fusion (Mazzeschi, 2023); an outlier may pass 0 or 1.

    Raises:
        ValueError: there are not as many weights as lists.
    """
    return _by_sum(rankings, weights, _scaled_to_spread, mean=True)


def round_robin(rankings: Sequence[Ranking]) -> list[Fused]:
    """The lists interleaved: every first, then every second, and so on; scores are 1 / place."""
    lists = [_places(index, ranking) for index, ranking in enumerate(rankings)]
    turns = zip_longest(*lists)
    order = dict.fromkeys(item[0] for turn in turns for item in turn if item is not None)
    found = _found(lists)
    return [Fused(id, 1 / place, tuple(found[id])) for place, id in enumerate(order, 1)]


def _by_sum(
    rankings: Sequence[Ranking],
    weights: Sequence[float] | None,
    values_of: Callable[[list[Found]], list[float]],
    *,
    mean: bool = False,
) -> list[Fused]:
    weights = [1.0] * len(rankings) if weights is None else weights
    if len(weights) != len(rankings):
        raise ValueError(f"{len(rankings)} lists to fuse, but {len(weights)} weights.")
    terms: dict[str, list[float]] = {}
    lists = [_places(index, ranking) for index, ranking in enumerate(rankings)]
    for places, weight in zip(lists, weights, strict=True):
        values = values_of([place for _, place in places])
        for (id, _), value in zip(places, values, strict=True):
            terms.setdefault(id, []).append(weight * value)
    divisor = (math.fsum(weights) or 1.0) if mean else 1.0
    found = _found(lists)
    fused = [Fused(id, math.fsum(terms[id]) / divisor, tuple(found[id])) for id in terms]
    return sorted(fused, key=lambda item: (-item.score, item.best_rank, item.id))


def _places(index: int, ranking: Ranking) -> list[tuple[str, Found]]:
    """Each id of a list once, at its best rank."""
    places: dict[str, Found] = {}
    for rank, (id, score) in enumerate(ranking, 1):
        places.setdefault(id, Found(index, rank, _number(score)))
    return list(places.items())


def _number(score: float | None) -> float | None:
    """A plain float, whatever a store gave; NaN says nothing."""
    return None if score is None or math.isnan(score) else float(score)


def _found(lists: Sequence[list[tuple[str, Found]]]) -> dict[str, list[Found]]:
    """Each id with its place in every list that has it."""
    found: dict[str, list[Found]] = {}
    for places in lists:
        for id, place in places:
            found.setdefault(id, []).append(place)
    return found


def _scaled_to_range(places: list[Found]) -> list[float]:
    scores = _higher_is_better(places)
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - low) / (high - low) if high > low else 1.0 for score in scores]


def _scaled_to_spread(places: list[Found]) -> list[float]:
    scores = _higher_is_better(places)
    if not scores or (deviation := pstdev(scores)) == 0:
        return [0.5] * len(scores)
    low = fmean(scores) - 3 * deviation
    return [(score - low) / (6 * deviation) for score in scores]


def _higher_is_better(places: list[Found]) -> list[float]:
    """Scores that agree in direction with the order of the list."""
    scores = [place.score for place in places if place.score is not None]
    if len(scores) < len(places):
        return [-float(place.rank) for place in places]
    rising = all(left <= right for left, right in pairwise(scores))
    return [-score for score in scores] if rising else scores
