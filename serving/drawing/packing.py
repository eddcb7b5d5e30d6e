"""Packing circles into circles, so that a hierarchy is seen as things within things."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_NEARLY = 1e-6
_ENCLOSING_STEPS = 200


@dataclass(eq=False, slots=True)
class Circle:
    """A circle, at first at the origin."""

    r: float
    x: float = 0.0
    y: float = 0.0


@dataclass(eq=False, slots=True)
class _Link:
    """One circle of the front: the closed chain of outermost circles."""

    circle: Circle
    before: _Link | None = None
    after: _Link | None = None


def pack(circles: Sequence[Circle]) -> None:
    """Move circles next to each other around the origin, in their order; none overlap.

    The front-chain algorithm of Wang et al., Visualization of large hierarchical data by circle
    packing (CHI 2006), as d3-hierarchy refined it: each new circle goes where the front is nearest
    to the middle. Time grows with the number of circles times the length of the front.
    """
    if len(circles) < 2:
        return
    first, second = circles[:2]
    first.x, second.x = -second.r, first.r
    if len(circles) == 2:
        return
    _place(second, first, circles[2])
    a, b, c = (_Link(circle) for circle in (first, second, circles[2]))
    for one, other in ((a, b), (b, c), (c, a)):
        _join(one, other)
    for circle in circles[3:]:
        a, b = _fitted(circle, a, b)
        link = _Link(circle)
        _join(a, link)
        _join(link, b)
        a = _nearest_to_middle(link)
        assert a.after is not None
        b = a.after


def enclosing(circles: Sequence[Circle]) -> Circle:
    """A circle around all, at most a few per cent larger than the smallest one.

    Bădoiu and Clarkson, Smaller core-sets for balls (SODA 2003): walk towards what is farthest,
    in ever shorter steps.
    """
    if not circles:
        return Circle(0.0)
    points = np.array([(circle.x, circle.y) for circle in circles])
    radii = np.array([circle.r for circle in circles])
    middle = points.mean(axis=0)
    best, smallest = middle, math.inf
    for step in range(1, _ENCLOSING_STEPS):
        reach = np.hypot(*(points - middle).T) + radii
        far = int(reach.argmax())
        if reach[far] < smallest:
            best, smallest = middle, float(reach[far])
        middle = middle + (points[far] - middle) / (step + 1)
    return Circle(smallest, float(best[0]), float(best[1]))


def _fitted(circle: Circle, a: _Link, b: _Link) -> tuple[_Link, _Link]:
    """Place `circle` on the front, shortening it until nothing is overlapped; its neighbours."""
    while True:
        _place(a.circle, b.circle, circle)
        assert b.after is not None
        assert a.before is not None
        forth, back = b.after, a.before
        reach_forth, reach_back = b.circle.r, a.circle.r
        while True:
            if reach_forth <= reach_back:
                if _overlap(forth.circle, circle):
                    b = forth
                    break
                reach_forth += forth.circle.r
                assert forth.after is not None
                forth = forth.after
            else:
                if _overlap(back.circle, circle):
                    a = back
                    break
                reach_back += back.circle.r
                assert back.before is not None
                back = back.before
            if forth is back.after:
                return a, b
        _join(a, b)


def _place(b: Circle, a: Circle, c: Circle) -> None:
    """Put `c` where it touches both others."""
    dx, dy = b.x - a.x, b.y - a.y
    distance = dx * dx + dy * dy
    if not distance:
        c.x, c.y = a.x + c.r, a.y
        return
    to_a, to_b = (a.r + c.r) ** 2, (b.r + c.r) ** 2
    if to_a > to_b:
        x = (distance + to_b - to_a) / (2 * distance)
        y = math.sqrt(max(0.0, to_b / distance - x * x))
        c.x, c.y = b.x - x * dx - y * dy, b.y - x * dy + y * dx
    else:
        x = (distance + to_a - to_b) / (2 * distance)
        y = math.sqrt(max(0.0, to_a / distance - x * x))
        c.x, c.y = a.x + x * dx - y * dy, a.y + x * dy + y * dx


def _overlap(one: Circle, other: Circle) -> bool:
    reach = one.r + other.r - _NEARLY
    dx, dy = other.x - one.x, other.y - one.y
    return reach > 0 and reach * reach > dx * dx + dy * dy


def _join(one: _Link, other: _Link) -> None:
    one.after, other.before = other, one


def _nearest_to_middle(start: _Link) -> _Link:
    """The link of the front whose gap to the next is nearest to the origin."""
    best, nearest = start, _gap(start)
    link = start.after
    while link is not None and link is not start:
        if (distance := _gap(link)) < nearest:
            best, nearest = link, distance
        link = link.after
    return best


def _gap(link: _Link) -> float:
    assert link.after is not None
    a, b = link.circle, link.after.circle
    x = (a.x * b.r + b.x * a.r) / (a.r + b.r)
    y = (a.y * b.r + b.y * a.r) / (a.r + b.r)
    return x * x + y * y
