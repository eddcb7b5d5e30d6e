"""How a command ended, for tests of the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Ended:
    """A command that has ended: its exit code, standard output and standard error."""

    code: int
    out: str
    err: str


Ragweave = Callable[..., Ended]
