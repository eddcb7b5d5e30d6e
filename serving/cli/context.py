"""`ragweave context`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ragweave.serving.cli.options import (
    Embeddings,
    Filter,
    Index,
    Json,
    Set,
    Technique,
    Tenant,
    TopK,
    read_filters,
    read_settings,
    run_async,
    text_argument,
)
from ragweave.serving.cli.screen import clean, err, one_line, out, print_json, warn
from ragweave.serving.techniques import DEFAULT_TECHNIQUE
from ragweave.state.errors import InvalidSetting

if TYPE_CHECKING:
    from ragweave.serving.graph_context import ShownContext


def context(
    question: Annotated[str, typer.Argument(help="The question; - reads standard input.")],
    technique: Technique = DEFAULT_TECHNIQUE,
    index: Index = None,
    embeddings: Embeddings = None,
    tenant: Tenant = None,
    top_k: TopK = None,
    filters: Filter = None,
    context_mode: Annotated[
        Literal["shared", "graphrag"] | None,
        typer.Option(
            help="shared: every table of a graph has its share. graphrag: the context that "
            "GraphRAG 3.3.0 builds, with its defaults.",
            show_default=False,
        ),
    ] = None,
    max_context_tokens: Annotated[
        int | None,
        typer.Option(min=0, help="Most tokens of a graph's records.", show_default=False),
    ] = None,
    text_unit_prop: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Share of those for text units.", show_default=False),
    ] = None,
    community_prop: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Share for community reports.", show_default=False),
    ] = None,
    query_vector: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.npy",
            help="The question's vector, for a graph whose embeddings are not at hand.",
            show_default=False,
        ),
    ] = None,
    settings: Set = None,
    as_json: Json = False,
) -> None:
    """Show what the model would see for a question. No model is called.

    For local_search and drift it is the context of a local search; for the others the sources of
    the answering call, as they are when no model grades, expands or chooses; for auto that of the
    technique that it picks.

    [dim]ragweave context "Who is Scrooge?" --technique local_search --index graphrag:output[/dim]
    """
    from ragweave.serving.shown_context import show_any_context

    named = {
        "index": index,
        "embeddings": embeddings,
        "tenant": tenant,
        "top_k": top_k,
        "filters": read_filters(filters),
        "context_mode": context_mode,
        "max_context_tokens": max_context_tokens,
        "text_unit_prop": text_unit_prop,
        "community_prop": community_prop,
        "query_vector": None if query_vector is None else read_vector(query_vector),
    }
    given = read_settings(settings)
    given |= {name: value for name, value in named.items() if value is not None}
    asked = text_argument(question)
    shown = run_async(show_any_context(asked, technique=technique, **given))
    if as_json:
        print_json(shown)
    else:
        _show(shown)


def read_vector(path: Path) -> list[float]:
    """The vector in a file that `numpy.save` wrote; one row of a matrix is a vector too.

    Raises:
        InvalidSetting: there is no such file, or it holds something else.
    """
    import numpy as np

    try:
        array = np.load(path, allow_pickle=False)
    except OSError as error:
        raise InvalidSetting(f"{path} cannot be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise InvalidSetting(f"{path} is no .npy file of numbers.") from error
    vector = array.reshape(-1) if isinstance(array, np.ndarray) else np.empty(0)
    rows = vector.size // array.shape[-1] if vector.size and array.ndim else 0
    if vector.dtype.kind not in "fiu" or rows != 1 or not np.isfinite(vector).all():
        raise InvalidSetting(f"{path} must hold one vector of finite numbers.")
    return [float(value) for value in vector]


def _show(shown: ShownContext) -> None:
    out.print(clean(shown["text"]).rstrip("\n"))
    for warning in shown["warnings"]:
        warn(warning)
    parts = ", ".join(f"{table} {tokens:,}" for table, tokens in shown["tokens"].items())
    if shown["reason"]:
        err.print(f"\nauto picked {shown['technique']}: {one_line(shown['reason'])}", style="dim")
    total = f"{shown['total_tokens']:,} tokens"
    err.print(f"\n{shown['technique']}: {total}{f' ({parts})' if parts else ''}", style="dim")
