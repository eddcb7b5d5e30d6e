"""Ending a process of a test from outside, and what that may have lost."""

from __future__ import annotations

import subprocess
import time

from tests.servers import OpenAIStub

STORING = 0.3
"""Seconds after an answer was sent within which it may not have been stored yet."""


def kill(process: subprocess.Popen[str], stub: OpenAIStub) -> int:
    """Kill a process; how many of its calls may not have been stored."""
    now = time.monotonic()
    process.kill()
    process.communicate()
    return sum(call.ended is None or call.ended > now - STORING for call in stub.calls)
