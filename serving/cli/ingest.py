"""`ragweave ingest`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

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
    from ragweave.state.units import UnitsReport


def ingest(
    paths: Annotated[list[str], typer.Argument(help="Files and folders.", metavar="PATH")],
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
    part: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            help="Only this part of the documents, such as 1/4, so that machines share the work.",
            show_default=False,
        ),
    ] = None,
    units: Annotated[
        bool,
        typer.Option("--units", help="Then group all documents of the index for LongRAG."),
    ] = False,
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

    place = {"index": index, "embeddings": embeddings, "tenant": tenant}
    fields = {
        "chunk_tokens": chunk_tokens,
        "text_field": text_field,
        "id_field": id_field,
        "title_field": title_field,
        "filter_fields": filter_fields or None,
        "prune": prune,
        "part": part,
    }
    given = read_settings(settings)
    grouping = _of_grouping(given, place) if units else {}
    given |= {name: value for name, value in {**place, **fields}.items() if value is not None}
    with progress(hidden=as_json) as on_progress:
        report = run_async(aingest(*paths, on_progress=on_progress, **given))
    grouped = _group(grouping) if units else None
    if as_json:
        print_json({**report, "units": grouped} if grouped else report)
    else:
        _show(report, grouped)
    if report["failed"]:
        raise typer.Exit(1)


def _of_grouping(given: dict[str, Any], place: dict[str, Any]) -> dict[str, Any]:
    """Takes the settings of grouping out of those that were given, and checks them."""
    from ragweave.serving.techniques import settled
    from ragweave.state.ingest import IngestContext
    from ragweave.state.units import UnitsContext

    names = [name for name in given if name not in IngestContext.model_fields]
    grouping = {**{name: given.pop(name) for name in names}, **place}
    settled(UnitsContext, grouping, "setting of ingest or units")
    return grouping


def _group(settings: dict[str, Any]) -> UnitsReport:
    from ragweave.serving.ingesting import agroup

    return run_async(agroup(**settings))


def _show(report: IngestOutput, grouped: UnitsReport | None) -> None:
    for failure in report["failed"]:
        place = f"{failure['path']}: " if failure["path"] else ""
        err.print(one_line(f"{place}{failure['reason']}"), style="red")
    out.print(
        f"{report['added']:,} added, {report['unchanged']:,} unchanged, "
        f"{report['removed']:,} removed, {report['failed_count']:,} failed: "
        f"{report['chunks']:,} chunk{'' if report['chunks'] == 1 else 's'} "
        f"in {report['seconds']:.1f} s"
    )
    if grouped:
        out.print(
            f"{grouped['units']:,} retrieval units of {grouped['documents']:,} documents, the "
            f"largest of {grouped['largest']:,} tokens"
        )
