"""What a DRIFT question costs on a real graph: calls, tokens, waits, processor time, memory.

    RAGWEAVE_DATA=FOLDER PYTHONPATH=. python benchmarks/drift.py

The graph is `graphrag/carol` (529 entities, 978 relationships, 122 reports) with the offline
embeddings. The model is scripted: every answer scores higher than the one before it and suggests
five new questions, so that every call the settings allow is made.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.tool import ToolCall
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from benchmarks.stub_process import stub_process
from ragweave.graphs.drift import graph
from ragweave.models import register
from ragweave.models.offline.embeddings import OfflineEmbeddings
from ragweave.models.tokens import token_counter
from ragweave.state.drift import DriftContext
from ragweave.stores.graphrag.folder import GraphRagFolder
from ragweave.stores.vector_table import VectorTable
from tests.servers import Answer, schema_of

QUESTION = "What changes Scrooge, and who has a part in it?"
LATENCY = 0.2
EMBEDDING_LATENCY = 0.1
GRAPHRAG = {
    "n_depth": 3,
    "drift_k_followups": 20,
    "primer_folds": 5,
    "k_reports": 20,
    "local_search_max_data_tokens": 12_000,
    "local_search_text_unit_prop": 0.9,
    "local_search_community_prop": 0.1,
    "primer_max_tokens": 12_000,
    "stop_when_flat": False,
    "similar_above": 1.0,
    "max_concurrency": 32,
}
"""The settings that GraphRAG has by default."""


def answer_to(prompt: str, schema: str | None, follow_ups: Callable[[int], list[str]]) -> Any:
    """What the model says: the same to the same prompt."""
    mark = zlib.crc32(prompt.encode())
    if schema is None:
        return "Scrooge is changed by the spirits [1]. The Cratchits have a part in it [2]."
    text = {"LocalAnswer": "response", "PrimerAnswer": "intermediate_answer"}[schema]
    return {
        text: f"It is told of {mark} [1][2].",
        "score": 50 + mark % 50,
        "follow_up_queries": follow_ups(mark),
    }


def new_questions(mark: int) -> list[str]:
    return [f"What happened at {mark * 7 + number}?" for number in range(5)]


def repeated_questions(mark: int) -> list[str]:
    """Few questions, in many spellings."""
    words = ["what does Marley warn of", "who are the Cratchits", "where does Scrooge work"]
    spell: list[Callable[[str], str]] = [str.title, str.upper, "{}?".format, "{} ?".format]
    return [spell[(mark + at) % 4](words[(mark + at) % 3]) for at in range(5)]


class Scripted(BaseChatModel):
    """Answers after `latency` seconds, in this process."""

    latency: float = 0.0
    follow_ups: Any = staticmethod(new_questions)
    _flying: int = PrivateAttr(default=0)
    _most: int = PrivateAttr(default=0)
    _prompts: list[str] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools])

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        raise NotImplementedError

    async def _agenerate(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> ChatResult:
        self._flying += 1
        self._most = max(self._most, self._flying)
        await asyncio.sleep(self.latency)
        self._flying -= 1
        prompt = "\n".join(message.text for message in messages)
        self._prompts.append(prompt)
        tools = kwargs.get("tools") or []
        schema = tools[0]["function"]["name"] if tools else None
        said = answer_to(messages[-1].text, schema, self.follow_ups)
        calls = [ToolCall(name=schema, args=said, id="1")] if schema else []
        usage: Any = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        text = "" if schema else said
        message = AIMessage(text, tool_calls=calls, usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=message)])


class SlowEmbeddings(Embeddings):
    """The offline embeddings, after a while."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return OfflineEmbeddings().embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        return OfflineEmbeddings().embed_query(text)

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        await asyncio.sleep(EMBEDDING_LATENCY)
        return await OfflineEmbeddings().aembed_documents(texts)

    async def aembed_query(self, text: str) -> list[float]:
        await asyncio.sleep(EMBEDDING_LATENCY)
        return await OfflineEmbeddings().aembed_query(text)


def main() -> None:
    """Print one row for each figure."""
    folder = os.environ.get("RAGWEAVE_DATA")
    if not folder:
        sys.exit("RAGWEAVE_DATA is not set: it names the folder that holds graphrag/carol.")
    index = f"graphrag:{Path(folder) / 'graphrag/carol'}"
    with stub_process(over_http):
        asyncio.run(measure(index))


def over_http(request: dict[str, Any]) -> Any:
    said = answer_to(request["messages"][-1]["content"], schema_of(request), new_questions)
    return Answer(said) if isinstance(said, str) else said


async def measure(index: str) -> None:
    started, used = time.perf_counter(), time.process_time()
    await GraphRagFolder(index).tables()
    load = time.perf_counter() - started, time.process_time() - used
    row("loading carol, first in the process", f"{load[0]:.2f} s, CPU {load[1]:.2f} s", "< 1 s")

    fast = Scripted()
    register("fast", fast)
    await ask(index, "fast")
    for name, settings, target in (
        ("own defaults", {}, "<= 25 calls, <= 150k tokens"),
        ("GraphRAG's settings", GRAPHRAG, "<= 67 calls; GraphRAG: 672k tokens"),
    ):
        fast._prompts.clear()
        await ask(index, "fast", **settings)
        tokens = sum((await token_counter())(fast._prompts))
        row(name, f"{len(fast._prompts)} calls, {tokens / 1000:.0f}k prompt tokens", target)

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    row("peak memory so far", f"{peak:.0f} MB", "<= 350 MB")

    register("repeating", Scripted(follow_ups=repeated_questions))
    state = await ask(index, "repeating", **GRAPHRAG)
    row("near-duplicates only", f"{state['usage']['calls']} calls", "<= 12; GraphRAG: 27")

    used = time.process_time()
    await ask(index, "fast", **GRAPHRAG)
    row("CPU for 67 calls, in process", f"{time.process_time() - used:.2f} s", "<= 0.6 s")
    await ask(index, "openai:stub", **GRAPHRAG)
    used = time.process_time()
    await ask(index, "openai:stub", **GRAPHRAG)
    row("CPU for 67 calls, over HTTP", f"{time.process_time() - used:.2f} s", "<= 3 s")

    register("slow", Scripted(latency=LATENCY))
    seconds = await timed(index, "slow")
    path = (3 + DriftContext().n_depth) * LATENCY
    row("wall over critical path, own defaults", f"{seconds / path:.2f}", "<= 1.25")
    waits = 3 + GRAPHRAG["n_depth"]
    seconds = await timed(index, "slow", **GRAPHRAG)
    row("wall over critical path", f"{seconds / (waits * LATENCY):.2f}", "<= 1.25")
    register("slow-embeddings", SlowEmbeddings())
    await ask(index, "fast", embeddings="slow-embeddings", **GRAPHRAG)
    seconds = await timed(index, "slow", embeddings="slow-embeddings", **GRAPHRAG)
    path = waits * LATENCY + (2 + GRAPHRAG["n_depth"]) * EMBEDDING_LATENCY
    row("the same, embeddings 100 ms", f"{seconds / path:.2f}", "<= 1.35")

    for concurrency in (1, 2, 8):
        model = Scripted(latency=0.01)
        register("counted", model)
        await ask(index, "counted", **{**GRAPHRAG, "max_concurrency": concurrency})
        row(f"calls in flight at concurrency {concurrency}", str(model._most), str(concurrency))

    await select_reports(index)


async def select_reports(index: str) -> None:
    """Nearest reports among ten times as many as carol has."""
    tables = await GraphRagFolder(index).tables()
    reports = [replace(r, id=f"{r.id}-{copy}") for copy in range(10) for r in tables.reports]
    vectors = OfflineEmbeddings().embed_documents([report.summary for report in reports])
    table = VectorTable.of({r.id: v for r, v in zip(reports, vectors, strict=True)})
    started = time.perf_counter()
    table.nearest_by_cosine(vectors[0], 20, among=[True] * len(reports))
    milliseconds = 1000 * (time.perf_counter() - started)
    row(f"selecting among {len(reports):,} reports", f"{milliseconds:.1f} ms", "<= 50 ms")


_asked = 0


async def ask(index: str, model: str, **settings: Any) -> dict[str, Any]:
    """One question that was never asked before, so that nothing of it is remembered."""
    global _asked
    _asked += 1
    context: Any = {"index": index, "model": model, "embeddings": "offline", **settings}
    question = f"{QUESTION} ({_asked})"
    state: dict[str, Any] = await graph.ainvoke(
        {"question": question}, context=context, config={"max_concurrency": 100}
    )
    return state


async def timed(index: str, model: str, **settings: Any) -> float:
    started = time.perf_counter()
    await ask(index, model, **settings)
    return time.perf_counter() - started


def row(figure: str, measured: str, target: str) -> None:
    print(f"{figure:<40} {measured:<34} {target}", flush=True)


if __name__ == "__main__":
    main()
