"""Grouping related documents into retrieval units under a cap of tokens.

Source: Jiang, Ma and Chen, "LongRAG: Enhancing Retrieval-Augmented Generation with Long-context
LLMs" (arXiv 2406.15319), algorithm 1. Documents are taken from few relations to many; each joins
the groups of its neighbours that were taken before it, the smallest first, while the cap allows.
Here groups are kept in a union-find structure, so that time grows nearly linearly with documents
and relations, and ties are broken by position, so that nothing depends on the hash seed.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Links: TypeAlias = "Sequence[tuple[int, int]] | npt.NDArray[np.int64]"
"""Pairs of positions of related documents; direction, repetition and loops mean nothing."""

Positions: TypeAlias = "array[int]"
"""Packed: a list of a million number objects, walked at random, misses the processor's cache."""


def group_documents(
    sizes: Sequence[int],
    relations: Sequence[Links],
    *,
    max_tokens: int,
    max_documents: int | None = None,
) -> list[list[int]]:
    """Group documents, given by position, into units.

    Args:
        sizes: tokens of each document.
        relations: kinds of relation, the strongest first; a weaker kind only joins the groups
            that the stronger ones made.
        max_tokens: most tokens of a unit. A document above it is a unit by itself.
        max_documents: most documents of a unit; no limit if None.

    Returns:
        The units, in the order of their first document; positions within each ascend.
    """
    groups = _Groups(sizes, max_tokens, max_documents)
    for links in relations:
        _join(groups, links)
    return groups.members()


class _Groups:
    """Disjoint sets of documents, with the size of each kept at its root."""

    def __init__(self, sizes: Sequence[int], max_tokens: int, max_documents: int | None) -> None:
        self.count = len(sizes)
        self.root = array("i", range(self.count))
        self.tokens = array("i", sizes)
        self.documents = array("i", [1]) * self.count
        self.max_tokens = max_tokens
        self.max_documents = max_documents or self.count

    def find(self, document: int) -> int:
        root = self.root
        while root[document] != document:
            root[document] = document = root[root[document]]
        return document

    def join(self, left: int, right: int) -> int:
        """Join two roots if the unit stays within its limits; the root of `left` afterwards.

        The earlier document becomes the root, so that a root is a group's first document.
        """
        tokens = self.tokens[left] + self.tokens[right]
        documents = self.documents[left] + self.documents[right]
        if left == right or tokens > self.max_tokens or documents > self.max_documents:
            return left
        first, other = min(left, right), max(left, right)
        self.root[other] = first
        self.tokens[first], self.documents[first] = tokens, documents
        return first

    def members(self) -> list[list[int]]:
        groups: dict[int, list[int]] = {}
        for document in range(self.count):
            groups.setdefault(self.find(document), []).append(document)
        return list(groups.values())


def _join(groups: _Groups, links: Links) -> None:
    """One pass of the algorithm over one kind of relation."""
    order, starts, earlier = _earlier_neighbours(groups.count, links)
    tokens, find = groups.tokens, groups.find
    for place, document in enumerate(order):
        first, last = starts[place], starts[place + 1]
        if first == last:
            continue
        own = find(document)
        room = groups.max_tokens - tokens[own]
        fitting = {root for n in earlier[first:last] if tokens[root := find(n)] <= room}
        for root in sorted(fitting, key=lambda root: (tokens[root], root)):
            own = groups.join(own, root)


def _earlier_neighbours(count: int, links: Links) -> tuple[Positions, Positions, Positions]:
    """Documents from few relations to many, and the neighbours of each that come before it.

    Those of the document at place `p` of the order are `earlier[starts[p]:starts[p + 1]]`.
    """
    low, high = _distinct_pairs(count, links)
    degree = np.bincount(low, minlength=count) + np.bincount(high, minlength=count)
    order = np.argsort(degree, kind="stable")
    place = np.empty(count, dtype=np.int64)
    place[order] = np.arange(count)
    low_is_later = place[low] > place[high]
    later = np.where(low_is_later, place[low], place[high])
    starts = np.concatenate(([0], np.cumsum(np.bincount(later, minlength=count))))
    by_later = np.argsort(later, kind="stable")
    earlier = np.where(low_is_later, high, low)[by_later]
    return _packed(order), _packed(starts), _packed(earlier)


def _distinct_pairs(
    count: int, links: Links
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    pairs = np.asarray(links, dtype=np.int64).reshape(-1, 2)
    left, right = pairs[:, 0], pairs[:, 1]
    keys = np.minimum(left, right) * count + np.maximum(left, right)
    keys = np.sort(keys[left != right])  # numpy's own `unique` is ten times slower here
    keys = keys[np.diff(keys, prepend=-1) > 0]
    return keys // max(count, 1), keys % max(count, 1)


def _packed(values: npt.NDArray[np.int64]) -> Positions:
    return array("i", values.astype(np.int32).tobytes())
