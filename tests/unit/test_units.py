"""Grouping documents into retrieval units: the limits, the order, and what changes nothing."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.indexing.units import group_documents


def test_related_documents_share_a_unit_and_others_do_not() -> None:
    assert group_documents([10] * 5, [[(0, 3), (4, 1)]], max_tokens=100) == [[0, 3], [1, 4], [2]]


def test_the_smallest_neighbours_are_taken_first() -> None:
    hub, links = 0, [(0, 1), (0, 2), (0, 3)]
    assert group_documents([40, 50, 10, 30], [links], max_tokens=90)[hub] == [0, 2, 3]


def test_documents_with_few_relations_are_taken_before_hubs() -> None:
    # 3 and 4 belong to each other alone; the hub 0 comes last and finds 4 in a full unit
    links = [(0, 1), (0, 2), (0, 4), (3, 4)]
    assert group_documents([10] * 5, [links], max_tokens=25) == [[0, 1], [2], [3, 4]]


def test_the_caps_hold_and_a_document_above_them_is_alone() -> None:
    chain = [(n, n + 1) for n in range(5)]
    assert group_documents([60, 60, 500, 10, 10, 10], [chain], max_tokens=100) == [
        [0],
        [1],
        [2],
        [3, 4, 5],
    ]
    assert group_documents([1] * 6, [chain], max_tokens=100, max_documents=2) == [
        [0, 1],
        [2, 3],
        [4, 5],
    ]


def test_a_count_of_one_makes_each_document_a_unit() -> None:
    assert group_documents([1, 1], [[(0, 1)]], max_tokens=9, max_documents=1) == [[0], [1]]


def test_a_weaker_relation_only_joins_what_a_stronger_one_left_apart() -> None:
    links, folder = [(0, 2)], [(0, 1), (1, 2), (2, 3)]
    assert group_documents([10] * 4, [links, folder], max_tokens=20) == [[0, 2], [1], [3]]
    assert group_documents([10] * 4, [folder, links], max_tokens=20) == [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    ("sizes", "links"),
    [([], []), ([5], [(0, 0)]), ([0, 0], [(0, 1), (1, 0), (0, 1), (0, 0)]), ([1, 2], [])],
)
def test_nothing_loops_repetition_and_empty_documents_are_fine(
    sizes: list[int], links: list[tuple[int, int]]
) -> None:
    units = group_documents(sizes, [links], max_tokens=10)
    assert sorted(document for unit in units for document in unit) == list(range(len(sizes)))


@given(
    st.lists(st.integers(0, 60), min_size=1, max_size=20),
    st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19)), max_size=60),
    st.integers(1, 6),
)
def test_every_document_is_in_one_unit_within_the_caps(
    sizes: list[int], links: list[tuple[int, int]], count: int
) -> None:
    links = [(a % len(sizes), b % len(sizes)) for a, b in links]
    units = group_documents(sizes, [links], max_tokens=100, max_documents=count)
    assert sorted(document for unit in units for document in unit) == list(range(len(sizes)))
    for unit in units:
        assert unit == sorted(unit)
        assert len(unit) <= count
        assert sum(sizes[document] for document in unit) <= 100 or len(unit) == 1
    mirrored = [(b, a) for a, b in links]
    assert group_documents(sizes, [mirrored], max_tokens=100, max_documents=count) == units


def test_many_links_of_any_kind_of_sequence() -> None:
    links = np.array([(n, n + 1) for n in range(0, 9_999, 2)])
    units = group_documents([10] * 10_000, [links], max_tokens=20)
    assert units == [[n, n + 1] for n in range(0, 10_000, 2)]


def test_the_hash_seed_changes_nothing() -> None:
    program = (
        "import random\n"
        "from ragweave.indexing.units import group_documents\n"
        "r = random.Random(7)\n"
        "links = [(r.randrange(500), r.randrange(500)) for _ in range(2000)]\n"
        "sizes = [r.randrange(1000) for _ in range(500)]\n"
        "print(group_documents(sizes, [links], max_tokens=4000))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1
