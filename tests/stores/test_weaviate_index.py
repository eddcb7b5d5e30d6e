"""What is particular to an index in Weaviate; the contract itself has a suite of its own."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence
from typing import Any

import httpx
import pytest

from ragweave.state.errors import IndexMissing, IndexSchemaMismatch, WriteFailed
from ragweave.stores.base import Chunk, DocumentRecord, IndexSpec, Parent, SearchSpec
from ragweave.stores.weaviate import layout as weaviate_layout
from ragweave.stores.weaviate.index import WeaviateIndex
from ragweave.stores.weaviate.schema import field_property
from tests.weaviate_double import WeaviateDouble
from tests.weaviate_fixtures import NewIndex

SPEC = IndexSpec(dimension=2, embeddings="test", fields={"year": "int", "Year": "text"})


def chunk(id: str, **values: Any) -> Chunk:
    given = {"document_id": "d", "text": f"text of {id}", "vector": [1.0, 2.0], **values}
    return Chunk(id=id, **given)


async def opened(string: str, chunks: Sequence[Chunk] = (), **options: Any) -> WeaviateIndex:
    index = WeaviateIndex.from_url(string, **options)
    await index.ensure(SPEC)
    if chunks:
        await index.upsert(chunks)
    return index


def ids(hits: Sequence[Any]) -> list[str]:
    return [hit.chunk.id for hit in hits]


def schema(double: WeaviateDouble, name: str = "Docs") -> dict[str, Any]:
    return next(
        call.request for call in double.calls_of("POST /schema") if call.request["class"] == name
    )


async def test_the_schema_is_fixed(weaviate_double: WeaviateDouble) -> None:
    index = await opened(weaviate_double.url)
    made = schema(weaviate_double)
    properties = {item["name"]: item for item in made["properties"]}
    assert properties["terms"]["tokenization"] == "whitespace"
    assert properties["terms"]["indexSearchable"] is True
    searched = [name for name, item in properties.items() if item.get("indexSearchable")]
    assert searched == ["terms"]
    for name in ("chunk_id", "document_id", "parent_id", "path", field_property("Year")):
        assert (properties[name]["tokenization"], properties[name]["indexFilterable"]) == (
            "field",
            True,
        )
    assert properties[field_property("year")]["dataType"] == ["int"]
    assert made["invertedIndexConfig"]["stopwords"]["preset"] == "none"
    assert list(made["vectorConfig"]) == ["chunk"]
    await index.aclose()


async def test_replicas_shards_and_the_vectors_name_come_from_the_string(
    weaviate_double: WeaviateDouble,
) -> None:
    options = "&replication=3&shards=6&vector=page&consistency=ALL"
    index = await opened(weaviate_double.url + options, [chunk("a")])
    for name in ("Docs", "Docs_parents", "Docs_documents"):
        assert schema(weaviate_double, name)["replicationConfig"]["factor"] == 3
        assert schema(weaviate_double, name)["shardingConfig"]["desiredCount"] == 6
    assert list(schema(weaviate_double)["vectorConfig"]) == ["page"]
    assert ids(await index.search(SearchSpec(vector=[1.0, 2.0], mode="vector"))) == ["a"]
    written, read = (weaviate_double.calls_of(name)[-1] for name in ("BatchObjects", "Search"))
    assert written.request.consistency_level == read.request.consistency_level == 3
    await index.aclose()


async def test_only_one_of_many_at_once_creates_the_index(new_index: NewIndex) -> None:
    string = new_index()
    indexes = [WeaviateIndex.from_url(string) for _ in range(5)]
    await asyncio.gather(*(index.ensure(SPEC) for index in indexes))
    assert [await index.spec() for index in indexes] == [SPEC] * 5
    for index in indexes:
        await index.aclose()


async def test_a_collection_of_somebody_else_is_left_alone(
    weaviate_double: WeaviateDouble,
) -> None:
    weaviate_double.database.create({"class": "Docs", "description": "our articles"})
    index = WeaviateIndex.from_url(weaviate_double.url)
    for call in (index.ensure(SPEC), index.spec(), index.upsert([chunk("a")])):
        with pytest.raises(IndexSchemaMismatch, match="collection="):
            await call
    await index.aclose()


async def test_another_analysis_or_vector_name_is_a_mismatch(
    new_index: NewIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    string = new_index()
    index = await opened(string, [chunk("a")])
    with pytest.raises(IndexSchemaMismatch, match="vector=chunk"):
        await WeaviateIndex.from_url(f"{string}&vector=page").spec()
    monkeypatch.setattr(weaviate_layout, "ANALYSIS_VERSION", 999)
    for call in (index.search(SearchSpec(text="a", mode="keyword")), index.upsert([chunk("b")])):
        with pytest.raises(IndexSchemaMismatch, match="into another index"):
            await call
    assert await index.spec() == SPEC  # it can still be read, so it can be copied
    await index.aclose()


async def test_tenants_share_the_collections_and_nothing_else(new_index: NewIndex) -> None:
    string = new_index()
    acme = await opened(string, [chunk("a", text="acme fox")], tenant="acme")
    other = await opened(string, [chunk("a", text="other fox"), chunk("b")], tenant="other")
    await acme.upsert_parents([Parent(id="p", text="acme")])
    await acme.upsert_documents([DocumentRecord(id="d", content_hash="1")])
    assert [(await index.count()) for index in (acme, other)] == [1, 2]
    for index, word in ((acme, "acme"), (other, "other")):
        (hit,) = await index.search(SearchSpec(text="fox", mode="keyword"))
        assert hit.chunk.text == f"{word} fox"
    assert await other.parents(["p"]) == []
    assert await other.get_documents(["d"]) == []
    await other.delete_documents(["d"])
    assert [(await index.count()) for index in (acme, other)] == [1, 0]
    await acme.aclose()
    await other.aclose()


async def test_without_a_tenant_nobodys_chunks_are_found(new_index: NewIndex) -> None:
    string = new_index()
    acme = await opened(string, [chunk("a")], tenant="acme")
    nobody = WeaviateIndex.from_url(string)
    for call in (
        nobody.spec(),
        nobody.ensure(SPEC),
        nobody.search(SearchSpec(vector=[1.0, 2.0], mode="vector")),
        nobody.get(["a"]),
        nobody.count(),
        nobody.upsert([chunk("b")]),
        nobody.delete(filters={}),
        nobody.delete_documents(["d"]),
    ):
        with pytest.raises(IndexSchemaMismatch, match="name one"):
            await call
    assert await acme.count() == 1
    await acme.aclose()
    await nobody.aclose()


async def test_a_tenant_on_a_collection_without_tenants_is_a_mismatch(
    new_index: NewIndex,
) -> None:
    string = new_index()
    index = await opened(string, [chunk("a")])
    stray = WeaviateIndex.from_url(string, tenant="acme")
    with pytest.raises(IndexSchemaMismatch, match="without tenants"):
        await stray.search(SearchSpec(vector=[1.0, 2.0], mode="vector"))
    await index.aclose()
    await stray.aclose()


async def test_an_unknown_tenant_has_no_index_and_is_not_made_by_reading(
    new_index: NewIndex,
) -> None:
    string = new_index()
    acme = await opened(string, [chunk("a")], tenant="acme")
    unknown = WeaviateIndex.from_url(string, tenant="unknown")
    assert await unknown.spec() is None
    assert await unknown.search(SearchSpec(vector=[1.0, 2.0], mode="vector")) == []
    assert (await unknown.get(["a"]), await unknown.count()) == ([], 0)
    with pytest.raises(IndexMissing, match='tenant "unknown"') as refused:
        await unknown.upsert([chunk("b")])
    command = str(refused.value).split("`")[1]  # to be pasted: `&` would end it in a shell
    assert shlex.split(command) == [
        *("ragweave", "ingest", "PATH", "--index", string, "--tenant", "unknown")
    ]
    assert await unknown.spec() is None
    await acme.aclose()
    await unknown.aclose()


async def test_writing_to_an_index_that_is_not_there_makes_no_collection(
    new_index: NewIndex,
) -> None:
    """Left to itself the server would make one, with a schema that it guesses."""
    index = WeaviateIndex.from_url(new_index())
    with pytest.raises(IndexMissing):
        await index.upsert([chunk("a")])
    assert (await index.spec(), await index.count()) == (None, 0)
    await index.aclose()


async def test_an_index_deleted_by_others_is_empty_and_can_be_made_anew(
    weaviate_double: WeaviateDouble,
) -> None:
    index = await opened(weaviate_double.url, [chunk("a")])
    server = f"http://127.0.0.1:{weaviate_double.port}"
    async with httpx.AsyncClient() as http:
        for name in ("Docs", "Docs_parents", "Docs_documents"):
            await http.delete(f"{server}/v1/schema/{name}")
    assert await index.search(SearchSpec(vector=[1.0, 2.0], mode="vector")) == []
    assert (await index.count(), await index.get(["a"])) == (0, [])
    await index.ensure(SPEC)
    await index.upsert([chunk("b")])
    assert await index.count() == 1
    await index.aclose()


async def test_large_writes_are_split_by_count_and_by_size(
    weaviate_double: WeaviateDouble,
) -> None:
    index = await opened(weaviate_double.url)
    await index.upsert([chunk(f"c{at}") for at in range(450)])
    sent = [len(call.request.objects) for call in weaviate_double.calls_of("BatchObjects")]
    assert sorted(sent) == [50, 200, 200]
    weaviate_double.calls.clear()
    await index.upsert_parents([Parent(id=str(at), text="x" * 12_000_000) for at in range(5)])
    sizes = [call.request.ByteSize() for call in weaviate_double.calls_of("BatchObjects")]
    assert len(sizes) == 3
    assert max(sizes) < 32_000_000
    await index.aclose()


async def test_partial_failure_names_exactly_the_bad_objects(
    weaviate_double: WeaviateDouble,
) -> None:
    index = await opened(weaviate_double.url)
    weaviate_double.database.refuse_object = lambda item: (
        "disk is full" if item.properties["chunk_id"] == "b" else None
    )
    with pytest.raises(WriteFailed) as raised:
        await index.upsert([chunk("a"), chunk("b"), chunk("c")])
    assert raised.value.failed == {"b": "disk is full"}
    assert await index.count() == 2
    await index.aclose()


async def test_when_every_object_of_a_batch_is_refused_all_are_named(
    weaviate_double: WeaviateDouble,
) -> None:
    """The client raises an error of its own then, without the ids."""
    index = await opened(weaviate_double.url)
    weaviate_double.database.refuse_object = lambda item: "disk is full"
    with pytest.raises(WriteFailed) as raised:
        await index.upsert([chunk("a"), chunk("b")])
    assert set(raised.value.failed) == {"a", "b"}
    assert "disk is full" in raised.value.failed["a"]
    await index.aclose()


@pytest.mark.parametrize(
    "reason",
    [
        "broadcast: cannot reach enough replicas",
        'replica "weaviate-0": dial tcp 10.0.0.3:7101: i/o timeout',
        "failed to execute query: rpc error: code = Canceled desc = grpc: the client connection "
        "is closing",
    ],
)
async def test_a_node_that_goes_does_not_fail_a_write(
    reason: str, weaviate_double: WeaviateDouble
) -> None:
    """Words of a live cluster whose leader was killed in the middle of an ingest."""
    reasons = [reason]
    index = await opened(weaviate_double.url)
    weaviate_double.database.refuse_object = lambda item: reasons.pop() if reasons else None
    assert (await index.upsert([chunk("a"), chunk("b")])).ok == 2
    await index.aclose()


async def test_bad_chunks_are_refused_before_they_are_sent(
    weaviate_double: WeaviateDouble,
) -> None:
    """The server would take NaN, zeros and no vector at all."""
    index = await opened(weaviate_double.url)
    bad = {
        "nan": chunk("nan", vector=[float("nan"), 1.0]),
        "zero": chunk("zero", vector=[0.0, 0.0]),
        "none": chunk("none", vector=None),
        "long": chunk("long", vector=[1.0, 2.0, 3.0]),
    }
    with pytest.raises(WriteFailed) as raised:
        await index.upsert([*bad.values(), chunk("good")])
    assert set(raised.value.failed) == set(bad)
    (call,) = weaviate_double.calls_of("BatchObjects")
    assert len(call.request.objects) == 1
    await index.aclose()


async def test_texts_compared_whole_keep_their_white_space(new_index: NewIndex) -> None:
    names = ["a", " a", "a ", "\x01a", "the", "A", "名前 😀", "a\x00b", "x" * 5_000]
    index = await opened(
        new_index(), [chunk(name, document_id=name, metadata={"Year": name}) for name in names]
    )
    for name in names:
        assert [found.id for found in await index.get([name])] == [name]
        assert [found.id async for found in index.chunks_of([name])] == [name]
        by_field = SearchSpec(vector=[1.0, 2.0], mode="vector", k=50, filters={"Year": name})
        assert ids(await index.search(by_field)) == [name]
    await index.upsert([chunk("empty", metadata={"Year": ""})])
    empty = SearchSpec(vector=[1.0, 2.0], mode="vector", filters={"Year": ""})
    assert ids(await index.search(empty)) == ["empty"]
    await index.delete_documents([" a"])
    assert await index.count() == len(names)
    await index.aclose()


async def test_fields_that_differ_only_in_case_are_two(new_index: NewIndex) -> None:
    index = await opened(new_index(), [chunk("a", metadata={"year": 1, "Year": "x"}), chunk("b")])
    for filters in ({"year": 1}, {"Year": "x"}):
        query = SearchSpec(vector=[1.0, 2.0], mode="vector", filters=filters)
        assert ids(await index.search(query)) == ["a"]
    await index.aclose()


async def test_a_query_of_stop_words_falls_back_on_the_vector(new_index: NewIndex) -> None:
    index = await opened(new_index(), [chunk("a"), chunk("b")])
    assert await index.search(SearchSpec(text="the of and", mode="keyword")) == []
    assert await index.search(SearchSpec(text="", mode="keyword")) == []
    hits = await index.search(SearchSpec(text="the of and", vector=[1.0, 2.0]))
    assert sorted(ids(hits)) == ["a", "b"]
    await index.aclose()


async def test_a_limit_beyond_the_servers_finds_what_there_is(new_index: NewIndex) -> None:
    index = await opened(new_index(), [chunk("a"), chunk("b")])
    for mode in ("vector", "keyword", "hybrid"):
        query = SearchSpec(text="text", vector=[1.0, 2.0], mode=mode, k=20_000)
        assert len(await index.search(query)) == 2
    await index.aclose()


async def test_chunks_of_more_than_a_search_can_find(
    weaviate_double: WeaviateDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragweave.stores.weaviate.table.MAXIMUM_RESULTS", 30)
    monkeypatch.setattr("tests.weaviate_double.database.MAXIMUM_RESULTS", 30)
    monkeypatch.setattr("ragweave.stores.weaviate.table._IDS_PER_PAGE", 20)
    monkeypatch.setattr("ragweave.stores.weaviate.index._CHUNKS_PER_PAGE", 10)
    chunks = [chunk(f"c{at:03}", document_id="big") for at in range(70)]
    index = await opened(weaviate_double.url, [*chunks, chunk("other")])
    assert [found.id async for found in index.chunks_of(["big"])] == [item.id for item in chunks]
    await index.delete_documents(["big"])
    assert [found.id for found in await index.get(["c000", "other"])] == ["other"]
    await index.aclose()


async def test_a_scan_is_in_the_order_of_ids(new_index: NewIndex) -> None:
    names = [f"c{at}" for at in range(25)]
    index = await opened(new_index(), [chunk(name) for name in names])
    await index.upsert_documents([DocumentRecord(id=name, content_hash="") for name in names])
    scanned = [found async for page in index.scan() for found in page]
    assert [found.id for found in scanned] == sorted(names)
    assert scanned[0].vector == [1.0, 2.0]
    assert [record.id async for record in index.documents()] == sorted(names)
    await index.aclose()
