"""Exact vector search over a few thousand vectors held in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ragweave.stores.graph import Neighbour, check_dimension

Matrix = np.ndarray[Any, np.dtype[np.float32]]


class VectorTable:
    """Ids and their vectors, one row each, of one dimension."""

    def __init__(self, ids: Sequence[str], matrix: Matrix) -> None:
        self.ids = list(ids)
        self.matrix: Matrix = np.ascontiguousarray(matrix, dtype=np.float32)
        self._norms = np.linalg.norm(self.matrix, axis=1)

    @classmethod
    def of(cls, vectors: Mapping[str, Sequence[float]]) -> VectorTable:
        """A table of vectors given by id."""
        return cls(list(vectors), np.asarray(list(vectors.values()), dtype=np.float32))

    @property
    def dimension(self) -> int:
        """Length of each vector; 0 for an empty table."""
        return int(self.matrix.shape[1]) if self.ids else 0

    def nearest_by_distance(self, vector: Sequence[float], k: int) -> list[Neighbour]:
        """The `k` rows of smallest L2 distance, scored 1 - squared distance; ties by row."""
        if not self.ids:
            return []
        difference = self.matrix - self._query(vector)
        return self._best(1 - np.einsum("ij,ij->i", difference, difference), k)

    def nearest_by_cosine(
        self, vector: Sequence[float], k: int, *, among: Sequence[bool] | None = None
    ) -> list[Neighbour]:
        """The `k` rows of highest cosine, of those that `among` (one flag a row) lets through."""
        if not self.ids:
            return []
        query = self._query(vector)
        lengths = self._norms * float(np.linalg.norm(query))
        cosines = self.matrix @ query / np.where(lengths > 0, lengths, 1)
        if among is not None:
            cosines = np.where(np.asarray(among), cosines, -np.inf)
        return [hit for hit in self._best(cosines, k) if hit.score > -np.inf]

    def as_lists(self) -> dict[str, list[float]]:
        """The vectors by id."""
        return dict(zip(self.ids, self.matrix.tolist(), strict=True))

    def _query(self, vector: Sequence[float]) -> Matrix:
        check_dimension(vector, self.dimension)
        query: Matrix = np.asarray(vector, dtype=np.float32)
        return query

    def _best(self, scores: np.ndarray[Any, Any], k: int) -> list[Neighbour]:
        order = np.argsort(-scores, kind="stable")[:k]
        return [Neighbour(self.ids[row], float(scores[row])) for row in order]
