"""What is said of an index or a graph that is not there, with a command to paste that makes it."""

from __future__ import annotations

from shlex import quote

from ragweave.state.context import DEFAULT_INDEX


def no_index(index: str, tenant: str | None = None) -> str:
    """Of an index that was named."""
    command = making("ingest", index, tenant)
    return (
        f"There is no index at {_place(index, tenant)}. Make it with `{command}`, or name another."
    )


def no_index_yet(index: str, tenant: str | None = None) -> str:
    """Of the default index, which may come later."""
    command = making("ingest", index, tenant)
    return f"There is no index at {_place(index, tenant)} yet; `{command}` makes one."


def no_graph(index: str, tenant: str | None = None) -> str:
    """Of the graph of an index that was named."""
    command = making("graph-index", index, tenant)
    return f"{_place(index, tenant)} has no knowledge graph. Make it with `{command}`."


def no_graph_yet(index: str, tenant: str | None = None) -> str:
    """Of the graph of the default index, which may come later."""
    command = making("graph-index", index, tenant)
    return f"{_place(index, tenant)} has no knowledge graph yet; `{command}` makes one."


def making(command: str, index: str, tenant: str | None = None) -> str:
    """The command line that makes an index (`ingest`) or a graph (`graph-index`) of PATH."""
    words = ["ragweave", command, "PATH"]
    if index != DEFAULT_INDEX:
        words += ["--index", quote(index)]
    if tenant is not None:
        words += ["--tenant", quote(tenant)]
    return " ".join(words)


def _place(index: str, tenant: str | None) -> str:
    return index if tenant is None else f'{index} (tenant "{tenant}")'
