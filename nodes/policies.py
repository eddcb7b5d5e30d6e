"""Defaults for every node of a graph: what is worth another attempt, and when to give up."""

from __future__ import annotations

from datetime import timedelta

from langgraph.types import RetryPolicy, TimeoutPolicy

from ragweave.state.errors import IndexTimeout, IndexUnavailable

RETRY = RetryPolicy(
    max_attempts=3, initial_interval=0.2, jitter=True, retry_on=(IndexUnavailable, IndexTimeout)
)
"""Model calls are retried where they are made (`models/calls.py`), so only the index is left."""

TIMEOUT = TimeoutPolicy(run_timeout=timedelta(minutes=15))
"""A backstop: every outside call has a much shorter deadline of its own."""
