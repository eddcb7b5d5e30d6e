"""`ragweave copy`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress

from ragweave.serving.cli.options import Json, run_async
from ragweave.serving.cli.progress import LINE_SECONDS
from ragweave.serving.cli.screen import err, out, print_json

if TYPE_CHECKING:
    from ragweave.serving.copying import CopyReport


def copy(
    source: Annotated[
        str, typer.Argument(metavar="FROM", help="lance:PATH, weaviate:URL or graphrag:PATH.")
    ],
    target: Annotated[
        str, typer.Argument(metavar="TO", help="Another of them; made if it is not there.")
    ],
    from_tenant: Annotated[
        str | None, typer.Option(help="Tenant of FROM.", show_default=False)
    ] = None,
    to_tenant: Annotated[str | None, typer.Option(help="Tenant of TO.", show_default=False)] = None,
    embeddings: Annotated[
        str | None,
        typer.Option(
            help="What made the vectors, where FROM does not say, as GraphRAG does not, or is to "
            "make those that its graph lacks.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Copy an index, with its knowledge graph if it has one. Only what lacks vectors is embedded.

    Run again, it writes only what changed, and goes on where it was interrupted.

    [dim]ragweave copy lance:.ragweave/index "weaviate:http://localhost:8080?collection=Docs"[/dim]
    """
    from ragweave.serving.copying import acopy

    with _progress(hidden=as_json) as on_progress:
        report = run_async(
            acopy(
                source,
                target,
                from_tenant=from_tenant,
                to_tenant=to_tenant,
                embeddings=embeddings,
                on_progress=on_progress,
            )
        )
    if as_json:
        print_json(report)
    else:
        _show(report)


def _show(report: CopyReport) -> None:
    out.print(
        f"{report['documents']:,} documents, {report['chunks']:,} chunks and "
        f"{report['parents']:,} parents copied, {report['unchanged']:,} unchanged: "
        f"{report['seconds']:.1f} s"
    )
    if report["graph"] is not None:
        written = ", ".join(
            f"{count:,} {table.replace('_', ' ')}" for table, count in report["graph"].items()
        )
        out.print(f"Knowledge graph: {written} copied")


@contextmanager
def _progress(*, hidden: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Something to call with chunks copied and to be copied: a bar, or a line now and then."""
    if hidden:
        yield None
    elif err.is_terminal:
        with Progress(console=err, transient=True) as bar:
            task = bar.add_task("Copying", total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
    else:
        yield _in_lines()


def _in_lines() -> Callable[[int, int], None]:
    said = time.monotonic()

    def show(done: int, total: int) -> None:
        nonlocal said
        if (now := time.monotonic()) - said >= LINE_SECONDS:
            said = now
            err.print(f"{done:,} of {total:,} chunks")

    return show
