"""A run that ends after any one of its checkpointer's writes is resumed with the same answer."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import aiosqlite
import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from tests.graphs.techniques import ANSWER, BUILDERS, QUESTION, TECHNIQUES, THOROUGH, script
from tests.servers import OpenAIStub

THREAD = RunnableConfig(configurable={"thread_id": "1"})


class WatchedSaver(AsyncSqliteSaver):
    """Copies its database, with its journal, after each write."""

    def __init__(self, connection: aiosqlite.Connection, file: Path) -> None:
        super().__init__(connection)
        self.file = file
        self.copies: list[Path] = []

    async def aput(self, *args: Any) -> RunnableConfig:
        """Store a checkpoint."""
        stored = await super().aput(*args)
        await self._copy()
        return stored

    async def aput_writes(self, *args: Any) -> None:
        """Store what a node wrote."""
        await super().aput_writes(*args)
        await self._copy()

    async def _copy(self) -> None:
        async with self.lock:  # nothing is written meanwhile
            folder = self.file.parent / str(len(self.copies))
            self.copies.append(folder / self.file.name)
            await asyncio.to_thread(copy_database, self.file, folder)


def copy_database(file: Path, folder: Path) -> None:
    folder.mkdir()
    for part in file.parent.glob(f"{file.name}*"):
        shutil.copy(part, folder)


@pytest.mark.slow
@pytest.mark.parametrize("technique", TECHNIQUES)
async def test_a_run_goes_on_from_every_write(
    technique: str, town: str, openai_stub: OpenAIStub, tmp_path: Path
) -> None:
    openai_stub.script = script
    context = {
        "index": town,
        "model": "openai:stub",
        "max_model_calls": 10_000,  # which all that go on in this process share, as one run
        **THOROUGH[technique],
    }
    async with aiosqlite.connect(tmp_path / "runs.sqlite") as connection:
        saver = WatchedSaver(connection, tmp_path / "runs.sqlite")
        whole = await go_on(technique, saver, context)
    calls = len(openai_stub.chats)
    assert whole["answer"] == ANSWER
    assert len(saver.copies) > 10
    for copy in saver.copies:
        openai_stub.calls.clear()
        async with aiosqlite.connect(copy) as connection:
            resumed = await go_on(technique, AsyncSqliteSaver(connection), context)
        assert resumed["answer"] == ANSWER
        assert resumed["sources"] == whole["sources"]
        assert resumed["usage"]["calls"] == whole["usage"]["calls"] == calls
    assert not openai_stub.chats  # after the last write there was nothing left to ask


async def go_on(technique: str, saver: AsyncSqliteSaver, context: dict[str, Any]) -> dict[str, Any]:
    """Begin a run, or end the one that is stored; its context is stored by its first node."""
    graph = BUILDERS[technique]().compile(checkpointer=saver)
    stored = await graph.aget_state(THREAD)
    given = None if stored.created_at else {"question": QUESTION}
    known = None if "settings" in stored.values else context
    output: dict[str, Any] = await graph.ainvoke(given, THREAD, context=known, durability="sync")
    return output
