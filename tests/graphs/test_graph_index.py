"""Building a knowledge graph: offline and with a model, again, with changes, and cut off."""

from __future__ import annotations

import asyncio
import re
from asyncio import to_thread
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragweave.graphs.graph_index import graph
from ragweave.models.offline.sections import all_of
from ragweave.models.prompt import parse
from ragweave.state.errors import IndexSchemaMismatch, InvalidSetting
from ragweave.state.graph_index import GraphIndexContext
from ragweave.stores.graph import EMBEDDED, GraphTables
from ragweave.stores.open_graph import open_graph
from tests.graphs.conftest import FAST_AND_SLOW_BACKENDS
from tests.servers import OpenAIStub, schema_of
from tests.stores.backends import BACKENDS, IndexString

TEXTS = {
    "ships.md": "The Aurora sails to Port Vale. Captain Brandt commands the Aurora.",
    "towns.md": "Port Vale trades with Karlsburg. Mayor Linde rules Port Vale.",
    "crew.md": "Captain Brandt met Mayor Linde in Karlsburg. The Aurora was repaired there.",
}
NAMES = re.compile(r"(?:Port|Captain|Mayor) [A-Z][a-z]+|Aurora|Karlsburg|Norden")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(params=["graphrag", *FAST_AND_SLOW_BACKENDS])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[IndexString]:
    if request.param == "graphrag":
        yield lambda name: f"graphrag:{tmp_path / name}"
    else:
        with BACKENDS[request.param](tmp_path) as string:
            yield string


@pytest.fixture
async def index(index_string: IndexString) -> str:
    return index_string("graph")


@pytest.fixture
def extractor(openai_stub: OpenAIStub) -> OpenAIStub:
    """A model that extracts the names of a text, and relates those of one sentence."""

    def script(request: dict[str, Any]) -> Any:
        kind = schema_of(request)
        text = all_of(parse(request["messages"][1]["content"]), "document")[0].text
        if kind == "Extraction":
            return extraction(text)
        if kind == "CommunityReport":
            title = NAMES.findall(text)[0]
            return {"title": title, "summary": text[:80], "rating": 5, "findings": []}
        return {"description": f"Summary of {len(text)} characters."}

    openai_stub.script = script
    return openai_stub


def extraction(text: str) -> dict[str, Any]:
    pairs = [NAMES.findall(sentence)[:2] for sentence in text.split(".")]
    return {
        "entities": [
            {"title": name, "type": "thing", "description": f"{name} is named."}
            for name in dict.fromkeys(NAMES.findall(text))
        ],
        "relationships": [
            {"source": pair[0], "target": pair[1], "description": "together", "strength": 2}
            for pair in pairs
            if len(pair) == 2
        ],
        "claims": [],
    }


async def build(index: str, *paths: Path, delete: list[str] | None = None, **settings: Any) -> Any:
    context = GraphIndexContext(index=index, **settings)
    given: Any = {"paths": [str(path) for path in paths], "delete": delete or []}
    return await graph.ainvoke(given, context=context, config={"recursion_limit": 200})


def asked(stub: OpenAIStub) -> Counter[str | None]:
    return Counter(schema_of(request) for request in stub.chats)


async def tables_of(index: str) -> GraphTables:
    """The graph, checked: no id in it leads nowhere, and every record with a vector has one."""
    opened = await open_graph(index)
    tables = await opened.tables()
    edges, units = tables.relationship_by_id, tables.unit_by_id
    for unit in tables.text_units:
        assert unit.document_id in tables.document_by_id
        assert set(unit.entity_ids) <= tables.entity_by_id.keys()
        assert set(unit.relationship_ids) <= edges.keys()
    for edge in tables.relationships:
        assert {edge.source, edge.target} <= tables.entity_by_title.keys()
        assert set(edge.text_unit_ids) <= units.keys()
    for entity in tables.entities:
        assert entity.text_unit_ids
        assert set(entity.text_unit_ids) <= units.keys()
    numbers = {community.community for community in tables.communities}
    for community in tables.communities:
        assert set(community.entity_ids) <= tables.entity_by_id.keys()
        assert set(community.relationship_ids) <= edges.keys()
        assert {*community.children, community.parent} <= numbers | {-1}
    assert {report.community for report in tables.reports} == numbers
    for table in EMBEDDED:
        assert set(await opened.vectors(table)) == {r.id for r in getattr(tables, table)}
    return tables


def content(tables: GraphTables) -> Any:
    """What a graph says, whatever the numbers of its records."""
    return (
        {(e.title, e.type, e.description, e.degree, e.frequency) for e in tables.entities},
        {(r.source, r.target, r.description, r.weight) for r in tables.relationships},
        {(c.level, c.entity_ids) for c in tables.communities},
        {report.full_content for report in tables.reports},
    )


async def test_a_graph_is_built_without_a_model(corpus: Path, index: str) -> None:
    done = await build(index, corpus)

    tables = await tables_of(index)
    assert {"Aurora", "Port Vale", "Karlsburg"} <= tables.entity_by_title.keys()
    assert done["entities"] == len(tables.entities)
    assert done["usage"]["calls"] == 0
    assert tables.reports
    assert (await open_graph(index)) is not None


async def test_a_model_is_asked_once_for_each_unit_and_community(
    corpus: Path, index: str, extractor: OpenAIStub
) -> None:
    done = await build(index, corpus, model="openai:stub")

    tables = await tables_of(index)
    assert {entity.title for entity in tables.entities} == {
        "Aurora",
        "Port Vale",
        "Captain Brandt",
        "Karlsburg",
        "Mayor Linde",
    }
    assert asked(extractor) == {"Extraction": 3, "CommunityReport": len(tables.communities)}
    assert done["usage"]["calls"] == len(extractor.chats)
    assert done["usage"]["stages"]["extract"]["calls"] == 3


async def test_nothing_is_asked_or_embedded_twice(
    corpus: Path, index: str, extractor: OpenAIStub
) -> None:
    await build(index, corpus, model="openai:stub")
    before, calls = await tables_of(index), len(extractor.chats)

    done = await build(index, corpus, model="openai:stub")

    assert len(extractor.chats) == calls
    assert (done["added"], done["unchanged"], done["embedded"]) == (0, 3, 0)
    assert content(await tables_of(index)) == content(before)


async def test_a_document_comes_changes_and_goes_and_nothing_of_it_stays(
    corpus: Path, index: str, extractor: OpenAIStub
) -> None:
    await build(index, corpus, model="openai:stub")
    first = content(await tables_of(index))
    extra = corpus / "north.md"

    await to_thread(extra.write_text, "Norden lies beyond Karlsburg. Norden is cold.")
    added = await build(index, corpus, model="openai:stub")
    assert "Norden" in (await tables_of(index)).entity_by_title
    assert (added["added"], added["embedded"]) == (1, added["embedded"])
    assert asked(extractor)["Extraction"] == 4

    await to_thread(extra.write_text, "Captain Brandt sails to Norden. Norden is warm.")
    changed = await build(index, corpus, model="openai:stub")
    tables = await tables_of(index)
    assert changed["added"] == 1
    assert asked(extractor)["Extraction"] == 5
    assert len(tables.documents) == 4

    await to_thread(extra.unlink)
    gone = await build(index, corpus, model="openai:stub")
    assert gone["removed"] == 1
    assert asked(extractor)["Extraction"] == 5
    assert content(await tables_of(index)) == first


async def test_a_document_can_be_deleted_by_its_path(corpus: Path, index: str) -> None:
    await build(index, corpus)
    path = next(
        document.metadata["path"]
        for document in (await tables_of(index)).documents
        if document.metadata["path"].endswith("towns.md")
    )

    done = await build(index, delete=[path])

    assert done["removed"] == 1
    assert len((await tables_of(index)).documents) == 2


@pytest.fixture
def here(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, beside the corpus, with a document of its own."""
    here = corpus.parent / "here"
    here.mkdir()
    (here / "port.md").write_text("The port of Norden.", encoding="utf-8")
    monkeypatch.chdir(here)
    return here


@pytest.mark.usefixtures("here")
async def test_documents_beside_the_given_folder_stay(index: str) -> None:
    """Also those whose path begins at the folder that is given, as `.`."""
    await build(index, Path("../corpus"))

    report = await build(index, Path("."))

    assert (report["added"], report["removed"]) == (1, 0)
    assert len((await tables_of(index)).documents) == 4


async def test_what_is_gone_is_found_by_either_form_of_its_path(here: Path, index: str) -> None:
    await to_thread((here / "other.md").write_text, "Norden is far.", encoding="utf-8")
    await build(index, Path("."))
    await to_thread((here / "port.md").unlink)

    report = await build(index, here)

    assert report["removed"] == 1
    assert [document.title for document in (await tables_of(index)).documents] == ["other"]


async def test_a_broken_line_removes_nothing_and_every_one_is_counted(
    tmp_path: Path, index: str
) -> None:
    file = tmp_path / "records.jsonl"
    good = '{"id": "a", "text": "The Aurora sails."}\n'
    await to_thread(file.write_text, good + '{"id": "b", "text": "Karlsburg trades."}\n')
    await build(index, file)
    await to_thread(file.write_text, good + "{broken\n" * 30)
    done = await build(index, file)
    assert (done["unchanged"], done["removed"], done["failed_count"]) == (1, 0, 30)
    assert [document.id for document in (await tables_of(index)).documents] == ["a", "b"]


async def test_gleaning_asks_again_and_is_bounded(
    corpus: Path, index: str, extractor: OpenAIStub
) -> None:
    await build(index, corpus, model="openai:stub", gleanings=1)

    assert asked(extractor)["Extraction"] == 6


async def test_only_long_descriptions_are_summarised(
    corpus: Path, index: str, extractor: OpenAIStub
) -> None:
    normal = extractor.script

    def wordy(request: dict[str, Any]) -> Any:
        said: Any = normal(request)
        if schema_of(request) == "Extraction":
            mark = len(extractor.chats)
            for entity in said["entities"]:
                if entity["title"] == "Aurora":
                    entity["description"] = f"A ship {mark}. " + "It is told at length. " * 20
        return said

    extractor.script = wordy
    await build(index, corpus, model="openai:stub", max_description_tokens=100)

    assert asked(extractor)["MergedDescription"] == 1
    aurora = (await tables_of(index)).entity_by_title["Aurora"]
    assert aurora.description.startswith("Summary of")


async def test_a_dry_run_asks_nothing_and_says_what_it_would(
    corpus: Path, index: str, extractor: OpenAIStub
) -> None:
    done = await build(index, corpus, model="openai:stub", dry_run=True, gleanings=1)

    assert extractor.chats == []
    stages = done["expected_stages"]
    assert stages["extract"] == 6
    assert stages["report"] == 1
    assert done["expected_calls"] == sum(stages.values())
    assert done["expected_tokens"] > 300
    assert done["expected_answer_tokens"] > 0
    assert await (await open_graph(index)).spec() is None


async def test_a_unit_that_fails_is_said_and_asked_again_by_the_next_run(
    corpus: Path, index: str, extractor: OpenAIStub
) -> None:
    normal = extractor.script
    extractor.script = lambda request: (
        "null" if "Mayor Linde rules" in str(request) else normal(request)
    )
    broken = await build(index, corpus, model="openai:stub")
    assert any("was not extracted" in warning for warning in broken["warnings"])
    await tables_of(index)

    extractor.script = normal
    before = asked(extractor)["Extraction"]
    mended = await build(index, corpus, model="openai:stub")

    assert mended["warnings"] == []
    assert asked(extractor)["Extraction"] == before + 1


@pytest.mark.parametrize("calls", [1, 3, 5])
async def test_a_build_cut_off_goes_on_where_it_was(
    corpus: Path, index: str, extractor: OpenAIStub, calls: int
) -> None:
    await build(index, corpus, model="openai:stub", max_concurrency=1)
    whole, expected = content(await tables_of(index)), asked(extractor)
    extractor.calls.clear()
    other = f"{index}_again"

    running = asyncio.create_task(build(other, corpus, model="openai:stub", max_concurrency=1))
    while len(extractor.chats) < calls and not running.done():  # noqa: ASYNC110
        await asyncio.sleep(0.002)
    running.cancel()
    await asyncio.wait([running])
    await build(other, corpus, model="openai:stub", max_concurrency=1)

    assert content(await tables_of(other)) == whole
    repeated = asked(extractor) - expected
    assert repeated.total() <= 2  # a call in flight, and an answer being stored


async def test_prompts_name_the_language_of_the_corpus(
    corpus: Path, index: str, extractor: OpenAIStub
) -> None:
    await to_thread((corpus / "zh.md").write_text, "公司发行股票。 Aurora met Karlsburg.")

    await build(index, corpus, model="openai:stub")

    languages = Counter(
        section.text
        for request in extractor.chats
        if schema_of(request) == "Extraction"
        for section in all_of(parse(request["messages"][1]["content"]), "language")
    )
    assert languages == {"the language of the document": 3, "Chinese": 1}


async def test_mistakes_are_refused(corpus: Path, index: str) -> None:
    with pytest.raises(InvalidSetting, match="Nothing to index"):
        await build(index)
    await build(index, corpus)
    with pytest.raises(IndexSchemaMismatch):
        await build(index, corpus, embeddings="openai:text-embedding-3-small")
