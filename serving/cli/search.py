"""`ragweave search`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ragweave.serving.cli.options import (
    Embeddings,
    Filter,
    Index,
    Json,
    Tenant,
    TopK,
    read_filters,
    run_async,
    text_argument,
)
from ragweave.serving.cli.screen import clean, err, one_line, out, print_json

if TYPE_CHECKING:
    from ragweave.state.records import Source

SHOWN_CHARACTERS = 300


def search(
    query: Annotated[str, typer.Argument(help="Words or a question; - reads standard input.")],
    index: Index = None,
    embeddings: Embeddings = None,
    tenant: Tenant = None,
    top_k: TopK = None,
    filters: Filter = None,
    mode: Annotated[
        Literal["hybrid", "vector", "keyword"] | None,
        typer.Option(help="By meaning, by words, or by both (hybrid).", show_default=False),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Show whole chunks.")] = False,
    as_json: Json = False,
) -> None:
    """Show what retrieval finds, with scores. No model is called.

    [dim]ragweave search "restore a backup" --top-k 3[/dim]
    """
    from ragweave.serving.searching import asearch

    hits = run_async(
        asearch(
            text_argument(query),
            index=index,
            embeddings=embeddings,
            tenant=tenant,
            top_k=top_k,
            filters=read_filters(filters),
            search_mode=mode,
        )
    )
    if as_json:
        print_json({"hits": hits})
        return
    for hit in hits:
        _show(hit, None if full else SHOWN_CHARACTERS)
    if not hits:
        err.print("Nothing was found.")


def _show(hit: Source, length: int | None) -> None:
    from ragweave.nodes.citations.cited import place

    score = "" if hit["score"] is None else f"  {hit['score']:.3f} {hit['score_kind'] or ''}"
    out.print(f"{hit['number']}. {one_line(place(hit))}{score}", style="bold")
    out.print(clean(hit["text"]) if length is None else one_line(hit["text"], length))
    out.print()
