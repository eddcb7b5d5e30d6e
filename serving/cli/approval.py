"""Asking the person at the terminal: about a query for the web, sources, or what a run may cost."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ragweave.serving.cli.screen import err, one_line
from ragweave.serving.techniques import context_type, load, settled
from ragweave.state.errors import InvalidSetting


def expect_no_questions(technique: str, given: Mapping[str, Any]) -> None:
    """Check that a run which has no terminal asks nobody.

    Raises:
        InvalidSetting: a setting has it ask, or a setting does not exist or does not fit.
    """
    from ragweave.serving.streaming import asks_a_person

    schema = context_type(load(technique))
    setting = asks_a_person(settled(schema, given, f"setting of {technique}"))
    if setting is not None:
        option = "--web ask" if setting.startswith("web_search") else f"--set {setting}"
        raise InvalidSetting(f"{option} needs a terminal to ask on.")


async def approve_on_terminal(asked: Mapping[str, Any]) -> object:
    """Yes, no, or another query, the numbers of sources, or another number of calls."""
    if problem := asked.get("problem"):
        err.print(one_line(str(problem)), style="bold")
    if "sources" in asked:
        for source in asked["sources"]:
            place = source["title"] or source["path"] or source["url"] or ""
            err.print(f"{source['number']}. {one_line(place)}: {one_line(source['text'], 100)}")
        wanted = "Enter = answer from all, n = from none, or type numbers such as 1, 3: "
    elif "calls" in asked:
        err.print(f"Make up to {asked['calls']} calls to {asked['model']}?", style="bold")
        wanted = "Enter = yes, n = no, or type how many at most: "
    else:
        err.print(f"Search the web for: {one_line(str(asked.get('query')))}", style="bold")
        wanted = "Enter = yes, n = no, or type another query: "
    with _interruptible():
        # Nothing else runs while a person thinks, so that blocking the event loop is harmless.
        reply = err.input(wanted).strip()
    match reply.lower():
        case "" | "y" | "yes":
            return True
        case "n" | "no":
            return False
        case _:
            return int(reply) if "calls" in asked and reply.isdecimal() else reply


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C end the waiting at once; asyncio would only cancel a task that cannot notice."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
