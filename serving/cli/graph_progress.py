"""How far a graph build has come, by stage: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from ragweave.serving.cli.screen import err

if TYPE_CHECKING:
    from ragweave.serving.graph_indexing import BuildProgress, OnProgress

LINE_SECONDS = 10.0
"""Time between two lines of one stage where there is no terminal."""
STAGES = {
    "load": "Loading",
    "extract": "Extracting",
    "summarize": "Summarising",
    "report": "Reporting",
    "write": "Writing",
}


@contextmanager
def build_progress(*, hidden: bool) -> Iterator[OnProgress | None]:
    """Something to call with how far a build has come, while it runs."""
    if hidden:
        yield None
    elif err.is_terminal:
        with Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[spent]}", markup=False),
            console=err,
            transient=True,
        ) as bar:
            yield _on_bar(bar)
    else:
        yield _in_lines()


def _on_bar(bar: Progress) -> OnProgress:
    task = bar.add_task(STAGES["load"], total=None, spent="")

    def show(progress: BuildProgress) -> None:
        bar.update(
            task,
            description=STAGES[progress.stage],
            completed=progress.done,
            total=progress.total or None,
            spent=_spent(progress),
        )

    return show


def _in_lines() -> OnProgress:
    """A line when a stage is done, and now and then before."""
    said = time.monotonic()

    def show(progress: BuildProgress) -> None:
        nonlocal said
        whole = progress.total and progress.done == progress.total
        if whole or (progress.done and time.monotonic() - said >= LINE_SECONDS):
            said = time.monotonic()
            stage = STAGES[progress.stage]
            err.print(f"{stage} {progress.done:,}/{progress.total:,}, {_spent(progress)}")

    return show


def _spent(progress: BuildProgress) -> str:
    return f"{progress.calls:,} calls, {progress.tokens:,} tokens"
