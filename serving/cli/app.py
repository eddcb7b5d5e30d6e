"""All commands under one name, and how the program ends."""

from __future__ import annotations

import codecs
import importlib.metadata
import io
import os
import sys
import traceback
from typing import Annotated

import typer

from ragweave.serving.cli.ask import ask
from ragweave.serving.cli.context import context
from ragweave.serving.cli.copy import copy
from ragweave.serving.cli.doctor import doctor
from ragweave.serving.cli.draw import draw
from ragweave.serving.cli.graph_index import graph_index
from ragweave.serving.cli.ingest import ingest
from ragweave.serving.cli.screen import complain
from ragweave.serving.cli.search import search
from ragweave.serving.cli.settings import settings
from ragweave.state.errors import (
    IndexAuth,
    IndexMissing,
    IndexSchemaMismatch,
    InvalidQuestion,
    InvalidSetting,
    ModelRefused,
    RagweaveError,
)

FAILED, MISTAKEN, INTERRUPTED = 1, 2, 130

MISTAKES = (
    InvalidQuestion,
    InvalidSetting,
    ModelRefused,
    IndexMissing,
    IndexAuth,
    IndexSchemaMismatch,
)
"""Errors that the user can mend; all others come from outside."""

HELP = "\n\n".join(
    (
        "RAG you can watch, bound, resume and trust: ask your own documents, with citations "
        "checked against their sources.",
        "Works at once, without a key or a server: the index is a folder, embeddings are built in, "
        "and answers quote your documents. Name a model for written answers: "
        "[bold]--model openai:gpt-4.1-mini[/bold], with OPENAI_API_KEY, or OPENAI_BASE_URL for any "
        "compatible server.",
        '\b\n[bold]ragweave ingest docs/\nragweave ask "How do I restore a backup?"[/bold]',
        "Exit codes: 0 done; 1 something outside failed, or a file could not be ingested; 2 a "
        "mistake in what was asked for.",
    )
)

app = typer.Typer(
    help=HELP,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (ingest, search, ask, context, graph_index, copy, settings, draw, doctor):
    app.command(command.__name__.replace("_", "-"))(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(importlib.metadata.version("ragweave"))
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _start(
    started: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    if started.invoked_subcommand is None:
        typer.echo(started.get_help())
    else:
        _expect_folder()


def main() -> None:
    """Run the command line and end the process with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    # A locale that knows ASCII alone leaves the bytes of other letters unread.
    if isinstance(sys.stdin, io.TextIOWrapper):
        ascii_only = codecs.lookup(sys.stdin.encoding).name == "ascii"
        sys.stdin.reconfigure(encoding="utf-8" if ascii_only else None, errors="replace")
    sys.exit(run([os.fsencode(text).decode("utf-8", "replace") for text in sys.argv[1:]]))


def run(arguments: list[str]) -> int:
    """Run one command; its exit code. Whatever goes wrong is one line on standard error."""
    try:
        code = app(arguments, prog_name="ragweave", standalone_mode=False)
    except typer.TyperException as error:
        complain(_with_help(error))
        return MISTAKEN
    except typer.Abort:
        code = INTERRUPTED
    except MISTAKES as error:
        complain(str(error))
        return MISTAKEN
    except RagweaveError as error:
        complain(str(error))
        return FAILED
    except BrokenPipeError:
        _silence()
        return FAILED
    except Exception as error:
        if os.environ.get("RAGWEAVE_DEBUG"):
            traceback.print_exc()
        complain(
            f"{type(error).__name__}: {error} (unexpected; RAGWEAVE_DEBUG=1 shows where it arose)"
        )
        return FAILED
    if code == INTERRUPTED:
        complain("Interrupted.")
    return code or 0


def _with_help(error: typer.TyperException) -> str:
    """A mistake in the arguments, and where the command's own options are listed."""
    said = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "ragweave"
    return f"{said}{'' if said.endswith('?') else '.'} See `{command} --help`."


def _expect_folder() -> None:
    try:
        os.getcwd()
    except FileNotFoundError:
        raise InvalidSetting(
            "The working folder is gone (deleted or moved away): change to one that exists."
        ) from None


def _silence() -> None:
    """Let the interpreter flush its last output nowhere: the reader has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
