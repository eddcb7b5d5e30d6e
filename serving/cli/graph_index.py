"""`ragweave graph-index`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragweave.serving.cli.graph_progress import build_progress
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
from ragweave.state.errors import InvalidSetting

if TYPE_CHECKING:
    from ragweave.state.graph_index import GraphIndexOutput


def graph_index(
    paths: Annotated[
        list[str] | None, typer.Argument(help="Files and folders.", metavar="PATH")
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
    price: Annotated[
        str | None,
        typer.Option(
            metavar="IN/OUT",
            help="Dollars for a million tokens in and out, such as 0.40/1.60: --dry-run says "
            "what it would cost, and a run what it did.",
            show_default=False,
        ),
    ] = None,
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
    prices = _prices(price)
    with build_progress(hidden=as_json or dry_run) as on_progress:
        report = run_async(
            agraph_index(
                *(paths or []), delete=delete or [], on_progress=on_progress, **settings_given
            )
        )
    found_none = bool(delete) and not paths and not report["removed"]
    if as_json:
        print_json(report)
    elif found_none:
        raise InvalidSetting(" ".join(report["warnings"]))
    else:
        _show(report, prices, dry_run=dry_run)
    if found_none:
        raise typer.Exit(2)
    if report["failed"]:
        raise typer.Exit(1)


def _prices(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        read, written = (float(part) for part in text.split("/"))
    except ValueError as error:
        raise InvalidSetting(f"--price takes IN/OUT, such as 0.40/1.60, not {text!r}.") from error
    return read, written


def _cost(prices: tuple[float, float] | None, read: int, written: int) -> str:
    if prices is None:
        return ""
    return f", ${(read * prices[0] + written * prices[1]) / 1e6:,.2f}"


def _show(report: GraphIndexOutput, prices: tuple[float, float] | None, *, dry_run: bool) -> None:
    for failure in report["failed"]:
        err.print(one_line(f"{failure['path']}: {failure['reason']}"), style="red")
    for warning in report["warnings"]:
        err.print(one_line(f"Warning: {warning}"), style="yellow")
    if dry_run:
        _show_expected(report, prices)
        return
    usage = report["usage"]
    tokens = usage["input_tokens"] + usage["output_tokens"]
    out.print(
        f"{report['added']:,} added, {report['unchanged']:,} unchanged, "
        f"{report['removed']:,} removed, {report['failed_count']:,} failed: "
        f"{report['entities']:,} entities, {report['relationships']:,} relationships, "
        f"{report['reports']:,} reports of {report['communities']:,} communities; "
        f"{usage['calls']:,} model calls, {tokens:,} tokens"
        f"{_cost(prices, usage['input_tokens'], usage['output_tokens'])}"
    )


def _show_expected(report: GraphIndexOutput, prices: tuple[float, float] | None) -> None:
    read, written = report["expected_tokens"], report["expected_answer_tokens"]
    stages = report["expected_stages"]
    by_stage = ", ".join(f"{stage} {calls:,}" for stage, calls in stages.items() if calls)
    out.print(
        f"{report['added']:,} new or changed, {report['unchanged']:,} unchanged, "
        f"{report['removed']:,} to remove, {report['failed_count']:,} failed; "
        f"about {report['expected_calls']:,} model calls{f' ({by_stage})' if by_stage else ''}, "
        f"{read:,} tokens in and {written:,} out{_cost(prices, read, written)}"
    )
    if report["expected_calls"]:
        hint = "" if prices else "; --price IN/OUT says what that costs"
        err.print(f"Extractions are counted, summaries and reports estimated{hint}.", style="dim")
