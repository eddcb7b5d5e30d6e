"""`ragweave doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragweave.serving.cli.options import Embeddings, Index, Json, Tenant, run_async
from ragweave.serving.cli.screen import one_line, out, print_json

if TYPE_CHECKING:
    from ragweave.serving.doctor import Check

STYLES = {"ok": "green", "warning": "yellow", "error": "red"}


def doctor(
    index: Index = None,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="Chat model, as for ask.", show_default=False),
    ] = None,
    embeddings: Embeddings = None,
    tenant: Tenant = None,
    as_json: Json = False,
) -> None:
    """Check versions, keys, endpoints, index and dimensions, and say what to do.

    Makes one very small call to each service that is configured.

    [dim]ragweave doctor --model openai:gpt-4.1-mini --index weaviate:http://localhost:8080[/dim]
    """
    from ragweave.serving.doctor import diagnose
    from ragweave.serving.techniques import settled
    from ragweave.state.context import RagContext

    given = {"index": index, "model": model, "embeddings": embeddings, "tenant": tenant}
    checks = run_async(diagnose(settled(RagContext, given, "setting")))
    if as_json:
        print_json({"checks": checks})
    else:
        for check in checks:
            _show(check)
    if any(check["status"] == "error" for check in checks):
        raise typer.Exit(1)


def _show(check: Check) -> None:
    out.print(f"{check['status']:<8}", style=STYLES[check["status"]], end="")
    out.print(f"{check['name']:<11} {one_line(check['detail'])}")
    if check["fix"]:
        out.print(f"{'':<19} -> {one_line(check['fix'])}", style="dim")
