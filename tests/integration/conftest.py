"""A working folder with an index, and in it the real LangGraph server."""

from __future__ import annotations

import io
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from blockbuster import BlockBuster

from ragweave.serving.cli.app import run
from tests.integration.commands import Ended, Ragweave
from tests.servers.tavily_stub import TavilyStub, web_result

ROOT = Path(__file__).parents[2]
START_SECONDS = 120
QUIET = {
    "LANGSMITH_TRACING": "false",
    "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    "LANGGRAPH_NO_VERSION_CHECK": "true",
    "LANGGRAPH_STRICT_MSGPACK": "true",
    "NO_COLOR": "1",
}

HARBOUR = """# Harbour rules

Ships longer than 90 metres need a pilot. The pilot boards two miles before the breakwater.

## Berths

Berth 4 is reserved for tankers. Berth 7 takes grain ships of at most 40,000 tonnes.
"""
LIGHTHOUSE = """# 灯塔

灯塔每十二秒闪光一次。守塔人每天清晨五点熄灯。
"""


@dataclass(frozen=True)
class Server:
    """A running server: its address, its working folder, its log, and the web it searches."""

    url: str
    folder: Path
    log_file: Path
    web: TavilyStub

    def log(self) -> str:
        return self.log_file.read_text(encoding="utf-8", errors="replace")


def environment(**more: str) -> dict[str, str]:
    """What the server needs of this process's environment, and nothing that changes a result."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {**kept, **QUIET, **more}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def web() -> Iterator[TavilyStub]:
    """A web that knows one thing."""
    page = "Madrid is the capital of Spain. It has three million inhabitants."
    with TavilyStub(lambda request: [web_result(page, title="Spain")]) as stub:
        yield stub


@pytest.fixture
def blocking_clients(no_blocking_calls: BlockBuster) -> None:
    """Let a client block: its first use imports modules. It is the server that is under test."""
    no_blocking_calls.deactivate()


@pytest.fixture(scope="session")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder with two documents and their index, at the default place."""
    folder = tmp_path_factory.mktemp("harbour")
    (folder / "docs").mkdir()
    (folder / "docs" / "harbour.md").write_text(HARBOUR, encoding="utf-8")
    (folder / "docs" / "lighthouse.md").write_text(LIGHTHOUSE, encoding="utf-8")
    subprocess.run(
        [sys.executable, "-m", "ragweave.serving.cli", "ingest", "docs"],
        cwd=folder,
        env=environment(),
        check=True,
        capture_output=True,
        timeout=120,
    )
    return folder


@pytest.fixture
def ragweave(
    harbour: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Ragweave:
    """Runs a command in a folder, by default one with an index of two documents."""

    def call(*arguments: str, folder: Path = harbour, stdin: str = "", **env: str) -> Ended:
        monkeypatch.chdir(folder)
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        code = run(list(arguments))
        return Ended(code, *capsys.readouterr())

    return call


@pytest.fixture(scope="session")
def server(harbour: Path, web: TavilyStub) -> Iterator[Server]:
    """Serves `langgraph.json` as it is, from the working folder `harbour`."""
    with serving(harbour, web) as running:
        yield running


@contextmanager
def serving(folder: Path, web: TavilyStub, *options: str) -> Iterator[Server]:
    """The real LangGraph server, started in a folder."""
    shutil.copy(ROOT / "langgraph.json", folder)
    if not (folder / "graphs").exists():
        (folder / "graphs").symlink_to(ROOT / "graphs")
    port = free_port()
    address = ["--host", "127.0.0.1", "--port", str(port), *options]
    serve = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", *address]
    log_file = folder / f"server-{port}.log"
    with log_file.open("wb") as log:
        process = subprocess.Popen(
            serve,
            cwd=folder,
            env=environment(TAVILY_API_KEY="tvly-test", TAVILY_BASE_URL=web.url),
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    running = Server(f"http://127.0.0.1:{port}", folder, log_file, web)
    try:
        wait_until_up(running, process)
        yield running
    finally:
        process.terminate()
        process.wait(timeout=30)


def wait_until_up(server: Server, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.url}/ok", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError(f"langgraph dev did not start:\n{server.log()[-4000:]}")
