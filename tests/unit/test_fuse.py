"""Fusion of ranked lists: the order, the ties, the direction, and what found what."""

from __future__ import annotations

import copy
import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.nodes.fuse import Fused, Ranking, dist_based_score, relative_score, round_robin, rrf

DENSE: Ranking = [("X", 0.9), ("a", 0.8), ("Y", 0.7)]
SPARSE: Ranking = [("b", 12.0), ("c", 9.0), ("Y", 1.0)]
Fuse = Callable[..., list[Fused]]
BY_SUM: list[Fuse] = [rrf, relative_score, dist_based_score]


def ids(fused: list[Fused]) -> list[str]:
    return [item.id for item in fused]


def test_what_both_lists_found_comes_first_and_ties_go_by_rank_and_id() -> None:
    assert ids(rrf([DENSE, SPARSE])) == ["Y", "X", "b", "a", "c"]
    assert ids(rrf([SPARSE, DENSE])) == ["Y", "X", "b", "a", "c"]


def test_rrf_scores_are_those_of_the_paper() -> None:
    scores = {item.id: item.score for item in rrf([DENSE, SPARSE])}
    assert scores["Y"] == pytest.approx(2 / 63)
    assert scores["X"] == scores["b"] == pytest.approx(1 / 61)


def test_the_state_can_tell_which_list_found_what_at_which_rank() -> None:
    (best, *_) = rrf([DENSE, SPARSE])
    assert [(place.list_index, place.rank, place.score) for place in best.found] == [
        (0, 3, 0.7),
        (1, 3, 1.0),
    ]


def test_a_repeated_id_counts_once_at_its_best_rank() -> None:
    fused = rrf([[("a", 3.0), ("b", 2.0), ("a", 1.0), ("a", 0.5)]])
    assert {item.id: item.score for item in fused} == pytest.approx({"a": 1 / 61, "b": 1 / 62})


@pytest.mark.parametrize("fuse", BY_SUM)
@pytest.mark.parametrize("scores", [[0.9, 0.5, 0.1], [0.1, 0.5, 0.9], [None, None, None]])
def test_the_first_of_a_list_stays_first_for_similarities_and_distances(
    fuse: Fuse, scores: list[float | None]
) -> None:
    ranking = list(zip(["first", "second", "third"], scores, strict=True))
    assert ids(fuse([ranking])) == ["first", "second", "third"]


def test_relative_scores_run_from_one_to_zero_over_the_mean_of_the_lists() -> None:
    scores = {item.id: item.score for item in relative_score([DENSE, SPARSE])}
    assert scores == {
        "X": 0.5,
        "b": 0.5,
        "a": pytest.approx(0.25),
        "c": pytest.approx(4 / 11),
        "Y": 0.0,
    }


def test_distribution_scores_put_the_mean_at_one_half() -> None:
    scores = {item.id: item.score for item in dist_based_score([DENSE])}
    assert scores["a"] == pytest.approx(0.5)
    assert scores["X"] > scores["a"] > scores["Y"]


def test_round_robin_takes_turns_and_skips_what_it_has() -> None:
    assert ids(round_robin([DENSE, [("X", 5.0), ("b", 4.0)], [("c", 1.0)]])) == [
        "X",
        "c",
        "a",
        "b",
        "Y",
    ]


@pytest.mark.parametrize("fuse", BY_SUM)
def test_a_heavier_list_wins(fuse: Fuse) -> None:
    lists = [[("a", 2.0), ("x", 1.0)], [("b", 2.0), ("y", 1.0)]]
    assert ids(fuse(lists, weights=[1, 3]))[0] == "b"
    assert ids(fuse(lists, weights=[3, 1]))[0] == "a"
    with pytest.raises(ValueError, match="2 lists to fuse, but 1 weights"):
        fuse(lists, weights=[1])


@pytest.mark.parametrize("fuse", [*BY_SUM, round_robin])
def test_nothing_to_fuse_is_nothing(fuse: Fuse) -> None:
    assert fuse([]) == []
    assert fuse([[], []]) == []


def test_scores_of_any_number_type_and_not_a_number_work() -> None:
    numbers: Any = [("a", np.float32(2)), ("b", np.float64(1))]
    assert [item.score for item in relative_score([numbers])] == [1.0, 0.0]
    assert ids(relative_score([[("a", float("nan")), ("b", 1.0)]])) == ["a", "b"]


RANKINGS = st.lists(
    st.lists(st.tuples(st.sampled_from("abcdefgh"), st.floats(0, 1) | st.none()), max_size=10),
    max_size=5,
)


@given(RANKINGS)
def test_the_order_of_the_lists_changes_no_result_and_inputs_stay_as_they_are(
    rankings: list[list[tuple[str, float | None]]],
) -> None:
    before = copy.deepcopy(rankings)
    for fuse in BY_SUM:
        results = {
            tuple((item.id, item.score) for item in fuse(list(order)))
            for order in itertools.islice(itertools.permutations(rankings), 24)
        }
        assert len(results) == 1
    assert rankings == before


@given(RANKINGS)
def test_every_document_comes_out_once(rankings: list[list[tuple[str, float | None]]]) -> None:
    given_ids = {id for ranking in rankings for id, _ in ranking}
    for fuse in [*BY_SUM, round_robin]:
        fused = ids(fuse(rankings))
        assert len(fused) == len(set(fused))
        assert set(fused) == given_ids


def test_the_hash_seed_changes_no_order() -> None:
    program = (
        "from ragweave.nodes.fuse import *\n"
        "lists = [[(f'{i}{j}', None) for j in range(20)] for i in range(5)]\n"
        "print([[item.id for item in fuse(lists)]"
        " for fuse in (rrf, relative_score, dist_based_score, round_robin)])"
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
