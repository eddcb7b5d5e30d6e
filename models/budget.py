"""What one run may spend, counted where the calls are made.

The state carries what finished nodes spent; it cannot tell parallel branches what the others are
spending right now. So each run has one ledger in this process, found by the run's id in
`settings`. A run that is resumed in another process gets a new ledger that starts from the usage
in its checkpoint.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Any

from ragweave.state.context import RagContext
from ragweave.state.errors import BudgetReached
from ragweave.state.records import Usage, no_usage

MAX_LEDGERS = 4096
"""Runs remembered at the same time; one that is forgotten starts anew from its state's usage."""


class Ledger:
    """Calls and tokens of one run, its clock, and its share of concurrency."""

    def __init__(self, usage: Usage) -> None:
        self.calls = usage["calls"]
        self.tokens = usage["input_tokens"] + usage["output_tokens"]
        self._started = self._resumed = time.monotonic()
        self._slots: tuple[asyncio.AbstractEventLoop, asyncio.Semaphore] | None = None

    def elapsed(self) -> float:
        """Seconds since the run started in this process."""
        return time.monotonic() - self._started

    def restart_clock(self) -> None:
        """Start the deadline anew, after a person was waited for."""
        self._resumed = time.monotonic()

    def remaining(self, context: RagContext) -> float:
        """Seconds left before the deadline; may be negative."""
        return context.deadline_seconds - (time.monotonic() - self._resumed)

    def reserve(self, context: RagContext, *, hidden: bool) -> None:
        """Count one call that is about to be made.

        A hidden call (grading, rewriting, ...) leaves the last call of the budget to the answer;
        what comes after the answer (its repair) is not hidden in that sense.

        Raises:
            BudgetReached: the call would pass a limit. Nothing was counted.
        """
        if self.calls >= context.max_model_calls - hidden:
            raise reached("max_model_calls", context, self.calls)
        if self.tokens >= context.max_tokens:
            raise reached("max_tokens", context, self.tokens)
        if self.remaining(context) <= 0:
            raise reached("deadline_seconds", context, self.elapsed())
        self.calls += 1

    def spend(self, tokens: int) -> None:
        """Count the tokens of a call that was answered."""
        self.tokens += tokens

    def slots(self, context: RagContext) -> asyncio.Semaphore:
        """The run's own bound on calls in flight, on the running event loop."""
        loop = asyncio.get_running_loop()
        if self._slots is None or self._slots[0] is not loop:
            self._slots = (loop, asyncio.Semaphore(context.max_concurrency))
        return self._slots[1]


_ledgers: OrderedDict[str, Ledger] = OrderedDict()
_lock = Lock()


def ledger_of(state: Mapping[str, Any]) -> Ledger:
    """The ledger of the run that `state` (the graph's, or a `Send` payload) is part of."""
    run_id = (state.get("settings") or {}).get("run_id", "")
    with _lock:
        ledger = _ledgers.pop(run_id, None) or Ledger(state.get("usage") or no_usage())
        _ledgers[run_id] = ledger
        while len(_ledgers) > MAX_LEDGERS:
            _ledgers.popitem(last=False)
    return ledger


def reached(limit: str, context: RagContext, used: float, *, text: str = "") -> BudgetReached:
    """The error for a limit of the context that has been reached."""
    return BudgetReached(
        f"The budget is spent: {limit} is {getattr(context, limit):g}. "  # one text for all nodes
        f"Raise {limit} to let the run go on.",
        limit=limit,
        used=used,
        text=text,
    )
