"""A build whose process is killed, again and again, ends with the graph of one left alone."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from ragweave.stores.answer_cache import FILE
from ragweave.stores.open_graph import open_graph
from tests.graphs.graph_script import GraphScript, asked, prompts
from tests.graphs.test_graph_index import content, tables_of
from tests.servers import OpenAIStub

pytestmark = pytest.mark.slow

KILLS = 10
AT_ONCE = 2
LATENCY = 0.1


def start(folder: Path, index: str) -> subprocess.Popen[str]:
    """The command line in a process of its own."""
    command = [sys.executable, "-m", "ragweave.serving.cli", "graph-index", "docs"]
    settings = {"max_concurrency": AT_ONCE, "unit_tokens": 400, "max_description_tokens": 120}
    options = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    return subprocess.Popen(
        [*command, "--index", index, "--model", "openai:stub", *options],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(folder: Path, index: str) -> None:
    running = start(folder, index)
    _, said = running.communicate(timeout=300)
    assert running.returncode == 0, said


def wait(stub: OpenAIStub, requests: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 120
    while len(stub.chats) < requests and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def stored_answers(folder: Path) -> int:
    """Answers that the next run will not ask for again."""
    if not (folder / FILE).is_file():
        return 0
    with closing(sqlite3.connect(folder / FILE)) as connection:
        return int(connection.execute("SELECT count(*) FROM answers").fetchone()[0])


@pytest.mark.parametrize("kind", ["lance", "graphrag"])
def test_a_build_killed_ten_times_gives_the_same_graph(
    data: Path,
    tmp_path: Path,
    openai_stub: OpenAIStub,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
) -> None:
    (tmp_path / "docs").mkdir()
    text = (data / "demo/christmas_carol.txt").read_text(encoding="utf-8")
    for part in range(3):
        piece = text[8_000 + part * 6_000 :][:6_000]
        (tmp_path / f"docs/{part}.txt").write_text(piece, encoding="utf-8")
    openai_stub.script = GraphScript(latency=LATENCY, wordy=1)
    finish(tmp_path, f"{kind}:whole")
    expected, kinds = prompts(openai_stub.chats), asked(openai_stub.chats)
    assert min(kinds["Extraction"], kinds["MergedDescription"], kinds["CommunityReport"]) > 0
    assert set(expected.values()) == {1}
    openai_stub.calls.clear()

    chance = random.Random(7)
    stored = 0
    for point in sorted(chance.sample(range(1, expected.total()), KILLS)):
        asked_before, stored_before = len(openai_stub.chats), stored
        running = start(tmp_path, f"{kind}:killed")
        wait(openai_stub, point, running)
        time.sleep(chance.random() * LATENCY)
        running.kill()
        running.communicate()
        stored = stored_answers(tmp_path / "killed")
        lost = len(openai_stub.chats) - asked_before - (stored - stored_before)
        assert 0 <= lost <= 2 * AT_ONCE  # in flight, or being stored
    before = len(openai_stub.chats)
    finish(tmp_path, f"{kind}:killed")

    assert len(openai_stub.chats) - before == expected.total() - stored
    assert prompts(openai_stub.chats).keys() == expected.keys()
    monkeypatch.chdir(tmp_path)
    assert asyncio.run(_contents(f"{kind}:killed")) == asyncio.run(_contents(f"{kind}:whole"))


async def _contents(index: str) -> object:
    """What a graph says, once its ids are seen to lead somewhere."""
    said = content(await tables_of(index))
    await (await open_graph(index)).aclose()
    return said
