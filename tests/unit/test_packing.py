"""Circles are packed without overlap, and the circle around them holds them."""

from __future__ import annotations

import math
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from ragweave.serving.drawing.packing import Circle, enclosing, pack


@given(st.lists(st.floats(0.1, 50), max_size=60))
def test_no_two_circles_overlap_and_all_are_enclosed(radii: list[float]) -> None:
    circles = [Circle(r) for r in radii]
    pack(circles)
    around = enclosing(circles)

    for one, other in combinations(circles, 2):
        distance = math.hypot(one.x - other.x, one.y - other.y)
        assert distance >= one.r + other.r - 1e-3
    for circle in circles:
        assert math.hypot(circle.x - around.x, circle.y - around.y) + circle.r <= around.r + 1e-6


def test_equal_circles_are_packed_tightly() -> None:
    circles = [Circle(1.0) for _ in range(400)]
    pack(circles)
    around = enclosing(circles)

    assert 400 / around.r**2 > 0.75


def test_one_circle_is_enclosed_by_itself() -> None:
    circle = Circle(3.0)
    pack([circle])
    around = enclosing([circle])

    assert (around.r, around.x, around.y) == (3.0, 0.0, 0.0)
