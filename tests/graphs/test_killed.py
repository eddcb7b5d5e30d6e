"""A run whose process was killed goes on in another one, and repeats no call that was stored."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.graphs import kill_program
from tests.graphs.killing import kill
from tests.graphs.techniques import ANSWER, TECHNIQUES, THOROUGH, script
from tests.servers import Answer, OpenAIStub

LATENCY = 0.1
"""Seconds that the model takes to answer."""

Start = Callable[[int], subprocess.Popen[str]]


def slow_script(request: dict[str, Any]) -> Answer:
    said = script(request)
    return Answer(said if isinstance(said, str) else json.dumps(said), latency=LATENCY)


@pytest.fixture
def start(technique: str, town: str, tmp_path: Path, openai_stub: OpenAIStub) -> Start:
    """Start the process of a number: it completes the run of the number before."""
    openai_stub.script = slow_script
    context = json.dumps({"index": town, "model": "openai:stub", **THOROUGH[technique]})
    program = [sys.executable, kill_program.__file__, str(tmp_path / "runs.sqlite"), technique]

    def run(number: int) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*program, context, str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    return run


def heard(process: subprocess.Popen[str], word: str) -> str:
    """The rest of the next line, which begins with `word`."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith(word), f"{word} was expected, not {line!r}"
    return line.removeprefix(word).strip()


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def check(completed: str) -> None:
    answer, status, message = json.loads(completed)
    assert answer == message == ANSWER
    assert status == "answered"


@pytest.mark.slow
@pytest.mark.parametrize("technique", TECHNIQUES)
def test_killed_at_ten_moments(start: Start, openai_stub: OpenAIStub, technique: str) -> None:
    moments = random.Random(technique)
    whole = start(0)
    heard(whole, "ready")
    began = time.monotonic()
    go(whole)
    heard(whole, "ended")
    seconds = time.monotonic() - began
    whole.communicate()
    calls = len(openai_stub.chats)

    process = start(1)
    check(heard(process, "completed"))
    heard(process, "ready")
    assert len(openai_stub.chats) == calls  # a run that had ended asks nothing again
    for number in range(1, 11):
        openai_stub.calls.clear()
        go(process)
        time.sleep(moments.uniform(0, seconds))
        unstored = kill(process, openai_stub)
        process = start(number + 1)
        check(heard(process, "completed"))
        heard(process, "ready")
        assert calls <= len(openai_stub.chats) <= calls + unstored
    process.kill()
    process.communicate()


@pytest.mark.parametrize("technique", ["crag"])
def test_killed_while_it_grades(start: Start, openai_stub: OpenAIStub) -> None:
    process = start(0)
    heard(process, "ready")
    go(process)
    while len(openai_stub.chats) < 2 and process.poll() is None:
        time.sleep(0.01)
    unstored = kill(process, openai_stub)
    process = start(1)
    check(heard(process, "completed"))
    process.kill()
    process.communicate()
    asked = [json.dumps(request) for request in openai_stub.chats]
    assert 0 < len(asked) - len(set(asked)) <= unstored
