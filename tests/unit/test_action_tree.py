"""DRIFT's tree of questions on the terminal."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from ragweave.serving.cli.tree import ActionTree

EVENTS = [
    ("0.0", "first", "pending", None),
    ("0.1", "second \x1b[31m[bold]", "pending", None),
    ("0.0", "first", "answered", 80.0),
    ("0.1", "second \x1b[31m[bold]", "failed", None),
    ("0.0.10", "tenth", "pending", None),
    ("0.0.2", "deeper", "answered", 0.0),
    ("0.0.3", "again", "dropped", None),
]


def events() -> list[dict[str, Any]]:
    return [
        {
            **{"id": place, "parent_id": place.rpartition(".")[0], "query": query},
            **{"status": status, "score": score, "at": 1.5},
        }
        for place, query, status, score in EVENTS
    ]


@pytest.fixture
def screen() -> io.StringIO:
    return io.StringIO()


def test_elsewhere_each_change_is_an_indented_line(screen: io.StringIO) -> None:
    tree = ActionTree(Console(file=screen, markup=False, highlight=False))
    for event in events():
        tree.show(event)
    tree.end()

    assert screen.getvalue().splitlines() == [
        "   1.5s  … first",
        "   1.5s  … second [bold]",
        "   1.5s  ✓ first (80)",
        "   1.5s  ✗ failed: second [bold]",
        "   1.5s    … tenth",
        "   1.5s    ✓ deeper (0)",
        "   1.5s    - dropped: again",
    ]


def test_a_terminal_shows_the_tree_as_it_grows(screen: io.StringIO) -> None:
    console = Console(file=screen, force_terminal=True, color_system=None, width=80)
    tree = ActionTree(console)
    for event in events():
        tree.show(event)
    grown = screen.getvalue()
    tree.pause()
    tree.show(events()[-1])
    tree.end()

    assert grown.count("questions followed") == len(EVENTS)
    *_, left = screen.getvalue().rpartition("questions followed\n")
    assert left.splitlines() == [
        "├── ✓ first (80)",
        "│   ├── ✓ deeper (0)",
        "│   ├── - dropped: again",
        "│   └── … tenth",
        "└── ✗ failed: second [bold]",
    ]
    assert "\x1b[31m" not in screen.getvalue()


def test_nothing_is_left_where_nothing_was_followed(screen: io.StringIO) -> None:
    tree = ActionTree(Console(file=screen, force_terminal=True))
    tree.pause()
    tree.end()

    assert screen.getvalue() == ""
