"""What every backend must do alike. Backends are listed in `backends.py`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, TypeVar

import pytest

from ragweave.state.errors import (
    IndexMissing,
    IndexSchemaMismatch,
    InvalidSetting,
    WriteFailed,
)
from ragweave.stores.base import (
    Chunk,
    DocumentRecord,
    Hit,
    Index,
    IndexSpec,
    Parent,
    SearchSpec,
)
from ragweave.stores.registry import aclose_all, open_index
from tests.stores.backends import IndexString

T = TypeVar("T")

SPEC = IndexSpec(
    dimension=3,
    embeddings="test",
    fields={
        "year": "int",
        "price": "number",
        "draft": "bool",
        "author": "text",
        "published": "date",
    },
)
X, Y, Z = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]


def chunk(
    id: str, text: str = "some text", vector: Sequence[float] | None = X, **more: Any
) -> Chunk:
    return Chunk(**{"id": id, "document_id": "d", "text": text, "vector": vector, **more})


def ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.chunk.id for hit in hits]


async def all_of(items: AsyncIterator[T]) -> list[T]:
    return [item async for item in items]


async def found_by(index: Index, **search: Any) -> set[str]:
    spec = SearchSpec(**{"vector": X, "mode": "vector", "k": 100, **search})
    return set(ids(await index.search(spec)))


@pytest.fixture
async def made(index: Index) -> Index:
    await index.ensure(SPEC)
    return index


# --- an index that is not there -----------------------------------------------------------------


async def test_a_missing_index_is_empty_to_readers(index: Index) -> None:
    assert await index.spec() is None
    assert await index.count() == 0
    for mode in ("vector", "keyword", "hybrid"):
        assert await index.search(SearchSpec(text="a", vector=X, mode=mode)) == []
    assert await index.search_many([SearchSpec(text="a", vector=X)] * 2) == [[], []]
    assert await index.get(["a"]) == []
    assert await index.parents(["a"]) == []
    assert await index.get_documents(["a"]) == []
    assert await all_of(index.scan()) == []
    assert await all_of(index.scan_parents()) == []
    assert await all_of(index.documents()) == []
    assert await all_of(index.chunks_of(["a"])) == []
    await index.delete(ids=["a"])
    await index.delete(filters={"document_id": "a"})
    await index.delete_documents(["a"])
    await index.delete_parents()
    await index.optimize()
    assert await index.spec() is None


async def test_a_missing_index_cannot_be_written_to(index: Index) -> None:
    for write in (
        index.upsert([chunk("a")]),
        index.upsert_parents([Parent("p", "text")]),
        index.upsert_documents([DocumentRecord("d", "hash")]),
    ):
        with pytest.raises(IndexMissing, match="ragweave ingest"):
            await write


# --- what it is made for ------------------------------------------------------------------------


async def test_an_index_remembers_what_it_was_made_for(
    index: Index, index_string: IndexString
) -> None:
    await index.ensure(SPEC)
    await index.ensure(SPEC)
    await aclose_all()
    assert await (await open_index(index_string("docs"))).spec() == SPEC


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (replace(SPEC, dimension=4), "vectors of 3 dimensions, not 4"),
        (replace(SPEC, embeddings="openai:m"), "vectors of 'test', not 'openai:m'"),
        (replace(SPEC, fields={"colour": "text"}), "does not declare the filter fields"),
        (replace(SPEC, fields={"year": "text"}), "does not declare the filter fields"),
    ],
)
async def test_an_index_made_for_something_else_says_so(
    made: Index, other: IndexSpec, message: str
) -> None:
    with pytest.raises(IndexSchemaMismatch) as caught:
        await made.ensure(other)
    assert message in str(caught.value)
    assert "ingest into another index" in str(caught.value)
    assert await made.spec() == SPEC


async def test_an_index_may_declare_more_fields_than_are_asked_for(made: Index) -> None:
    await made.ensure(replace(SPEC, fields={}))
    assert await made.spec() == SPEC


async def test_an_index_of_another_analysis_is_refused(
    made: Index, monkeypatch: pytest.MonkeyPatch, index_string: IndexString
) -> None:
    import sys

    await made.upsert([chunk("a")])
    await aclose_all()
    for name, module in list(sys.modules.items()):
        if name.startswith("ragweave.stores.") and hasattr(module, "ANALYSIS_VERSION"):
            monkeypatch.setattr(module, "ANALYSIS_VERSION", 2)
    index = await open_index(index_string("docs"))
    for call in (
        index.ensure(SPEC),
        index.search(SearchSpec(text="some", mode="keyword")),
        index.upsert([chunk("b")]),
    ):
        with pytest.raises(IndexSchemaMismatch, match="version 1 of the text analysis"):
            await call
    assert await all_of(index.scan()) != []


@pytest.mark.parametrize("fields", [{"a.b": "text"}, {"id": "text"}, {"year": "vector"}])
async def test_unfit_filter_fields_are_refused(index: Index, fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidSetting, match="Filter field"):
        await index.ensure(IndexSpec(dimension=3, embeddings="test", fields=fields))
    assert await index.spec() is None


# --- writing and reading ------------------------------------------------------------------------


async def test_a_chunk_comes_back_as_it_was_written(made: Index) -> None:
    written = Chunk(
        id="文/1 'quoted' \"\\ %",
        document_id="d\n1",
        text="Line one\r\nline two\t\u3000全角 🎈 \x00 [1] {x} $ref",
        vector=[0.25, -0.5, 1.0],
        title="A 'title'",
        url="https://example.org/?a=1&b=2",
        path="docs/a b.md",
        page=3,
        start=10,
        end=40,
        parent_id="p",
        content_hash="abc",
        metadata={"year": 2024},
    )
    assert (await made.upsert([written])).ok == 1
    assert await made.get([written.id], vectors=True) == [written]
    assert await made.get([written.id]) == [replace(written, vector=None)]


async def test_metadata_of_any_json_shape_comes_back(made: Index) -> None:
    metadata = {
        "id": 1,
        "header 1": "x",
        "a.b": {"$ref": 1},
        "vector": [1],
        "text": "OVERWRITE",
        "n": 2**53 + 1,
        "z": None,
        "deep": [[{"": []}], {}, True, 0.1, 1e300, "2024-01-01", "文"],
        "": "",
    }
    await made.upsert([chunk("a", metadata=metadata)])
    [found] = await made.get(["a"])
    assert found.metadata == metadata
    assert found.text == "some text"
    assert type(found.metadata["n"]) is int


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (date(2024, 1, 1), "metadata['key'] is of type date"),
        ({1}, "metadata['key'] is of type set"),
        ((1, 2), "metadata['key'] is of type tuple"),
        (b"x", "metadata['key'] is of type bytes"),
        ({"deep": [0, {"er": object()}]}, "metadata['key']['deep'][1]['er'] is of type object"),
        ({1: "x"}, "metadata['key'] has the key 1"),
        (float("nan"), "metadata['key'] is nan"),
        (float("inf"), "metadata['key'] is inf"),
        ("\ud800", "metadata['key'] holds a lone surrogate"),
        ({"\ud800": 1}, "metadata['key'] has the key '\\ud800'"),
        ([10**5000], "metadata['key'][0] is a number of more than"),
    ],
)
async def test_metadata_that_json_cannot_hold_is_refused_by_key(
    made: Index, value: Any, message: str
) -> None:
    with pytest.raises(WriteFailed) as caught:
        await made.upsert([chunk("a", metadata={"key": value}), chunk("b")])
    assert list(caught.value.failed) == ["a"]
    assert message in caught.value.failed["a"]
    assert message in str(caught.value)
    assert await made.count() == 1


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ({"vector": None}, "it has no vector"),
        ({"vector": []}, "it has no vector"),
        ({"vector": [1.0, 2.0]}, "its vector has 2 dimensions, the index has 3"),
        ({"vector": [1.0, float("nan"), 0.0]}, "NaN"),
        ({"vector": [1.0, float("inf"), 0.0]}, "infinite"),
        ({"vector": [1.0, 1e39, 0.0]}, "too large"),
        ({"vector": [0.0, 0.0, 0.0]}, "all zeros"),
        ({"vector": ["a", "b", "c"]}, "does not consist of numbers"),
        ({"text": "\udc00"}, "its text holds a lone surrogate"),
        ({"text": None}, "its text is of type NoneType"),
        ({"page": "3"}, "its page is of type str"),
        ({"metadata": {"year": "MMXXIV"}}, "its metadata field 'year' is 'MMXXIV', not a whole"),
        ({"metadata": {"year": 2**63}}, "not a whole number of 64 bits"),
        ({"metadata": {"published": "soon"}}, "not a date"),
        ({"metadata": {"author": ["Ann"]}}, "not a text"),
    ],
)
async def test_exactly_the_bad_one_of_three_is_refused(
    made: Index, fault: dict[str, Any], message: str
) -> None:
    with pytest.raises(WriteFailed) as caught:
        await made.upsert([chunk("a"), chunk("b", **fault), chunk("c")])
    assert list(caught.value.failed) == ["b"]
    assert message in caught.value.failed["b"]
    assert [found.id for found in await made.get(["a", "b", "c"])] == ["a", "c"]


async def test_an_empty_id_is_refused(made: Index) -> None:
    with pytest.raises(WriteFailed, match="its id is empty"):
        await made.upsert([chunk("")])


async def test_writing_twice_changes_nothing(made: Index) -> None:
    chunks = [chunk(f"c{number}") for number in range(10)]
    await made.upsert(chunks)
    await made.upsert(chunks)
    assert await made.count() == 10


async def test_writing_again_replaces_everything(made: Index) -> None:
    first = chunk("a", "old words", X, title="old", metadata={"year": 1, "gone": 1})
    await made.upsert([first])
    second = chunk("a", "new words", Y, metadata={"author": "Ann"})
    await made.upsert([second])
    assert await made.get(["a"], vectors=True) == [second]
    assert await made.search(SearchSpec(text="old", mode="keyword")) == []
    assert await found_by(made, filters={"year": 1}) == set()
    assert await found_by(made, filters={"author": "Ann"}) == {"a"}


async def test_of_the_same_id_twice_in_one_call_the_last_counts(made: Index) -> None:
    await made.upsert([chunk("a", "first"), chunk("b"), chunk("a", "second")])
    assert await made.count() == 2
    assert (await made.get(["a"]))[0].text == "second"


async def test_writing_nothing(made: Index) -> None:
    assert (await made.upsert([])).ok == 0
    assert (await made.upsert_parents([])).ok == 0
    assert (await made.upsert_documents([])).ok == 0


async def test_a_large_batch_is_split(made: Index) -> None:
    many = [chunk(f"c{number:05d}", f"text {number}") for number in range(2_500)]
    assert (await made.upsert(many)).ok == 2_500
    assert await made.count() == 2_500
    wanted = [f"c{number:05d}" for number in range(2_499, -1, -1)]
    assert [found.id for found in await made.get(wanted)] == wanted


async def test_writers_at_the_same_time_lose_and_double_nothing(
    made: Index, index_string: IndexString
) -> None:
    def batch(writer: int) -> list[Chunk]:
        own = [chunk(f"w{writer}-{number}") for number in range(20)]
        return [*own, *(chunk(f"shared-{number}") for number in range(5))]

    await asyncio.gather(*(made.upsert(batch(writer)) for writer in range(8)))
    assert await made.count() == 8 * 20 + 5


async def test_get_keeps_the_order_asked_for(made: Index) -> None:
    await made.upsert([chunk(id) for id in "abc"])
    assert [found.id for found in await made.get(["c", "x", "a", "c"])] == ["c", "a", "c"]
    assert await made.get([]) == []


async def test_scan_gives_everything_by_id(made: Index) -> None:
    many = [chunk(f"c{number:04d}", vector=[1.0, number, 0.0]) for number in range(1_200)]
    await made.upsert(many[::-1])
    pages = await all_of(made.scan())
    assert len(pages) > 1
    assert [item for page in pages for item in page] == many
    without = [item for page in await all_of(made.scan(vectors=False)) for item in page]
    assert without == [replace(item, vector=None) for item in many]


async def test_chunks_of_documents(made: Index) -> None:
    await made.upsert([chunk(f"c{number}", document_id=f"d{number % 3}") for number in range(9)])
    found = await all_of(made.chunks_of(["d0", "d2", "nowhere"]))
    assert {item.id for item in found} == {"c0", "c3", "c6", "c2", "c5", "c8"}
    assert found[0].vector == X


async def test_parents(made: Index) -> None:
    parents = [
        Parent(
            f"p{number}",
            f"text {number} 文",
            "title",
            [{"document_id": "d", "title": None, "span": [0, 6]}],
            {"a": {"b": [None]}},
        )
        for number in range(60)
    ]
    assert (await made.upsert_parents(parents)).ok == 60
    assert (await made.upsert_parents([replace(parents[5], text="changed")])).ok == 1
    assert await made.parents(["p7", "x", "p5"]) == [
        parents[7],
        replace(parents[5], text="changed"),
    ]
    scanned = [parent.id for page in await all_of(made.scan_parents()) for parent in page]
    assert scanned == sorted(parent.id for parent in parents)
    await made.delete_parents(["p7"])
    assert await made.parents(["p7", "p8"]) == [parents[8]]
    await made.delete_parents()
    assert await all_of(made.scan_parents()) == []


async def test_a_parent_that_json_cannot_hold_is_refused(made: Index) -> None:
    bad = Parent("bad", "text", parts=[{"when": date(2024, 1, 1)}])
    with pytest.raises(WriteFailed) as caught:
        await made.upsert_parents([bad, Parent("good", "text")])
    assert caught.value.failed == {
        "bad": "parts[0]['when'] is of type date, which JSON cannot hold"
    }
    assert [parent.id for parent in await made.parents(["bad", "good"])] == ["good"]


async def test_documents(made: Index) -> None:
    paths = ["notes/a.md", "notes/b/c.md", "notes.md", "notes-2/d.md", "notes/[x]%_'.md", None]
    records = [
        DocumentRecord(f"d{number}", "hash", path, "title", "url", number, {"n": number})
        for number, path in enumerate(paths)
    ]
    assert (await made.upsert_documents(records[::-1])).ok == 6
    assert await all_of(made.documents()) == records
    for path in ("notes", "notes/"):
        below = [record.path for record in await all_of(made.documents(path))]
        assert below == ["notes/a.md", "notes/b/c.md", "notes/[x]%_'.md"]
    assert await all_of(made.documents("notes/a.md")) == [records[0]]
    assert await all_of(made.documents("note")) == []
    assert await made.get_documents(["d3", "x", "d1"]) == [records[3], records[1]]
    await made.upsert_documents([replace(records[0], content_hash="new")])
    assert (await made.get_documents(["d0"]))[0].content_hash == "new"


# --- deleting -----------------------------------------------------------------------------------


async def test_delete_by_id_and_by_filter(made: Index) -> None:
    await made.upsert([chunk(f"c{number}", metadata={"year": number}) for number in range(6)])
    await made.delete(ids=["c0", "unknown"])
    await made.delete(filters={"year": {"$gte": 4}})
    assert {item.id for page in await all_of(made.scan()) for item in page} == {"c1", "c2", "c3"}
    assert await made.search(SearchSpec(text="some", mode="keyword", filters={"year": 5})) == []
    await made.delete(ids=[])
    assert await made.count() == 3
    await made.delete(filters={})
    assert await made.count() == 0


async def test_delete_asks_what_to_delete(made: Index) -> None:
    with pytest.raises(InvalidSetting, match="what to delete"):
        await made.delete()


async def test_deleting_documents_deletes_their_chunks(made: Index) -> None:
    await made.upsert([chunk(f"c{number}", document_id=f"d{number % 3}") for number in range(9)])
    await made.upsert_documents([DocumentRecord(f"d{number}", "hash") for number in range(3)])
    for _ in range(2):
        await made.delete_documents(["d0", "d2", "d9"])
        assert [record.id for record in await all_of(made.documents())] == ["d1"]
        assert {item.id for page in await all_of(made.scan()) for item in page} == {
            *("c1", "c4", "c7"),
        }


# --- searching ----------------------------------------------------------------------------------

TEXTS = {
    "dogs": "The dogs were running after a ball",
    "cats": "Cats sleep; a cat never runs",
    "law": "公司首次公开发行新股，应当符合下列条件",
    "tea": "喝茶的习惯",
}


@pytest.fixture
async def filled(made: Index) -> Index:
    vectors = [X, [0.8, 0.6, 0.0], Y, Z]
    chunks = [
        chunk(id, text, vector) for (id, text), vector in zip(TEXTS.items(), vectors, strict=True)
    ]
    await made.upsert(chunks)
    return made


async def test_vector_search_scores_by_cosine(filled: Index) -> None:
    hits = await filled.search(SearchSpec(vector=[2.0, 0.0, 0.0], mode="vector", k=3))
    assert ids(hits[:2]) == ["dogs", "cats"]
    assert [hit.score for hit in hits] == pytest.approx([1.0, 0.8, 0.0], abs=1e-6)
    assert [hit.rank for hit in hits] == [1, 2, 3]
    assert {hit.kind for hit in hits} == {"cosine"}
    assert hits[0].chunk == chunk("dogs", TEXTS["dogs"], vector=None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dog", ["dogs"]),
        ("RUN", ["dogs", "cats"]),
        ("公司首次公开发行新股", ["law"]),
        ("茶", []),
        ("喝茶", ["tea"]),
        ("the", []),
        ("", []),
        ("?!\"'()[]{}*:^~\\/+-&|", []),
        ('dog AND cat OR "sleep"', ["cats", "dogs"]),
    ],
)
async def test_keyword_search(filled: Index, text: str, expected: list[str]) -> None:
    hits = await filled.search(SearchSpec(text=text, mode="keyword"))
    assert set(ids(hits)) == set(expected)
    assert ids(hits)[:1] == expected[:1]
    assert all(hit.kind == "bm25" and hit.score > 0 for hit in hits)


async def test_the_title_is_searched_with_the_text(made: Index) -> None:
    await made.upsert([chunk("a", "about nothing", title="Zebras")])
    assert ids(await made.search(SearchSpec(text="zebra", mode="keyword"))) == ["a"]


async def test_hybrid_search_by_relative_score(filled: Index) -> None:
    spec = SearchSpec(text="cat sleeping", vector=X, k=4, alpha=0.25)
    hits = await filled.search(spec)
    assert ids(hits[:2]) == ["cats", "dogs"]
    assert [hit.score for hit in hits[:2]] == pytest.approx([0.75 + 0.25 * 0.8, 0.25])
    assert {hit.kind for hit in hits} == {"relative"}
    assert ids(await filled.search(replace(spec, alpha=1)))[0] == "dogs"
    assert ids(await filled.search(replace(spec, alpha=0))) == ["cats"]


async def test_hybrid_search_by_reciprocal_rank(filled: Index) -> None:
    spec = SearchSpec(text="ball", vector=[0.6, 0.8, 0.0], k=4, fusion="rrf", alpha=0.5)
    hits = await filled.search(spec)
    assert ids(hits)[0] == "dogs"
    assert {hit.kind for hit in hits} == {"rrf"}
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


async def test_a_hybrid_search_without_words_goes_by_the_vector(filled: Index) -> None:
    assert ids(await filled.search(SearchSpec(text="what is the", vector=Y)))[0] == "law"


async def test_k(filled: Index) -> None:
    for mode in ("vector", "keyword", "hybrid"):
        spec = SearchSpec(text="run", vector=X, mode=mode)
        assert len(await filled.search(replace(spec, k=1))) == 1
        assert await filled.search(replace(spec, k=0)) == []


async def test_search_many_keeps_the_order(filled: Index) -> None:
    specs = [SearchSpec(text=text, mode="keyword") for text in ("喝茶", "nothing", "dog")]
    assert [ids(hits) for hits in await filled.search_many(specs)] == [["tea"], [], ["dogs"]]
    assert await filled.search_many([]) == []


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        (None, "no vector"),
        ([1.0], "1 dimensions, the index has 3"),
        ([0.0, 0.0, 0.0], "all zeros"),
        ([float("nan"), 0.0, 0.0], "NaN"),
    ],
)
async def test_a_query_vector_that_does_not_fit(
    filled: Index, vector: list[float] | None, message: str
) -> None:
    for mode in ("vector", "hybrid"):
        with pytest.raises(IndexSchemaMismatch, match=message):
            await filled.search(SearchSpec(text="a", vector=vector, mode=mode))


async def test_a_search_by_words_needs_a_text(filled: Index) -> None:
    for mode in ("keyword", "hybrid"):
        with pytest.raises(InvalidSetting, match="needs a text"):
            await filled.search(SearchSpec(vector=X, mode=mode))


async def test_a_question_of_32000_characters(filled: Index) -> None:
    words = " ".join(f"word{number}" for number in range(4_000))[:31_990]
    for text in (f"dog {words}", "公司首次公开发行新股" * 3_200):
        assert ids(await filled.search(SearchSpec(text=text, vector=X, k=1)))


async def test_200_searches_at_once(filled: Index) -> None:
    spec = SearchSpec(text="dog", vector=X, k=2)
    results = await asyncio.gather(*(filled.search(spec) for _ in range(200)))
    assert {tuple(ids(hits)) for hits in results} == {("dogs", "cats")}


# --- filters ------------------------------------------------------------------------------------


@pytest.fixture
async def catalogue(made: Index) -> Index:
    rows: list[dict[str, Any]] = [
        {"year": 2019, "price": 1.5, "draft": True, "author": "Ann", "published": "2019-05-01"},
        {
            "year": 2024,
            "price": 2.0,
            "draft": False,
            "author": "王 五's",
            "published": "2024-01-01T00:30:00+08:00",
        },
        {"year": 2**53 + 1, "price": -0.5, "draft": False, "author": "ann"},
        {},
    ]
    await made.upsert(
        [
            chunk(f"c{number}", metadata=row, path=f"p/{number}", parent_id=f"u{number % 2}")
            for number, row in enumerate(rows)
        ]
    )
    return made


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, "0123"),
        ({"year": 2024}, "1"),
        ({"year": 2**53 + 1}, "2"),
        ({"year": 2**53}, ""),
        ({"year": [2019, 2024, 7]}, "01"),
        ({"year": {"$in": []}}, ""),
        ({"year": {"$nin": []}}, "0123"),
        ({"year": {"$nin": [2019]}}, "123"),
        ({"year": {"$ne": 2019}}, "123"),
        ({"year": {"$gte": 2019, "$lt": 2024}}, "0"),
        ({"year": {"$gt": 2019, "$lte": 2024}}, "1"),
        ({"year": {"$gt": -(2**63)}}, "012"),
        ({"price": {"$lt": 1.75}}, "02"),
        ({"price": 2}, "1"),
        ({"draft": False}, "12"),
        ({"draft": {"$ne": True}}, "123"),
        ({"author": "Ann"}, "0"),
        ({"author": "王 五's"}, "1"),
        ({"author": "王"}, ""),
        ({"author": "' OR 1=1 --"}, ""),
        ({"author": {"$nin": ["Ann", "ann"]}}, "13"),
        ({"published": "2019-05-01T00:00:00Z"}, "0"),
        ({"published": {"$lt": "2024-01-01"}}, "01"),
        ({"published": {"$gte": date(2023, 12, 31)}}, "1"),
        ({"published": {"$gt": "2023-12-31T16:30:00Z"}}, ""),
        ({"id": ["c0", "c3"]}, "03"),
        ({"document_id": "d"}, "0123"),
        ({"document_id": {"$ne": "d"}}, ""),
        ({"parent_id": "u1"}, "13"),
        ({"path": "p/2"}, "2"),
        ({"path": "p"}, ""),
        ({"year": {"$gte": 2019}, "draft": False, "parent_id": "u1"}, "1"),
    ],
)
async def test_filters(catalogue: Index, filters: dict[str, Any], expected: str) -> None:
    wanted = {f"c{number}" for number in expected}
    for search in ({}, {"mode": "keyword", "text": "some"}, {"mode": "hybrid", "text": "some"}):
        assert await found_by(catalogue, filters=filters, **search) == wanted


async def test_a_filter_that_does_not_fit_is_refused(catalogue: Index) -> None:
    for filters in ({"colour": "red"}, {"year": "x"}, {"year": {"$like": 1}}, {"text": "some"}):
        with pytest.raises(IndexSchemaMismatch):
            await found_by(catalogue, filters=filters)
        with pytest.raises(IndexSchemaMismatch):
            await catalogue.delete(filters=filters)
    assert await catalogue.count() == 4


# --- grouping by parent -------------------------------------------------------------------------


async def test_a_vector_may_be_of_whole_numbers(made: Index) -> None:
    """Even of some that single precision rounds."""
    await made.upsert([chunk("a", "apple", [2**25 + 1, 1, 0])])
    (stored,) = await made.get(["a"], vectors=True)
    assert stored.vector == pytest.approx([2**25, 1, 0])


@pytest.mark.parametrize("mode", ["vector", "keyword", "hybrid"])
async def test_k_parents_where_one_has_501_of_the_best_chunks(made: Index, mode: Any) -> None:
    big = [
        chunk(f"big{number}", "apple apple", [1.0, number / 1_000, 0.0], parent_id="big")
        for number in range(501)
    ]
    small = [
        chunk(
            f"s{unit}-{part}", "apple pear plum fig", [0.5, 0.5 + unit, part], parent_id=f"s{unit}"
        )
        for unit in range(6)
        for part in range(2)
    ]
    alone = [chunk("alone", "apple pear plum fig quince lime", [-1.0, 0.1, 0.0])]
    await made.upsert([*big, *small, *alone])
    spec = SearchSpec(text="apple", vector=X, mode=mode, k=4, group_by_parent=True)
    hits = await made.search(spec)
    assert len(hits) == 4
    parents = [hit.chunk.parent_id or hit.chunk.id for hit in hits]
    assert parents[0] == "big"
    assert len(set(parents)) == 4
    assert [hit.rank for hit in hits] == [1, 2, 3, 4]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    if mode == "vector":
        assert ids(hits) == ["big0", "s0-0", "s1-0", "s2-0"]
    every = await made.search(replace(spec, k=50))
    assert len(every) == 8
    assert {hit.chunk.parent_id or hit.chunk.id for hit in every} == {
        *("big", "alone"),
        *(f"s{unit}" for unit in range(6)),
    }


async def test_grouping_agrees_with_the_flat_search(made: Index) -> None:
    words = ["apple", "pear", "plum", "fig", "lime"]
    chunks = [
        chunk(
            f"c{number:02d}",
            " ".join(words[: 1 + number % 5]),
            [1.0, (number * 7 % 13) / 10, (number * 5 % 11) / 10],
            parent_id=f"u{number % 9}",
        )
        for number in range(60)
    ]
    await made.upsert(chunks)
    spec = SearchSpec(text="pear fig", vector=[1.0, 0.3, 0.1], k=60)
    best: dict[str | None, float] = {}
    for hit in await made.search(spec):
        best.setdefault(hit.chunk.parent_id, hit.score)
    grouped = await made.search(replace(spec, k=5, group_by_parent=True))
    assert [hit.chunk.parent_id for hit in grouped] == list(best)[:5]
    assert [hit.score for hit in grouped] == pytest.approx(list(best.values())[:5])


async def test_grouping_keeps_the_filters(catalogue: Index) -> None:
    spec = SearchSpec(vector=X, mode="vector", group_by_parent=True, filters={"year": 2024})
    assert ids(await catalogue.search(spec)) == ["c1"]


# --- tenants, handles, event loops --------------------------------------------------------------


async def test_tenants_do_not_see_each_other(index_string: IndexString) -> None:
    tenants = ["acme", "ACME", "other"]
    for tenant in tenants:
        index = await open_index(index_string("shared"), tenant=tenant)
        await index.ensure(SPEC)
        await index.upsert([chunk("same", f"secret of {tenant}"), chunk(tenant)])
        await index.upsert_parents([Parent("p", tenant)])
        await index.upsert_documents([DocumentRecord("d", tenant)])
    for tenant in tenants:
        index = await open_index(index_string("shared"), tenant=tenant)
        assert await index.count() == 2
        assert (await index.get(["same"]))[0].text == f"secret of {tenant}"
        assert await found_by(index) == {"same", tenant}
        assert await found_by(index, mode="keyword", text="secret") == {"same"}
        assert (await index.parents(["p"]))[0].text == tenant
        assert [record.content_hash for record in await all_of(index.documents())] == [tenant]
    await (await open_index(index_string("shared"), tenant="acme")).delete(filters={})
    assert await (await open_index(index_string("shared"), tenant="ACME")).count() == 2
    assert await (await open_index(index_string("shared"), tenant="new")).count() == 0
    await aclose_all()


async def test_an_index_with_tenants_answers_nobody_without_one(index_string: IndexString) -> None:
    tenant = await open_index(index_string("shared"), tenant="acme")
    await tenant.ensure(SPEC)
    await tenant.upsert([chunk("a")])
    index = await open_index(index_string("shared"))
    for call in (
        index.search(SearchSpec(text="some", mode="keyword")),
        index.get(["a"]),
        index.count(),
        index.ensure(SPEC),
        index.delete(filters={}),
        index.delete_documents(["d"]),
        all_of(index.scan()),
    ):
        with pytest.raises(IndexSchemaMismatch, match=r"(?i)tenant"):
            await call
    assert await tenant.count() == 1
    await aclose_all()


async def test_an_index_without_tenants_knows_none(made: Index, index_string: IndexString) -> None:
    await made.upsert([chunk("a")])
    tenant = await open_index(index_string("docs"), tenant="acme")
    for call in (tenant.count(), tenant.search(SearchSpec(text="a", mode="keyword"))):
        with pytest.raises(IndexSchemaMismatch, match=r"(?i)tenant"):
            await call


async def test_indexes_of_one_store_are_apart(made: Index, index_string: IndexString) -> None:
    await made.upsert([chunk("a")])
    other = await open_index(index_string("other"))
    assert await other.count() == 0
    await other.ensure(replace(SPEC, dimension=2))
    await other.upsert([chunk("b", vector=[1.0, 2.0])])
    assert (await made.count(), await other.count()) == (1, 1)


def test_three_event_loops_in_a_row(index_string: IndexString) -> None:
    async def write_and_read(number: int) -> list[str]:
        index = await open_index(index_string("docs"))
        await index.ensure(SPEC)
        await index.upsert([chunk(f"c{number}")])
        hits, _ = await index.search_many([SearchSpec(text="some", vector=X, k=9)] * 2)
        await aclose_all()
        return sorted(ids(hits))

    found = [asyncio.run(write_and_read(number)) for number in range(3)]
    assert found == [["c0"], ["c0", "c1"], ["c0", "c1", "c2"]]


async def test_an_index_opened_before_it_was_made_sees_what_is_written(
    index: Index, index_string: IndexString
) -> None:
    assert await found_by(index) == set()

    def write() -> None:
        async def run() -> None:
            other = await open_index(index_string("docs"))
            await other.ensure(SPEC)
            await other.upsert([chunk("a")])
            await aclose_all()

        asyncio.run(run())

    await asyncio.to_thread(write)
    assert await found_by(index) == {"a"}
    assert await found_by(index, mode="keyword", text="some") == {"a"}
    assert await index.count() == 1


async def test_closing_twice_and_going_on(made: Index) -> None:
    await made.upsert([chunk("a")])
    await made.aclose()
    await made.aclose()
    assert await made.count() == 1


async def test_optimize_changes_no_result(filled: Index) -> None:
    spec = SearchSpec(text="running cat 喝茶", vector=[0.3, 0.4, 0.5], k=4)
    before = await filled.search(spec)
    await filled.optimize()
    after = await filled.search(spec)
    assert ids(after) == ids(before)
    assert [hit.score for hit in after] == pytest.approx([hit.score for hit in before], rel=1e-3)
    await filled.upsert([chunk("new", "cat cat running 喝茶", [0.3, 0.4, 0.5])])
    assert ids(await filled.search(spec))[0] == "new"
    await filled.delete(ids=["new"])
    assert ids(await filled.search(spec)) == ids(before)


async def test_ping_names_the_store(index: Index) -> None:
    assert any(character.isdigit() for character in await index.ping())
