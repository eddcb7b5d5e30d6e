"""A DRIFT run whose process was killed goes on in another one, and repeats no finished call."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.graphs.drift_script import DriftScript
from tests.graphs.killing import kill
from tests.servers import OpenAIStub

pytestmark = pytest.mark.slow

PROGRAM = """
import asyncio, json, sys
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from ragweave.graphs.drift import build

database, index, resume = sys.argv[1:4]
context = {
    "index": index, "model": "openai:stub", "embeddings": "offline", "similar_above": 1,
    "stop_when_flat": False, "primer_folds": 2, "n_depth": 2, "drift_k_followups": 4,
    "local_search_max_data_tokens": 1500, "max_concurrency": 2,
}

async def main():
    async with AsyncSqliteSaver.from_conn_string(database) as saver:
        graph = build().compile(checkpointer=saver)
        config = {"configurable": {"thread_id": "1"}}
        given = None if resume == "resume" else {"question": "What does the squad prepare for?"}
        more = {} if resume == "resume" else {"context": context}
        state = await graph.ainvoke(given, config, durability="sync", **more)
        print(json.dumps([state["answer"], state["status"], state["usage"]["calls"]]))

asyncio.run(main())
"""
CALLS = 1 + 2 + 8 + 1


def start(folder: Path, index: str, how: str) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", PROGRAM, str(folder / "runs.sqlite"), index, how]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("kill_at", [2, 5, 7, 9])
def test_a_killed_run_is_completed_by_another_process(
    data: Path, tmp_path: Path, openai_stub: OpenAIStub, kill_at: int
) -> None:
    openai_stub.script = DriftScript(latency=0.2)
    index = f"graphrag:{data / 'graphrag/dulce'}"
    running = start(tmp_path, index, "begin")
    deadline = time.monotonic() + 120
    while len(openai_stub.chats) < kill_at and time.monotonic() < deadline:
        time.sleep(0.01)
    unstored = kill(running, openai_stub)
    before = len(openai_stub.chats)

    resumed = start(tmp_path, index, "resume")
    output, _ = resumed.communicate(timeout=240)

    answer, status, _ = json.loads(output)
    assert status == "answered"
    assert answer
    assert kill_at <= before < CALLS
    assert CALLS <= len(openai_stub.chats) <= CALLS + unstored
