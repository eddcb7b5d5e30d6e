"""A child process for the parsers that a broken file can crash, hang or fill with memory.

The parent writes one request a line, the child answers with one line of JSON. Whatever happens to
the child, the parent gets one reason for one file and goes on with a new child.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from ragweave.indexing.document import Content, Unreadable

MEMORY_LIMIT = 4 * 2**30
"""Bytes of address space that one file may take, where the system can limit them."""


class ParserProcess:
    """Reads PDF and office files in a child process, one at a time. Close it after use.

    Args:
        seconds: most time that one file may take.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._child: subprocess.Popen[str] | None = None

    def read(self, kind: str, path: Path) -> Content:
        """Read one file with the parser named `kind`, `pdf` or `office`.

        Raises:
            Unreadable: the parser's own reason, or that it crashed or took too long.
        """
        child = self._running()
        timed_out = threading.Event()
        timer = threading.Timer(self._seconds, _stop, [child, timed_out])
        timer.start()
        try:
            answer = _ask(child, {"kind": kind, "path": str(path)})
        finally:
            timer.cancel()
        if answer is None:
            self.close()
            limit = f"took longer than {self._seconds:g} seconds to read"
            raise Unreadable(limit if timed_out.is_set() else "crashes the parser: it is damaged")
        if "unreadable" in answer:
            raise Unreadable(answer["unreadable"])
        return Content(**answer)

    def close(self) -> None:
        """End the child, if there is one."""
        if self._child:
            self._child.kill()
            self._child.communicate()
        self._child = None

    def _running(self) -> subprocess.Popen[str]:
        if self._child and self._child.poll() is not None:
            self.close()
        if self._child is None:
            self._child = subprocess.Popen(
                [sys.executable, "-m", "ragweave.indexing.loading.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
            )
        return self._child


def _stop(child: subprocess.Popen[str], timed_out: threading.Event) -> None:
    timed_out.set()
    child.kill()


def _ask(child: subprocess.Popen[str], request: dict[str, str]) -> dict[str, Any] | None:
    """The child's answer; None if it died before giving one."""
    if child.stdin is None or child.stdout is None:
        return None
    try:
        print(json.dumps(request), file=child.stdin, flush=True)
        line = child.stdout.readline()
    except BrokenPipeError:
        return None
    answer: dict[str, Any] | None = json.loads(line) if line.endswith("\n") else None
    return answer


def _parser(kind: str) -> Callable[[Path], Content]:
    if kind == "pdf":
        from ragweave.indexing.loading.pdf import read_pdf

        return read_pdf
    from ragweave.indexing.loading.office import read_office

    return read_office


def _answer(request: dict[str, str]) -> dict[str, Any]:
    try:
        return asdict(_parser(request["kind"])(Path(request["path"])))
    except Unreadable as reason:
        return {"unreadable": str(reason)}
    except MemoryError:
        return {"unreadable": f"needs more than {MEMORY_LIMIT // 2**30} GB of memory to read"}
    except Exception as error:  # a parser's bug with one file must not end the run
        return {"unreadable": f"cannot be read: {type(error).__name__}: {error}"[:200]}


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))


def _private_stdout() -> IO[str]:
    """The pipe to the parent, out of reach of parsers that print."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def _serve() -> None:
    _limit_memory()
    answers = _private_stdout()
    for line in sys.stdin:
        print(json.dumps(_answer(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    _serve()
