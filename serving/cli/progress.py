"""How far an ingest has come: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from ragweave.serving.cli.screen import err

if TYPE_CHECKING:
    from ragweave.state.ingest import Ingesting, Interrupted

    OnProgress = Callable[[Ingesting | Interrupted], None]

LINE_SECONDS = 10.0
"""Time between two lines where there is no terminal."""


@contextmanager
def progress(*, hidden: bool) -> Iterator[OnProgress | None]:
    """Something to call with each event of an ingest, while it runs."""
    if hidden:
        yield None
    elif err.is_terminal:
        with _bar() as bar:
            yield _on_bar(bar)
    else:
        yield _in_lines()


def _bar() -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(compact=True),
        console=err,
        transient=True,
    )


def _on_bar(bar: Progress) -> OnProgress:
    task = bar.add_task("Reading", total=None)

    def show(event: Ingesting | Interrupted) -> None:
        bar.update(
            task,
            description=_counts(event),
            completed=event["bytes"],
            total=event["total_bytes"] or None,
        )
        if event["type"] == "interrupted":
            _say_interrupted(event)

    return show


def _in_lines() -> OnProgress:
    started = said = 0.0

    def show(event: Ingesting | Interrupted) -> None:
        nonlocal started, said
        started = started or time.monotonic()
        said = said or started
        if event["type"] == "interrupted":
            _say_interrupted(event)
        elif (now := time.monotonic()) - said >= LINE_SECONDS:
            said = now
            err.print(_counts(event) + _remaining(event, now - started))

    return show


def _counts(event: Ingesting | Interrupted) -> str:
    failed = f", {event['failed']:,} failed" if event["failed"] else ""
    return f"{event['documents']:,} documents, {event['chunks']:,} chunks{failed}"


def _remaining(event: Ingesting | Interrupted, seconds: float) -> str:
    if not event["bytes"] or not event["total_bytes"]:
        return ""
    left = event["total_bytes"] - event["bytes"]
    rate = event["bytes"] / seconds
    share = event["bytes"] / event["total_bytes"]
    return f", {share:.0%}, {rate / 1e6:.2f} MB/s, {left / rate:.0f} s left"


def _say_interrupted(event: Ingesting | Interrupted) -> None:
    err.print(f"{_counts(event)} are stored; the same command goes on from there.")
