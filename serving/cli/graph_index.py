"""`ragweave graph-index`."""

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
from ragweave.serving.cli.screen import err, one_line, out, print_json

if TYPE_CHECKING:
    from ragweave.state.graph_index import GraphIndexOutput


def graph_index(
    paths: Annotated[
        list[str] | None, typer.Argument(help="Files and folders.", metavar="PATH...")
    ] = None,
    index: Index = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            help="Model that extracts and reports; offline takes the terms of the corpus.",
            show_default=False,
        ),
    ] = None,
    embeddings: Embeddings = None,
    tenant: Tenant = None,
    delete: Annotated[
        list[str] | None,
        typer.Option(help="Take this document out, by id or path. Repeatable.", show_default=False),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it would cost, and call no model.")
    ] = False,
    settings: Set = None,
    as_json: Json = False,
) -> None:
    """Build a knowledge graph for local_search and drift. Run again, it asks only what is new.

    The graph stands beside the chunks of the same index, or is written as a GraphRAG folder.

    [dim]ragweave graph-index docs/ --model openai:gpt-4.1-mini --dry-run[/dim]

    [dim]ragweave graph-index docs/ --index graphrag:output[/dim]
    """
    from ragweave.serving.graph_indexing import agraph_index

    named = {"index": index, "model": model, "embeddings": embeddings, "tenant": tenant}
    given = {name: value for name, value in named.items() if value is not None}
    settings_given = {**read_settings(settings), **given, "dry_run": dry_run}
    report = run_async(agraph_index(*(paths or []), delete=delete or [], **settings_given))
    if as_json:
        print_json(report)
    else:
        _show(report, dry_run=dry_run)
    if report["failed"]:
        raise typer.Exit(1)


def _show(report: GraphIndexOutput, *, dry_run: bool) -> None:
    for failure in report["failed"]:
        err.print(one_line(f"{failure['path']}: {failure['reason']}"), style="red")
    for warning in report["warnings"]:
        err.print(one_line(f"Warning: {warning}"), style="yellow")
    if dry_run:
        out.print(
            f"{report['expected_calls']:,} calls for extraction, "
            f"{report['expected_tokens']:,} tokens of prompts; summaries and reports come on top"
        )
        return
    usage = report["usage"]
    out.print(
        f"{report['added']:,} added, {report['unchanged']:,} unchanged, "
        f"{report['removed']:,} removed, {len(report['failed']):,} failed: "
        f"{report['entities']:,} entities, {report['relationships']:,} relationships, "
        f"{report['reports']:,} reports of {report['communities']:,} communities; "
        f"{usage['calls']:,} model calls, {usage['input_tokens'] + usage['output_tokens']:,} tokens"
    )
