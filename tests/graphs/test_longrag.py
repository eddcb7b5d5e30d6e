"""LongRAG against a scripted model over HTTP: units, budgets, batches, merging, citations."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from ragweave.graphs.longrag import build, graph
from ragweave.models.tokens import token_counter
from ragweave.state.errors import InvalidSetting, ModelUnavailable
from ragweave.state.longrag import LongRagContext
from ragweave.stores import register
from ragweave.stores.base import Index
from tests.graphs.running import run
from tests.graphs.unit_library import group, make_documents
from tests.servers import Answer, Fault, OpenAIStub, prompt_of
from tests.stores.backends import IndexString

QUESTION = "What does the brass lamp weigh?"
SHORT = {
    "lamps/weight.md": "The brass lamp weighs 3 kg. See [oil](oil.md).",
    "lamps/oil.md": "Its oil weighs another kilogram. A lamp burns for a night.",
    "stones/granite.md": "Granite is an igneous rock.",
}
ANSWER = "The brass lamp weighs 3 kg [1]."


def context(index: Index | str, **settings: Any) -> dict[str, Any]:
    name = index if isinstance(index, str) else index.name
    return {"index": name, "model": "openai:stub", **settings}


def sentence(lamp: int, part: int) -> str:
    """One sentence of a long document, which no other one is like."""
    return (
        f"In the house of lamp {lamp} a keeper polishes the old parts of brass every morning, "
        f"before the visitors come up the hill, and so it was on day {part}. "
    )


def long_documents(number: int, size: int) -> dict[str, str]:
    """Documents of about `size` characters, each sentence of which names its place."""
    documents = {}
    for n in range(number):
        sentences = (sentence(n, at) for at in range(size // len(sentence(n, 1_000))))
        paragraphs, text = [], ""
        for piece in sentences:
            text += piece
            if len(text) > 600:
                paragraphs.append(text.strip())
                text = ""
        documents[f"lamps/{n}.md"] = "\n\n".join([*paragraphs, text.strip()])
    return documents


def by_stage(read: Any, merge: Any, shorten: Any = "3 kg [1].") -> Callable[[dict[str, Any]], Any]:
    """A script that tells the calls apart by what their prompts hold."""

    def script(request: dict[str, Any]) -> Any:
        shown = prompt_of(request)
        if "<note " in shown:
            return merge
        if "<answer>" in shown:
            return shorten
        return read(shown) if callable(read) else read

    return script


def cite_first(shown: str) -> Answer:
    number = re.findall(r'<source number="(\d+)"', shown)[0]
    return Answer(f"The lamp has parts of brass [{number}].", latency=0.2)


# --- one call -----------------------------------------------------------------------------------


async def test_units_that_fit_are_read_in_one_call_and_parts_are_cited(
    index_string: IndexString, openai_stub: OpenAIStub
) -> None:
    index = await make_documents(index_string("index"), SHORT)
    await group(index, unit_relations=["links"])
    openai_stub.script = lambda _: ANSWER + " Its oil weighs another kilogram [1][2]."
    result = await run(build(), QUESTION, context(index, top_k=1))
    assert [s["document_id"] for s in result.output["sources"]] == [
        "lamps/oil.md",
        "lamps/weight.md",
    ]
    assert result.output["usage"]["calls"] == 1
    assert result.output["answer"] == result.streamed


async def test_a_citation_points_into_the_document_not_the_unit(
    index_string: IndexString, openai_stub: OpenAIStub
) -> None:
    index = await make_documents(index_string("index"), SHORT)
    await group(index, unit_relations=["links"])
    openai_stub.script = lambda _: "The brass lamp weighs 3 kg [2]."
    result = await run(build(), QUESTION, context(index, top_k=1))
    (citation,) = result.output["citations"]
    (source,) = [s for s in result.output["sources"] if s["id"] == citation["source_id"]]
    assert source["document_id"] == "lamps/weight.md"
    assert SHORT["lamps/weight.md"][citation["start"] : citation["end"]] == citation["quote"]
    assert citation["status"] == "grounded"


async def test_k_counts_units_not_chunks(
    index_string: IndexString, openai_stub: OpenAIStub
) -> None:
    many = "\n\n".join(f"The brass lamp number {n} weighs {n} kg." for n in range(501))
    documents = {"big.txt": many, "other.txt": "A brass plate weighs a gram."}
    index = await make_documents(index_string("index"), documents, chunk_tokens=32)
    assert await index.count() >= 250
    await group(index, unit_relations=[])
    openai_stub.script = lambda _: ANSWER
    result = await run(build(), QUESTION, context(index, top_k=2, reader_tokens=400_000))
    assert {s["document_id"] for s in result.output["sources"]} == {"big.txt", "other.txt"}


# --- batches ------------------------------------------------------------------------------------


async def test_eight_long_documents_are_read_at_once_and_merged(
    index_string: IndexString, openai_stub: OpenAIStub
) -> None:
    documents = long_documents(8, 150_000)
    index = await make_documents(index_string("index"), documents, chunk_tokens=512)
    await group(index)
    openai_stub.script = by_stage(cite_first, "The lamps have parts of brass [1].")
    question = "Which lamp has parts of brass?"
    result = await run(build(), question, context(index, max_concurrency=64))
    count = await token_counter()
    prompts = ["\n".join(m["content"] for m in chat["messages"]) for chat in openai_stub.chats]
    assert max(await asyncio.to_thread(count, prompts)) <= 32_000
    read = [chat for chat in openai_stub.chats if "<note " not in prompt_of(chat)]
    assert len(openai_stub.chats) == len(read) + 1 > 8
    shown = "\n".join(map(prompt_of, read))
    parts = 150_000 // len(sentence(0, 1_000))
    missing = [
        (lamp, part)
        for lamp in range(8)
        for part in range(parts)
        if sentence(lamp, part).strip() not in shown
    ]
    assert missing == []
    calls = [call for call in openai_stub.calls if call.path == "/v1/chat/completions"]
    merge = max(calls, key=lambda call: call.started)
    assert all(
        call.ended is not None and call.ended <= merge.started
        for call in calls
        if call is not merge
    )
    assert (
        max(call.started for call in calls if call is not merge)
        < min(call.ended or 0 for call in calls if call is not merge) + 1.0
    )
    assert result.of_type("reduced")[0]["count"] == len(read)
    assert result.output["answer"] == result.streamed
    assert result.output["status"] == "answered"
    for source in result.output["sources"]:
        document = documents[source["document_id"]]
        assert document[source["start"] : source["end"]] == source["text"]


@pytest.mark.slow
async def test_a_large_reader_needs_one_call(
    index_string: IndexString, openai_stub: OpenAIStub
) -> None:
    index = await make_documents(
        index_string("index"), long_documents(8, 150_000), chunk_tokens=512
    )
    await group(index)
    openai_stub.script = lambda _: "The lamps have parts of brass [1]."
    question = "Which lamp has parts of brass?"
    result = await run(build(), question, context(index, reader_tokens=400_000))
    assert result.output["usage"]["calls"] == 1
    assert len(result.output["sources"]) == 8


async def test_a_batch_that_says_nothing_is_left_out_of_the_merge(
    index_string: IndexString, openai_stub: OpenAIStub
) -> None:
    index = await make_documents(index_string("index"), long_documents(4, 6_000))
    await group(index, unit_tokens=50)

    def read(shown: str) -> str:
        return "Lamp 2 has part 7 of brass [99]." if "of lamp 2" in shown else "NOTHING"

    openai_stub.script = by_stage(read, "unused")
    result = await run(build(), QUESTION, context(index, reader_tokens=3_000))
    assert result.output["status"] == "no_evidence"
    assert not any("<note" in prompt_of(chat) for chat in openai_stub.chats)

    def cited(shown: str) -> str:
        numbers = re.findall(r'<source number="(\d+)"', shown)
        return f"Lamp 2 has part 7 of brass [{numbers[0]}]." if "of lamp 2" in shown else "NOTHING"

    openai_stub.script = by_stage(cited, "Lamp 2 has part 7 of brass.")
    one = await run(build(), QUESTION, context(index, reader_tokens=3_000))
    assert one.output["status"] == "answered"
    assert one.output["answer"] == one.streamed


async def test_a_batch_that_cannot_be_read_is_named_and_the_answer_is_partial(
    index_string: IndexString, openai_stub: OpenAIStub
) -> None:
    index = await make_documents(index_string("index"), long_documents(3, 6_000))
    await group(index, unit_tokens=50)

    def read(shown: str) -> Any:
        return Fault(500, retry_after=0) if "of lamp 1" in shown else cite_first(shown)

    openai_stub.script = by_stage(read, "The lamps have parts of brass [1].")
    result = await run(build(), QUESTION, context(index, reader_tokens=3_000))
    assert result.output["status"] == "partial"
    [warning] = result.output["warnings"]
    assert re.match(r"Not read: 1 of 3 parts \(sources \d\): openai:stub: 500", warning)
    openai_stub.script = lambda _: Fault(500, retry_after=0)
    with pytest.raises(ModelUnavailable, match="None of the sources could be read") as caught:
        await run(build(), QUESTION, context(index, reader_tokens=3_000))
    assert str(caught.value).count("openai:stub") == 1


async def test_one_warning_tells_of_all_batches_that_were_not_read(
    index_string: IndexString, openai_stub: OpenAIStub
) -> None:
    index = await make_documents(index_string("index"), long_documents(6, 6_000))
    await group(index, unit_tokens=50)

    def read(shown: str) -> Any:
        if "of lamp 1" in shown or "of lamp 4" in shown:
            return Fault(500, retry_after=0)
        return "" if "of lamp 2" in shown else cite_first(shown)

    openai_stub.script = by_stage(read, "The lamps have parts of brass [1].")
    result = await run(build(), QUESTION, context(index, reader_tokens=3_000))
    [warning] = result.output["warnings"]
    assert re.match(r"Not read: 3 of 6 parts \(sources [\d, -]+\), first: openai:stub", warning)
    named = re.findall(r"(\d+)(?:-(\d+))?", warning.split("sources ")[1].split(")")[0])
    failed = [reading["batch"] for reading in result.state["readings"] if reading["failed"]]
    assert [n for first, last in named for n in range(int(first), int(last or first) + 1)] == [
        n for batch in failed for n in result.state["batches"][batch - 1]
    ]


async def test_the_budgets_end_gives_what_was_read(
    index_string: IndexString, openai_stub: OpenAIStub
) -> None:
    index = await make_documents(index_string("index"), long_documents(3, 6_000))
    await group(index, unit_tokens=50)
    openai_stub.script = by_stage(cite_first, "The lamps have parts of brass [1].")
    settings = context(index, reader_tokens=3_000)
    some = await run(build(), QUESTION, {**settings, "max_model_calls": 2})
    assert some.output["status"] == "partial"
    assert some.output["answer"].startswith("The lamp has parts of brass [")
    assert some.output["usage"]["calls"] == 1
    none = await run(build(), QUESTION, {**settings, "max_model_calls": 0})
    assert none.output["status"] == "partial"
    assert none.output["answer"] == none.streamed != ""
    assert none.of_type("budget")[0]["limit"] == "max_model_calls"


async def test_a_budget_too_small_for_the_question_is_named(
    index_string: IndexString, openai_stub: OpenAIStub
) -> None:
    index = await make_documents(index_string("index"), SHORT)
    await group(index)
    with pytest.raises(InvalidSetting, match="reader_tokens is 1000"):
        await run(build(), QUESTION + " so" * 2_000, context(index, reader_tokens=1_000))


# --- the short answer ---------------------------------------------------------------------------


async def test_a_short_answer_is_made_of_the_long_one(
    index_string: IndexString, openai_stub: OpenAIStub
) -> None:
    index = await make_documents(index_string("index"), SHORT)
    await group(index, max_unit_documents=1)
    openai_stub.script = by_stage("The brass lamp weighs 3 kg, without oil [1].", "x", "3 kg [1].")
    result = await run(build(), QUESTION, context(index, short_answer=True))
    assert result.output["answer"] == result.streamed == "3 kg [1]."
    assert result.state["long_answer"] == "The brass lamp weighs 3 kg, without oil [1]."
    assert set(result.output["usage"]["stages"]) == {"read", "shorten"}
    assert "The brass lamp weighs 3 kg, without oil [1]." in prompt_of(openai_stub.chats[-1])


async def test_short_answers_of_several_batches_take_three_steps(
    index_string: IndexString, openai_stub: OpenAIStub
) -> None:
    index = await make_documents(index_string("index"), long_documents(3, 6_000))
    await group(index, unit_tokens=50)
    openai_stub.script = by_stage(cite_first, "All lamps have parts of brass [1].", "Brass [1].")
    result = await run(build(), QUESTION, context(index, reader_tokens=3_000, short_answer=True))
    assert set(result.output["usage"]["stages"]) == {"read", "merge", "shorten"}
    assert result.output["answer"] == result.streamed == "Brass [1]."


# --- indexes without units ----------------------------------------------------------------------


async def test_without_units_whole_documents_are_read(
    index_string: IndexString, openai_stub: OpenAIStub
) -> None:
    index = await make_documents(
        index_string("index"), {"long.md": "The brass lamp weighs 3 kg. " * 60}
    )
    openai_stub.script = lambda _: ANSWER
    result = await run(build(), QUESTION, context(index))
    (source,) = result.output["sources"]
    assert source["text"] == ("The brass lamp weighs 3 kg. " * 60).strip()
    assert "ragweave ingest --units" in result.output["warnings"][0]


async def test_behind_a_plain_retriever_the_documents_are_the_units(
    openai_stub: OpenAIStub,
) -> None:
    class Shelf(BaseRetriever):
        def _get_relevant_documents(
            self, query: str, *, run_manager: CallbackManagerForRetrieverRun
        ) -> list[Document]:
            return [Document("The brass lamp weighs 3 kg.", id="shelf-1")]

    register("shelf", Shelf())
    openai_stub.script = lambda _: ANSWER
    result = await run(build(), QUESTION, context("shelf"))
    assert [s["id"] for s in result.output["sources"]] == ["shelf-1"]
    assert result.output["status"] == "answered"


async def test_nothing_found_is_said_without_a_call(
    index_string: IndexString, openai_stub: OpenAIStub
) -> None:
    index = await make_documents(index_string("index"), {})
    result = await run(build(), QUESTION, context(index))
    assert result.output["status"] == "no_evidence"
    assert openai_stub.chats == []


# --- processes and concurrency ------------------------------------------------------------------


@pytest.mark.slow
async def test_a_new_process_gives_the_same_answer(index_string: IndexString) -> None:
    index = await make_documents(index_string("index"), SHORT)
    await group(index)
    name = index.name
    program = (
        "import asyncio, json, sys\n"
        "from ragweave.graphs.longrag import graph\n"
        "asked, context = {'question': sys.argv[1]}, {'index': sys.argv[2]}\n"
        "output = asyncio.run(graph.ainvoke(asked, context=context))\n"
        "print(json.dumps([output['answer'], output['citations'], output['sources']]))"
    )

    def ask(seed: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", program, QUESTION, name],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    first, second = await asyncio.to_thread(ask, "1"), await asyncio.to_thread(ask, "2")
    assert first == second
    assert "3 kg" in first


async def test_fifty_at_once_equal_one_by_one(
    index_string: IndexString, openai_stub: OpenAIStub
) -> None:
    index = await make_documents(index_string("index"), long_documents(3, 4_000))
    await group(index, unit_tokens=50)
    openai_stub.script = by_stage(
        lambda shown: cite_first(shown).text, "The lamps have parts of brass [1][2]."
    )
    settings = LongRagContext(**context(index, reader_tokens=2_500, top_k=3))
    questions = [f"Which lamp has part {number}?" for number in range(50)]

    async def ask(question: str) -> Any:
        output = await graph.ainvoke({"question": question}, context=settings)
        return output["answer"], [(s["number"], s["id"]) for s in output["sources"]]

    together = await asyncio.gather(*map(ask, questions))
    assert together == [await ask(question) for question in questions]
