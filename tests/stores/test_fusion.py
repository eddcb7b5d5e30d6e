"""Fusion of two legs, against numbers worked out by hand."""

from __future__ import annotations

import pytest

from ragweave.stores.fusion import LEG_DEPTH, best_ranks, fuse


def test_relative_scores_weigh_each_leg_from_its_best_to_its_last() -> None:
    vector = {"a": 0.9, "b": 0.7, "c": 0.5}
    keyword = {"c": 12.0, "d": 8.0, "a": 4.0}
    fused = fuse(vector, keyword, alpha=0.25, fusion="relative")
    assert list(fused) == ["c", "d", "a", "b"]
    assert fused == pytest.approx({"c": 0.75, "d": 0.375, "a": 0.25, "b": 0.125})


def test_reciprocal_ranks() -> None:
    fused = fuse({"a": 0.9, "b": 0.7}, {"b": 3.0, "c": 2.0}, alpha=0.5, fusion="rrf")
    assert list(fused) == ["b", "a", "c"]
    assert fused == pytest.approx(
        {"b": 0.5 / 62 + 0.5 / 61, "a": 0.5 / 61, "c": 0.5 / 62},
    )


@pytest.mark.parametrize(("alpha", "expected"), [(0, ["b", "c"]), (1, ["a", "b"])])
def test_a_leg_without_weight_adds_no_hits(alpha: float, expected: list[str]) -> None:
    for fusion in ("relative", "rrf"):
        fused = fuse({"a": 0.9, "b": 0.7}, {"b": 3.0, "c": 2.0}, alpha=alpha, fusion=fusion)
        assert list(fused) == expected


def test_equal_scores_all_get_the_full_weight() -> None:
    assert fuse({}, {"a": 2.0, "b": 2.0}, alpha=0.25, fusion="relative") == {"a": 0.75, "b": 0.75}
    assert fuse({"a": 0.1}, {}, alpha=0.25, fusion="relative") == {"a": 0.25}
    assert fuse({}, {}, alpha=0.25, fusion="relative") == {}


def test_hits_below_the_depth_do_not_change_the_scale() -> None:
    top = {f"top{rank}": 200.0 - rank for rank in range(LEG_DEPTH)}
    below = {"below1": 50.0, "below2": 40.0}
    fused = fuse({}, top | below, alpha=0, fusion="relative")
    assert {id: fused[id] for id in top} == fuse({}, top, alpha=0, fusion="relative")
    assert list(fused)[-3:] == ["top99", "below1", "below2"]
    assert fused["below1"] == fused["below2"] == 0


def test_ties_go_to_the_better_rank_and_then_to_the_id() -> None:
    fused = fuse({"z": 1.0, "y": 0.0}, {"b": 1.0, "a": 1.0, "y": 0.0}, alpha=0.5, fusion="relative")
    assert list(fused) == ["b", "z", "a", "y"]
    assert best_ranks({"z": 1.0, "y": 0.0}, {"y": 1.0}) == {"z": 1, "y": 1}
