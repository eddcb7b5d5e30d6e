"""Ingest on a real embedded index: what is added, kept, changed, removed and reported."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document

from ragweave.graphs.ingest import build, graph
from ragweave.models import register
from ragweave.state.errors import IndexSchemaMismatch, InvalidSetting
from ragweave.state.ingest import IngestContext
from ragweave.stores import open_index
from ragweave.stores.base import Chunk, DocumentRecord, Index, IndexSpec
from tests.graphs.counting import CountingEmbeddings
from tests.stores.backends import IndexString

PARAGRAPH = "Paragraph {} of the tale goes on for a while and then ends, as it must. "


class Place:
    """A working folder with documents, an index, and embeddings that count."""

    def __init__(self, folder: Path, index: str, embeddings: CountingEmbeddings) -> None:
        self.folder = folder
        self.embeddings = embeddings
        self.context: dict[str, Any] = {"index": index, "embeddings": "counting"}

    async def write(self, name: str, text: str, encoding: str = "utf-8") -> str:
        path = self.folder / "docs" / name
        await asyncio.to_thread(path.parent.mkdir, parents=True, exist_ok=True)
        await asyncio.to_thread(path.write_bytes, text.encode(encoding))
        return f"docs/{name}"

    async def remove(self, name: str) -> None:
        await asyncio.to_thread((self.folder / "docs" / name).unlink)

    async def ingest(self, *paths: str, **context: Any) -> dict[str, Any]:
        self.embeddings.texts.clear()
        given: Any = {"paths": list(paths or ["docs"])}
        settings: Any = {**self.context, **context}
        report = await graph.ainvoke(given, context=settings)
        return {name: value for name, value in report.items() if name != "seconds"}

    async def index(self) -> Index:
        return await open_index(self.context["index"])

    async def chunks(self) -> dict[str, Chunk]:
        return {chunk.id: chunk async for page in (await self.index()).scan() for chunk in page}

    async def records(self) -> dict[str, DocumentRecord]:
        return {record.id: record async for record in (await self.index()).documents()}


@pytest.fixture
def place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, index_string: IndexString
) -> Iterator[Place]:
    (tmp_path / "docs").mkdir()
    monkeypatch.chdir(tmp_path)
    embeddings = CountingEmbeddings()
    register("counting", embeddings)
    yield Place(tmp_path, index_string("index"), embeddings)
    shutil.rmtree(tmp_path, ignore_errors=True)


def report(**changed: Any) -> dict[str, Any]:
    counts = dict.fromkeys(("added", "unchanged", "removed", "failed_count", "chunks"), 0)
    return {**counts, "failed": [], **changed}


def tale(paragraphs: int) -> str:
    return "\n\n".join(PARAGRAPH.format(n) * (2 + n % 3) for n in range(paragraphs))


async def test_what_is_ingested_can_be_read_back_from_its_span(place: Place) -> None:
    text = f"# A tale\n\n## Beginning\n\n{tale(40)}"
    path = await place.write("tale.md", text)
    done = await place.ingest()
    chunks = await place.chunks()
    assert done == report(added=1, chunks=len(chunks))
    assert len(chunks) > 3
    for chunk in chunks.values():
        assert chunk.start is not None
        assert text[chunk.start : chunk.end] == chunk.text
        assert (chunk.document_id, chunk.path, chunk.title) == (path, path, "A tale")
        assert chunk.metadata == {"headings": ["Beginning"]}
    [record] = (await place.records()).values()
    assert (record.id, record.chunks, record.path) == (path, len(chunks), path)


async def test_a_second_run_embeds_nothing(place: Place) -> None:
    await place.write("a.md", tale(20))
    await place.write("b.txt", "one line")
    first = await place.ingest()
    before = await place.chunks()
    assert await place.ingest() == report(unchanged=2, chunks=first["chunks"])
    assert place.embeddings.texts == []
    assert await place.chunks() == before


async def test_a_changed_paragraph_embeds_one_or_two_chunks(place: Place) -> None:
    text = tale(200)
    await place.write("a.txt", text)
    await place.ingest()
    before = await place.chunks()
    await place.write("a.txt", text.replace("Paragraph 100 of", "Chapter 100 of"))
    assert (await place.ingest())["added"] == 1
    after = await place.chunks()
    assert 1 <= len(place.embeddings.texts) <= 2
    assert sum("Chapter 100" in chunk.text for chunk in after.values()) >= 1
    assert not any("Paragraph 100 " in chunk.text for chunk in after.values())
    kept = before.keys() & after.keys()
    assert len(kept) >= len(before) - 2
    assert {id_: before[id_].vector for id_ in kept} == {id_: after[id_].vector for id_ in kept}


async def test_chunks_that_moved_keep_their_vectors_and_get_new_spans(place: Place) -> None:
    await place.write("a.txt", tale(200))
    await place.ingest()
    text = f"A new first paragraph.\n\n{tale(200)}"
    await place.write("a.txt", text)
    await place.ingest()
    assert 1 <= len(place.embeddings.texts) <= 2
    for chunk in (await place.chunks()).values():
        assert chunk.start is not None
        assert text[chunk.start : chunk.end] == chunk.text


async def test_what_is_gone_below_the_given_paths_is_removed_and_nothing_else(place: Place) -> None:
    for name in ("a.md", "sub/b.md", "sub/c.md", "other/d.md"):
        await place.write(name, f"# {name}\n\nwords")
    await place.ingest()
    await place.remove("sub/b.md")
    await place.remove("other/d.md")
    assert await place.ingest("docs/sub") == report(unchanged=1, removed=1, chunks=1)
    assert sorted(await place.records()) == ["docs/a.md", "docs/other/d.md", "docs/sub/c.md"]
    assert {c.document_id for c in (await place.chunks()).values()} == (
        await place.records()
    ).keys()
    assert await place.ingest(prune=False) == report(unchanged=2, chunks=2)
    assert (await place.ingest())["removed"] == 1


async def test_a_file_that_cannot_be_read_now_keeps_what_it_had(place: Place) -> None:
    await place.write("a.txt", "words")
    await place.ingest()
    await place.write("a.txt", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", encoding="latin-1")
    done = await place.ingest()
    assert done["failed"] == [{"path": "docs/a.txt", "reason": "is image/png, not text"}]
    assert [chunk.text for chunk in (await place.chunks()).values()] == ["words"]


async def test_what_failed_is_counted_to_the_last_line(place: Place) -> None:
    await place.write("r.jsonl", "{broken\n" * 700 + lines({"id": "a", "text": "one"}))
    await place.write("s.jsonl", lines(*({"no": n} for n in range(40))))
    await place.write("empty.txt", "")
    done = await place.ingest()
    assert (done["added"], done["failed_count"]) == (1, 741)
    named = {failure["path"]: failure["reason"] for failure in done["failed"]}
    assert len(done["failed"]) == 13
    assert named["docs/r.jsonl"] == "has 695 more such lines"
    assert named["docs/s.jsonl"] == "has 35 more such lines"


async def test_more_failures_than_are_reported_are_counted(place: Place) -> None:
    same = lines(*({"id": "a", "text": f"text {n}"} for n in range(1200)))
    await place.write("r.jsonl", same + "{broken\n" * 9)
    done = await place.ingest()
    assert done["failed_count"] == 1199 + 9
    assert len(done["failed"]) == 1001
    assert done["failed"][-1] == {"path": "", "reason": "208 more could not be read"}


async def test_a_folder_without_documents_is_a_mistake_and_makes_no_index(place: Place) -> None:
    await place.write("picture.png", "x")
    for again in range(2):
        with pytest.raises(InvalidSetting, match="nothing to read in 'docs': no text, Markdown"):
            await place.ingest()
        assert (await (await place.index()).spec() is None) == (not again)
        await (await place.index()).ensure(IndexSpec(8, "counting", {}))


async def test_a_folder_that_was_emptied_loses_its_documents(place: Place) -> None:
    await place.write("a.txt", "words")
    await place.write("b.txt", "more words")
    await place.ingest()
    await place.remove("a.txt")
    await place.remove("b.txt")
    with pytest.raises(InvalidSetting, match="nothing to read"):
        await place.ingest(prune=False)
    assert await place.ingest() == report(removed=2)
    assert await place.records() == {}
    with pytest.raises(InvalidSetting, match="nothing to read"):
        await place.ingest()


async def test_relative_and_absolute_paths_are_one_document(place: Place) -> None:
    await place.write("a.txt", "words")
    await place.ingest("docs")
    assert (await place.ingest(str(place.folder / "docs")))["added"] == 1
    assert place.embeddings.texts == []
    [record] = (await place.records()).values()
    assert (record.id, record.path) == ("docs/a.txt", f"{place.folder}/docs/a.txt")
    await place.remove("a.txt")
    assert (await place.ingest("docs"))["removed"] == 1


# --- records


def lines(*records: object) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


async def test_records_come_and_go_with_their_lines(place: Place) -> None:
    one, two, three = ({"id": name, "text": f"text {name}", "n": name} for name in "abc")
    await place.write("r.jsonl", lines(one, two))
    assert await place.ingest() == report(added=2, chunks=2)
    await place.write("r.jsonl", lines(two, three))
    assert await place.ingest() == report(added=1, unchanged=1, removed=1, chunks=2)
    assert [text.split()[-1] for text in place.embeddings.texts] == ["c"]
    chunks = (await place.chunks()).values()
    assert {chunk.document_id: chunk.metadata for chunk in chunks} == {
        "b": {"n": "b"},
        "c": {"n": "c"},
    }


async def test_a_broken_line_removes_nothing_of_its_file(place: Place) -> None:
    await place.write("r.jsonl", lines({"id": "a", "text": "one"}, {"id": "b", "text": "two"}))
    await place.ingest()
    await place.write("r.jsonl", lines({"id": "a", "text": "one"}) + "{broken\n")
    done = await place.ingest()
    assert (done["unchanged"], done["removed"], len(done["failed"])) == (1, 0, 1)
    assert done["failed"][0]["path"] == "docs/r.jsonl:2"
    assert sorted(await place.records()) == ["a", "b"]


async def test_one_id_for_two_records_is_a_failure_that_names_both(place: Place) -> None:
    await place.write("a.jsonl", lines({"id": 1, "text": "first"}, {"id": 1, "text": "again"}))
    await place.write("b.jsonl", lines({"id": 1, "text": "other"}))
    done = await place.ingest()
    assert done["failed"] == [
        {"path": "docs/a.jsonl:2", "reason": "has the id '1', which docs/a.jsonl:1 has as well"},
        {"path": "docs/b.jsonl:1", "reason": "has the id '1', which docs/a.jsonl:1 has as well"},
    ]
    assert [chunk.text for chunk in (await place.chunks()).values()] == ["first"]


async def test_a_record_that_moves_to_another_file_is_not_lost(place: Place) -> None:
    record = {"id": "m", "text": "moving"}
    for first, second in (("a.jsonl", "b.jsonl"), ("b.jsonl", "a.jsonl")):
        await place.write(first, lines(record))
        await place.write(second, lines({"id": "x", "text": "stays"}))
        await place.ingest()
        await place.write(first, lines({"id": "y", "text": "instead"}))
        await place.write(second, lines({"id": "x", "text": "stays"}, record))
        await place.ingest()
        stored = {c.document_id: c.path for c in (await place.chunks()).values()}
        assert stored["m"] == (await place.records())["m"].path == f"docs/{second}"


async def test_passages_stay_whole_up_to_four_chunk_sizes(place: Place) -> None:
    await place.write(
        "r.jsonl", lines({"id": "p", "text": "word " * 300}, {"id": "q", "text": "word " * 3000})
    )
    await place.ingest(chunk_tokens=128)
    records = await place.records()
    assert records["p"].chunks == 1
    assert records["q"].chunks > 20


async def test_field_names_filter_fields_and_their_types(place: Place) -> None:
    await place.write(
        "r.jsonl", lines({"nr": 1, "body": "one", "year": "1999"}, {"nr": 2, "body": "two"})
    )
    done = await place.ingest(text_field="body", id_field="nr", filter_fields=["year:int"])
    assert done == report(added=2, chunks=2)
    spec = await (await place.index()).spec()
    assert spec is not None
    assert spec.fields == {"year": "int"}
    by_id = {chunk.document_id: chunk for chunk in (await place.chunks()).values()}
    assert by_id["1"].metadata["year"] == 1999
    await place.write("r.jsonl", lines({"nr": 3, "body": "three", "year": "last"}))
    done = await place.ingest(text_field="body", id_field="nr")  # the index knows its fields
    assert done["failed"] == [
        {"path": "docs/r.jsonl:1", "reason": "has 'year': 'last', which is no int"}
    ]


# --- documents in memory


async def test_documents_in_memory_are_ingested_and_never_pruned(place: Place) -> None:
    await place.write("a.txt", "a file")
    documents = [
        Document("from memory", id="m", metadata={"source": "docs/none.txt", "page": 3}),
        Document("another", metadata={"source": "https://e.org/x", "title": "X"}),
    ]
    given: Any = {"documents": iter(documents), "paths": ["docs"]}
    settings: Any = place.context
    done = await graph.ainvoke(given, context=settings)
    assert (done["added"], done["failed"]) == (3, [])
    await place.ingest()
    by_id = {chunk.document_id: chunk for chunk in (await place.chunks()).values()}
    assert sorted(by_id) == ["docs/a.txt", "https://e.org/x", "m"]
    assert by_id["m"].metadata == {"source": "docs/none.txt", "page": 3}
    assert (by_id["https://e.org/x"].url, by_id["https://e.org/x"].title) == (
        "https://e.org/x",
        "X",
    )


async def test_metadata_that_json_cannot_hold_fails_that_document_only(place: Place) -> None:
    documents = [Document("bad", id="bad", metadata={"s": {1, 2}}), Document("good", id="good")]
    settings: Any = place.context
    done = await graph.ainvoke({"documents": documents}, context=settings)
    assert done["added"] == 1
    [failure] = done["failed"]
    assert failure["path"] == "bad"
    assert "'s'" in failure["reason"] or "metadata" in failure["reason"]
    assert [chunk.text for chunk in (await place.chunks()).values()] == ["good"]


# --- parts, settings, errors


async def test_parts_are_disjoint_and_together_complete(place: Place) -> None:
    for number in range(40):
        await place.write(f"{number}.txt", f"words {number}")
    added = [(await place.ingest(part=f"{part}/3"))["added"] for part in (1, 2, 3)]
    assert sum(added) == 40
    assert min(added) > 3
    await place.remove("7.txt")
    removed = [(await place.ingest(part=f"{part}/3"))["removed"] for part in (1, 2, 3)]
    assert sorted(removed) == [0, 0, 1]


async def test_another_chunk_size_splits_anew(place: Place) -> None:
    await place.write("a.txt", tale(60))
    coarse = await place.ingest()
    fine = await place.ingest(chunk_tokens=64)
    assert (fine["added"], fine["unchanged"]) == (1, 0)
    assert fine["chunks"] > 2 * coarse["chunks"]
    assert len(await place.chunks()) == fine["chunks"]


async def test_other_embeddings_are_refused_before_anything_is_read(place: Place) -> None:
    await place.write("a.txt", "words")
    await place.ingest()
    with pytest.raises(IndexSchemaMismatch, match="counting"):
        await place.ingest(embeddings="offline")
    assert (await place.ingest(embeddings=None))["unchanged"] == 1


@pytest.mark.parametrize(
    ("given", "context", "message"),
    [
        ({"paths": ["nowhere"]}, {}, "No such file or folder: 'nowhere'"),
        ({"paths": []}, {}, "Nothing to ingest"),
        ({}, {}, "Nothing to ingest"),
        ({"paths": "docs"}, {}, "is a list"),
        ({"paths": ["docs"]}, {"filter_fields": ["a b:int"]}, "Filter field 'a b'"),
        ({"paths": ["docs"]}, {"filter_fields": ["year:float"]}, "unknown type 'float'"),
    ],
)
async def test_a_mistake_is_one_clear_line(
    place: Place, given: Any, context: dict[str, Any], message: str
) -> None:
    settings: Any = {**place.context, **context}
    await place.write("a.txt", "words")
    with pytest.raises(InvalidSetting, match=message) as caught:
        await graph.ainvoke(given, context=settings)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"part": "5/4"}, "part 5/4 does not exist"),
        ({"part": "0/4"}, "should match"),
        ({"chunk_overlap": 400}, "at most half"),
        ({"chunk_tokens": 1}, "greater than or equal to 32"),
    ],
)
def test_settings_that_do_not_fit_are_refused(setting: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidSetting, match=message):
        IngestContext(**setting)


# --- streaming and state


async def test_progress_counts_up_to_everything(place: Place) -> None:
    for number in range(10):
        await place.write(f"{number}.md", tale(30))
    await place.write("empty.txt", "")
    events = [
        event
        async for event in graph.astream(  # type: ignore[call-overload]
            {"paths": ["docs"]}, context={**place.context, "batch_chunks": 8}, stream_mode="custom"
        )
    ]
    assert {event["type"] for event in events} == {"ingesting"}
    assert len(events) > 5
    for field in ("bytes", "documents", "chunks", "failed"):
        counts = [event[field] for event in events]
        assert counts == sorted(counts)
    last = events[-1]
    assert last["bytes"] == last["total_bytes"]
    assert (last["documents"], last["failed"]) == (11, 1)


async def test_progress_counts_each_broken_line(place: Place) -> None:
    await place.write("r.jsonl", "{broken\n" * 70)
    stream = graph.astream({"paths": ["docs"]}, context=place.context, stream_mode="custom")  # type: ignore[call-overload]
    events = [event async for event in stream]
    assert (events[-1]["documents"], events[-1]["failed"]) == (70, 70)


async def test_no_text_is_kept_in_the_state(place: Place) -> None:
    from langgraph.checkpoint.memory import InMemorySaver

    await place.write("a.txt", tale(50))
    saver = InMemorySaver()
    config: Any = {"configurable": {"thread_id": "t"}}
    compiled = build().compile(checkpointer=saver)
    settings: Any = place.context
    await compiled.ainvoke({"paths": ["docs"]}, config, context=settings)
    kept = [entry async for entry in saver.alist(config)]
    assert len(kept) > 5
    assert "Paragraph" not in repr([entry.checkpoint for entry in kept])


def test_the_graph_is_drawn_with_the_names_of_its_nodes() -> None:
    nodes = [name for name in graph.get_graph().nodes if not name.startswith("__")]
    assert nodes == [
        "prepare_ingest",
        "find_files",
        "index_documents",
        "remove_missing",
        "optimize_index",
    ]
