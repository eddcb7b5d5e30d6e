"""`ragweave ingest`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragweave.serving.cli.options import (
    Embeddings,
    Index,
    Json,
    Set,
    Tenant,
    read_settings,
    run_async,
)
from ragweave.serving.cli.progress import progress
from ragweave.serving.cli.screen import err, one_line, out, print_json

if TYPE_CHECKING:
    from ragweave.state.ingest import IngestOutput


def ingest(
    paths: Annotated[list[str], typer.Argument(help="Files and folders.", metavar="PATH...")],
    index: Index = None,
    embeddings: Embeddings = None,
    tenant: Tenant = None,
    chunk_tokens: Annotated[
        int | None,
        typer.Option(min=32, max=8192, help="Most tokens of a chunk (512).", show_default=False),
    ] = None,
    text_field: Annotated[
        str | None, typer.Option(help="Text of a JSON Lines record (text).", show_default=False)
    ] = None,
    id_field: Annotated[str | None, typer.Option(help="Its id (id).", show_default=False)] = None,
    title_field: Annotated[
        str | None, typer.Option(help="Its title (title).", show_default=False)
    ] = None,
    filter_fields: Annotated[
        list[str] | None,
        typer.Option(
            "--filter-field",
            metavar="NAME[:TYPE]",
            help="Metadata to filter by, such as year:int. Types: text, int, number, bool, date. "
            "Repeatable; fixed when the index is made.",
            show_default=False,
        ),
    ] = None,
    prune: Annotated[
        bool, typer.Option(help="Remove documents that are gone from these paths.")
    ] = True,
    settings: Set = None,
    as_json: Json = False,
) -> None:
    """Read documents into an index. Run again, it embeds only what changed.

    Text, Markdown, reStructuredText, HTML, PDF, JSON Lines (one record a line), and office files
    with the extra ragweave\\[office].

    [dim]ragweave ingest docs/ handbook.pdf[/dim]

    [dim]ragweave ingest articles.jsonl --text-field body --filter-field year:int[/dim]
    """
    from ragweave.serving.ingesting import aingest

    named = {
        "index": index,
        "embeddings": embeddings,
        "tenant": tenant,
        "chunk_tokens": chunk_tokens,
        "text_field": text_field,
        "id_field": id_field,
        "title_field": title_field,
        "filter_fields": filter_fields or None,
        "prune": prune,
    }
    given = {name: value for name, value in named.items() if value is not None}
    with progress(hidden=as_json) as on_progress:
        report = run_async(
            aingest(*paths, on_progress=on_progress, **{**read_settings(settings), **given})
        )
    if as_json:
        print_json(report)
    else:
        _show(report)
    if report["failed"]:
        raise typer.Exit(1)


def _show(report: IngestOutput) -> None:
    for failure in report["failed"]:
        err.print(one_line(f"{failure['path']}: {failure['reason']}"), style="red")
    out.print(
        f"{report['added']:,} added, {report['unchanged']:,} unchanged, "
        f"{report['removed']:,} removed, {len(report['failed']):,} failed: "
        f"{report['chunks']:,} chunks in {report['seconds']:.1f} s"
    )
