"""The command line in a process and on a terminal of its own."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.servers import TavilyStub, web_result

COMMAND = [sys.executable, "-m", "ragweave.serving.cli"]
SPAIN = "What is the capital of Spain?"


def test_a_reader_that_leaves_is_no_error(harbour: Path) -> None:
    command = " ".join([*COMMAND, "search", "ships", "--full", "|", "true"])
    ended = subprocess.run(
        ["bash", "-c", command], cwd=harbour, capture_output=True, text=True, timeout=60
    )
    assert ended.stderr == ""


def test_a_reader_that_leaves_while_an_answer_is_written(harbour: Path) -> None:
    command = " ".join([*COMMAND, "ask", "'How long may ships be?'", "-q", "|", "true"])
    ended = subprocess.run(
        ["bash", "-c", command], cwd=harbour, capture_output=True, text=True, timeout=60
    )
    assert "Traceback" not in ended.stderr
    assert "asyncgen" not in ended.stderr


def test_a_locale_of_ascii_alone(harbour: Path) -> None:
    question = "灯塔多久闪光一次？"
    plain = {**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    for arguments, typed in (([question], ""), (["-"], question)):
        ended = subprocess.run(
            [*COMMAND, "ask", *arguments, "--json"],
            cwd=harbour,
            env=plain,
            input=typed.encode(),
            capture_output=True,
            timeout=60,
        )
        assert (ended.returncode, ended.stderr) == (0, b"")
        assert "灯塔每十二秒闪光一次" in json.loads(ended.stdout)["answer"]


class Terminal:
    """A command with a terminal of its own, as a person sees it."""

    def __init__(self, folder: Path, *arguments: str, **env: str) -> None:
        self._master, slave = pty.openpty()
        self._process = subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=folder,
            env={**os.environ, "TERM": "xterm", **env},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self.shown = ""

    def wait_for(self, text: str, seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while text not in self.shown:
            assert time.monotonic() < deadline, f"{text!r} is not in {self.shown!r}"
            assert self._read(0.5), f"it ended with {self.shown!r}"

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C; again, if it came in the moment before a read, where Python misses it."""
        for _ in range(3):
            self._process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=10)
                return

    def end(self, seconds: float = 120) -> int:
        deadline = time.monotonic() + seconds
        while self._read(1):
            if time.monotonic() > deadline:
                self._process.kill()
        code = self._process.wait(timeout=30)
        os.close(self._master)
        return code

    def _read(self, seconds: float) -> bool:
        """Whether the process still had the terminal open."""
        ready, _, _ = select.select([self._master], [], [], seconds)
        if not ready:
            return True
        try:
            piece = os.read(self._master, 65536)
        except OSError:
            return False
        self.shown += piece.decode(errors="replace")
        return bool(piece)


@pytest.fixture
def web() -> Iterator[TavilyStub]:
    with TavilyStub(lambda request: [web_result("Madrid is the capital of Spain.")]) as stub:
        yield stub


def asking(harbour: Path, web: TavilyStub) -> Terminal:
    keys = {"TAVILY_API_KEY": "tvly-x", "TAVILY_BASE_URL": web.url}
    terminal = Terminal(harbour, "ask", SPAIN, "--web", "ask", **keys)
    terminal.wait_for("type another query: ")
    return terminal


@pytest.mark.parametrize(
    ("reply", "searched", "shown"),
    [
        ("Spain capital\n", 1, "Madrid"),
        pytest.param("\n", 1, "Madrid", marks=pytest.mark.slow),
        pytest.param("n\n", 0, "no_evidence", marks=pytest.mark.slow),
    ],
)
def test_a_person_decides_about_the_web(
    harbour: Path, web: TavilyStub, reply: str, searched: int, shown: str
) -> None:
    terminal = asking(harbour, web)
    terminal.type(reply)
    assert terminal.end() == 0
    assert shown in terminal.shown
    assert len(web.queries) == searched
    assert reply != "Spain capital\n" or web.queries == ["Spain capital"]


@pytest.mark.slow
def test_a_person_picks_sources(harbour: Path) -> None:
    terminal = Terminal(harbour, "ask", "How long may ships be?", "--set", "pick_sources=true")
    terminal.wait_for("numbers such as 1, 3: ")
    terminal.type("77\n")
    terminal.wait_for("There is no source 77.")
    terminal.wait_for("numbers such as 1, 3: ")
    terminal.type("n\n")
    assert terminal.end() == 0
    assert "no_evidence" in terminal.shown


def test_a_person_leaves(harbour: Path, web: TavilyStub) -> None:
    terminal = asking(harbour, web)
    terminal.interrupt()
    assert terminal.end() == 130
    assert "ragweave: Interrupted." in terminal.shown
    assert "Traceback" not in terminal.shown
    assert web.queries == []


@pytest.mark.slow
def test_colours_only_where_they_are_wanted(harbour: Path) -> None:
    plain, coloured = (
        Terminal(harbour, "search", "ships", NO_COLOR="1"),
        Terminal(harbour, "search", "ships"),
    )
    assert (plain.end(), coloured.end()) == (0, 0)
    assert "\x1b[3" not in plain.shown
    assert "\x1b[1m" in coloured.shown
