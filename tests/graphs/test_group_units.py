"""Grouping an index's documents into units: what belongs together, caps, spans, grouping anew."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.embeddings import Embeddings

from ragweave.indexing.links import link_targets
from ragweave.models import register
from ragweave.models.tokens import token_counter
from ragweave.state.units import UnitsContext
from tests.graphs.unit_library import group, make_documents, units_of
from tests.stores.backends import IndexString

LONG = "\n\n".join(f"## Part {n}\n\n{'Words of part ' * 40}{n}." for n in range(6))
LINKED = {
    "docs/a.md": "Alpha is first. See [beta](b.md) and [gone](gone.md).",
    "docs/b.md": "Beta is second. Back to [alpha](a.md).",
    "docs/c.md": "Gamma stands alone.",
    "other/d.md": "Delta stands elsewhere.",
    "other/e.md": "Epsilon: [c](../docs/c.md), [d](d.md), [e](e.md).",
}


async def test_linked_documents_share_a_unit(index_string: IndexString) -> None:
    index = await make_documents(index_string("index"), LINKED)
    report = await group(index, unit_relations=["links"])
    assert await units_of(index) == [
        ["docs/a.md", "docs/b.md"],
        ["docs/c.md", "other/d.md", "other/e.md"],
    ]
    assert report == {
        "documents": 5,
        "units": 2,
        "largest": report["largest"],
        "moved": 5,
        "removed": 0,
    }


async def test_caps_hold(index_string: IndexString) -> None:
    index = await make_documents(index_string("index"), LINKED)
    await group(index, max_unit_documents=1)
    assert await units_of(index) == [[path] for path in LINKED]
    await group(index, max_unit_documents=None, unit_tokens=50, unit_relations=["folder"])
    count = await token_counter()
    units = [unit async for page in index.scan_parents() for unit in page]
    assert len(units) > 1
    assert all(count([unit.text])[0] <= 50 for unit in units)


async def test_text_is_in_document_order_with_the_span_of_every_part(
    index_string: IndexString,
) -> None:
    documents = {"b/2.md": LONG, "b/10.md": "Short. " * 30, "b/1.md": "First. " * 30}
    index = await make_documents(index_string("index"), documents, chunk_tokens=64, overlap=20)
    await group(index, unit_tokens=100_000)
    (unit,) = [unit async for page in index.scan_parents() for unit in page]
    assert [part["document_id"] for part in unit.parts] == ["b/1.md", "b/2.md", "b/10.md"]
    for part in unit.parts:
        text = unit.text[part["start"] : part["end"]]
        start = part["document_start"]
        assert documents[part["document_id"]][start : start + len(text)] == text
        assert text == documents[part["document_id"]].strip()


async def test_grouping_anew_embeds_nothing_and_leaves_no_old_unit(
    index_string: IndexString,
) -> None:
    class Refusing(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            raise AssertionError("embedded again")

        def embed_query(self, text: str) -> list[float]:
            raise AssertionError("embedded again")

    index = await make_documents(index_string("index"), LINKED)
    before = {c.id: c.vector async for page in index.scan() for c in page}
    register("offline-refusing", Refusing())
    await group(index, embeddings="offline-refusing")
    first = {c.id: c.parent_id async for page in index.scan() for c in page}
    again = await group(index)
    assert (again["moved"], again["removed"]) == (0, 0)
    other = await group(index, max_unit_documents=1)
    assert other["removed"] == len(set(first.values()))
    after = {c.id: c async for page in index.scan() for c in page}
    assert len({c.parent_id for c in after.values()}) == len(LINKED)
    assert {id: pytest.approx(c.vector) for id, c in after.items()} == before
    known = {unit.id async for page in index.scan_parents() for unit in page}
    assert {c.parent_id for c in after.values()} == known


async def test_a_long_document_is_kept_whole_or_split_at_its_headings(
    index_string: IndexString,
) -> None:
    index = await make_documents(
        index_string("index"), {"x/long.md": LONG, "x/short.md": "Short [l](long.md)."}
    )
    await group(index, unit_tokens=400)
    assert await units_of(index) == [["x/long.md"], ["x/short.md"]]
    await group(index, unit_tokens=400, long_documents="split")
    units = [unit async for page in index.scan_parents() for unit in page]
    pieces = [unit for unit in units if unit.parts[0]["document_id"] == "x/long.md"]
    assert len(pieces) > 1
    assert all(unit.text.startswith("## Part") for unit in pieces)
    count = await token_counter()
    assert max(count([unit.text for unit in units])) <= 400
    starts = {unit.id: unit.parts[0]["document_start"] for unit in pieces}
    async for page in index.scan():
        for chunk in page:
            if chunk.document_id == "x/long.md" and chunk.parent_id:
                unit = next(unit for unit in pieces if unit.id == chunk.parent_id)
                assert chunk.start is not None
                assert chunk.text in unit.text
                assert chunk.start >= starts[unit.id]


async def test_a_declared_field_relates_documents(index_string: IndexString) -> None:
    chapters = {path: {"chapter": path[0]} for path in LINKED}
    index = await make_documents(index_string("index"), LINKED, metadata=chapters)
    await group(index, unit_relations=[], relation_field="chapter")
    assert await units_of(index) == [
        ["docs/a.md", "docs/b.md", "docs/c.md"],
        ["other/d.md", "other/e.md"],
    ]


async def test_a_document_without_text_and_an_empty_index_are_fine(
    index_string: IndexString,
) -> None:
    index = await make_documents(index_string("one"), {"a.md": "Some text.", "empty.md": ""})
    assert (await group(index))["documents"] == 1
    nothing = await make_documents(index_string("none"), {})
    assert (await group(nothing))["units"] == 0


PROGRAM = """
import asyncio, json, sys
from pathlib import Path
from ragweave.models.tokens import token_counter
from tests.graphs.unit_library import group, make_documents

async def main():
    folder, peps, tokens = sys.argv[1:]
    files = sorted(Path(peps).glob("*.rst"))
    documents = {f"peps/{file.name}": file.read_text("utf-8") for file in files}
    index = await make_documents(f"lance:{folder}", documents, chunk_tokens=512)
    await group(index, unit_tokens=int(tokens))
    count = await token_counter()
    units = [unit async for page in index.scan_parents() for unit in page]
    print(json.dumps([
        [unit.id, count([unit.text])[0], [part["document_id"] for part in unit.parts]]
        for unit in units
    ]))

asyncio.run(main())
"""


def units_in_a_process(folder: Path, peps: Path, tokens: int, seed: str) -> list[Any]:
    root = str(Path(__file__).parents[2])
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder), str(peps), str(tokens)],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=True,
    )
    units: list[Any] = json.loads(ended.stdout)
    return units


@pytest.mark.parametrize("tokens", [4_000, pytest.param(30_000, marks=pytest.mark.slow)])
def test_the_units_of_the_peps_follow_their_references(
    tmp_path: Path, data: Path, tokens: int
) -> None:
    peps = data / "demo/peps"
    units = units_in_a_process(tmp_path / "1", peps, tokens, "1")
    assert units_in_a_process(tmp_path / "2", peps, tokens, "2") == units
    assert sorted(id for _, _, ids in units for id in ids) == sorted(
        f"peps/{file.name}" for file in peps.glob("*.rst")
    )
    links = {
        f"peps/{file.name}": set(link_targets(file.read_text("utf-8")))
        for file in peps.glob("*.rst")
    }
    for _, size, ids in units:
        assert size <= tokens or len(ids) == 1
        for id in ids:
            others = [other for other in ids if other != id]
            cited = any(_pep(other) in links[id] or _pep(id) in links[other] for other in others)
            assert cited or not others
    assert tokens == 4_000 or any(len(ids) > 1 for _, _, ids in units)


def _pep(id: str) -> str:
    return f"pep:{int(id[-8:-4])}"


def test_settings_are_bounded() -> None:
    with pytest.raises(ValueError, match="unit_tokens"):
        UnitsContext(unit_tokens=1)
