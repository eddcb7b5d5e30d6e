"""`ragweave draw`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragweave.serving.cli.options import Index, Set, Tenant, read_settings, run_async
from ragweave.serving.cli.screen import out
from ragweave.serving.techniques import DEFAULT_TECHNIQUE, TECHNIQUES, load
from ragweave.state.errors import InvalidSetting

if TYPE_CHECKING:
    from ragweave.serving.drawing.run_page import Step

PICTURES = ("graph", "run")
"""What is drawn beside techniques, each as one HTML page."""


def draw(
    what: Annotated[
        str,
        typer.Argument(
            help=f"A technique ({', '.join(TECHNIQUES)}), graph (the knowledge graph of an index), "
            "or run (what a question led to).",
            metavar="TECHNIQUE|graph|run",
        ),
    ],
    answer: Annotated[
        Path | None,
        typer.Argument(
            metavar="ANSWER.json",
            help="Of run: what `ragweave ask --json` printed; - reads standard input.",
            show_default=False,
        ),
    ] = None,
    ask: Annotated[
        str | None,
        typer.Option(help="Of run: ask this now, and draw it with its steps.", show_default=False),
    ] = None,
    technique: Annotated[
        str, typer.Option("--technique", "-t", help="Of run with --ask.")
    ] = DEFAULT_TECHNIQUE,
    index: Index = None,
    tenant: Tenant = None,
    settings: Set = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write to this file: .mmd or .md (shows it) for a technique, .html for graph and "
            "run, which are otherwise graph.html and run.html.",
        ),
    ] = None,
) -> None:
    """Draw a technique as mermaid text, a knowledge graph or a run as an HTML page.

    The page needs no network: open it in any browser.

    [dim]ragweave draw crag --output crag.md[/dim]

    [dim]ragweave draw graph --index graphrag:output[/dim]

    [dim]ragweave ask "What changes?" -t drift --json | ragweave draw run -[/dim]
    """
    given = {"index": index, "tenant": tenant, **read_settings(settings)}
    if what == "graph":
        _write(output or Path("graph.html"), _graph(given), {".html"})
    elif what == "run":
        _write(output or Path("run.html"), _run(answer, ask, technique, given), {".html"})
    else:
        _draw_technique(what, output)


def _draw_technique(technique: str, output: Path | None) -> None:
    if output is not None:
        _check_name(output, {".mmd", ".md"})
    drawing = load(technique).get_graph(xray=True).draw_mermaid()
    if output is None:
        typer.echo(drawing)
        return
    text = f"```mermaid\n{drawing}```\n" if output.suffix == ".md" else drawing
    _write(output, text, {".mmd", ".md"})


def _graph(given: dict[str, Any]) -> str:
    from ragweave.serving.drawing.draw_graph import draw_graph

    return run_async(draw_graph(**given))


def _run(answer: Path | None, ask: str | None, technique: str, given: dict[str, Any]) -> str:
    from ragweave.serving.drawing.run_page import run_page

    if (answer is None) == (ask is None):
        raise InvalidSetting("Give a file that `ragweave ask --json` wrote, or --ask QUESTION.")
    if ask is not None:
        return run_page(*run_async(_asked(ask, technique, given)))
    assert answer is not None
    saved = _saved(answer)
    try:
        return run_page(saved, _question_of(saved))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidSetting(f"{answer} holds no answer of `ragweave ask --json`.") from error


async def _asked(
    question: str, technique: str, given: dict[str, Any]
) -> tuple[dict[str, Any], str, list[Step]]:
    """The answer to a question, with every step that is worth a line."""
    from ragweave.serving.answer import Answer
    from ragweave.serving.cli.show import STEPS
    from ragweave.serving.searchable import expect_searchable
    from ragweave.serving.streaming import astream

    await expect_searchable(technique, given)
    answer: dict[str, Any] = {}
    steps: list[Step] = []
    async for part in astream(question, technique=technique, **given):
        if isinstance(part, Answer):
            answer = part
        elif describe := STEPS.get(part["type"]):
            steps.append((part["at"], part["type"].replace("_", " "), describe(part)))
    return answer, question, steps


def _saved(path: Path) -> dict[str, Any]:
    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
        saved = json.loads(text)
    except OSError as error:
        raise InvalidSetting(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise InvalidSetting(f"{path} is no JSON: {error}.") from error
    if not isinstance(saved, dict):
        raise InvalidSetting(f"{path} holds no answer of `ragweave ask --json`.")
    return saved


def _question_of(saved: dict[str, Any]) -> str:
    """The last thing that a person said."""
    asked = [turn["content"] for turn in saved["messages"] if turn["type"] == "human"]
    return str(asked[-1])


def _write(path: Path, text: str, suffixes: set[str]) -> None:
    _check_name(path, suffixes)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidSetting(f"{path} cannot be written: {error.strerror}.") from error
    if path.suffix == ".html":
        out.print(f"Written to {path}")


def _check_name(path: Path, suffixes: set[str]) -> None:
    if path.suffix not in suffixes:
        names = " or ".join(sorted(suffixes, reverse=True))
        raise InvalidSetting(f"{path} cannot be written: name it {names}.")
