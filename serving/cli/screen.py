"""Writing to the terminal. Text of documents and models is data there too, never control codes."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from rich.console import Console

_UNSAFE = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
"""Control characters but tab and line feed, direction overrides, and lone surrogates."""

_CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours and cursor movements
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\)"  # titles, links, device commands
    rf"|\r(?=\n)|[{_UNSAFE}]",
    re.DOTALL,
)
_NOT_IN_JSON = re.compile(rf"[{_UNSAFE}]")

out = Console(markup=False, highlight=False, emoji=False, soft_wrap=True)
err = Console(markup=False, highlight=False, emoji=False, soft_wrap=True, stderr=True)


def clean(text: str) -> str:
    """Text without anything that a terminal would act on."""
    return _CONTROL.sub("", text)


def one_line(text: str, length: int | None = None) -> str:
    """Clean text on one line, cut at `length` characters."""
    line = " ".join(clean(text.replace("\r", " ")).split())
    return line if length is None or len(line) <= length else line[: length - 1].rstrip() + "…"


def complain(message: str) -> None:
    """One line on standard error."""
    err.print("ragweave: " + one_line(message), style="red")


def warn(message: str) -> None:
    """One line on standard error about something that did not stop the command."""
    err.print("Warning: " + one_line(message), style="yellow")


def print_json(value: Any) -> None:
    """One JSON object on one line of standard output."""
    plain = not (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    text = json.dumps(value, ensure_ascii=plain, default=_plain)
    sys.stdout.write(_NOT_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n")
    sys.stdout.flush()


def _plain(value: Any) -> Any:
    """LangChain messages as the LangGraph server writes them."""
    return value.model_dump(mode="json")
