"""The tree of DRIFT's questions on the terminal: growing in place, or as indented lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text
from rich.tree import Tree

from ragweave.serving.cli.screen import one_line

QUERY = 100
"""Characters shown of a question."""
MARKS = {"pending": ("…", "yellow"), "answered": ("✓", "green"), "failed": ("✗", "red")}
DROPPED = ("-", "dim")


class ActionTree:
    """The questions that were searched, each below the one whose answer suggested it."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._actions: dict[str, Mapping[str, Any]] = {}
        self._live: Live | None = None

    def show(self, event: Mapping[str, Any]) -> None:
        """Show one change of an action, an event of type `follow_up`."""
        self._actions[event["id"]] = event
        if not self._console.is_terminal:
            depth = event["id"].count(".") - 1
            self._console.print(f"{event['at']:6.1f}s  {'  ' * depth}{_line(event)}", style="dim")
            return
        if self._live is None:
            self._live = Live(console=self._console, auto_refresh=False, transient=True)
            self._live.start()
        self._live.update(self._drawn(), refresh=True)

    def end(self) -> None:
        """Leave the tree on the screen as it is; what comes next is written below it."""
        if self._live is not None:
            self._live.stop()
            self._live = None
            self._console.print(self._drawn())

    def pause(self) -> None:
        """Take the tree off the screen, until the next change."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _drawn(self) -> Tree:
        drawn = Tree(Text("questions followed", style="bold"), guide_style="dim")
        branches = {"0": drawn}
        for action in sorted(self._actions.values(), key=_place):
            parent = branches.get(action["parent_id"] or "0", drawn)
            style = MARKS.get(action["status"], DROPPED)[1]
            branches[action["id"]] = parent.add(Text(_line(action), style=style))
        return drawn


def _line(action: Mapping[str, Any]) -> str:
    mark = MARKS.get(action["status"], DROPPED)[0]
    score = "" if action["score"] is None else f" ({action['score']:g})"
    status = "" if action["status"] in ("answered", "pending") else f"{action['status']}: "
    return f"{mark} {status}{one_line(action['query'], QUERY)}{score}"


def _place(action: Mapping[str, Any]) -> list[int]:
    return [int(part) for part in action["id"].split(".")]
