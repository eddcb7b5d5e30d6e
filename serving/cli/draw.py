"""`ragweave draw`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragweave.serving.techniques import TECHNIQUES, load
from ragweave.state.errors import InvalidSetting


def draw(
    technique: Annotated[str, typer.Argument(help=f"One of: {', '.join(TECHNIQUES)}.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write to this file: .mmd for mermaid alone, .md for Markdown that shows it.",
        ),
    ] = None,
) -> None:
    """Draw a technique's graph, as mermaid text that GitHub and most editors show as a picture.

    [dim]ragweave draw crag --output crag.md[/dim]
    """
    if output is not None and output.suffix not in {".mmd", ".md"}:
        raise InvalidSetting(f"{output} cannot be written: name it .mmd or .md.")
    drawing = load(technique).get_graph(xray=True).draw_mermaid()
    if output is None:
        typer.echo(drawing)
        return
    text = f"```mermaid\n{drawing}```\n" if output.suffix == ".md" else drawing
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidSetting(f"{output} cannot be written: {error.strerror}.") from error
