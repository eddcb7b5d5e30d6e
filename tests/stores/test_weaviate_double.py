"""The double keeps the rules of a live server: each test runs on both where there is one.

The numbers are computed by hand from the published formulas, not taken from a run.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from typing import Any

import pytest
from weaviate.classes.data import DataObject
from weaviate.classes.query import Filter, HybridFusion, MetadataQuery
from weaviate.exceptions import WeaviateQueryError

from ragweave.stores.base import IndexSpec
from ragweave.stores.weaviate.index import WeaviateIndex
from ragweave.stores.weaviate.rows import object_id
from tests.weaviate_fixtures import NewIndex

VECTORS = {"a": [1.0, 0.0], "b": [1.0, 1.0], "c": [0.0, 1.0], "d": [-1.0, 0.0]}
TERMS = {"a": "red fox", "b": "red red", "c": "blue fox", "d": "green owl"}


@pytest.fixture
async def collection(new_index: NewIndex) -> AsyncIterator[Any]:
    """The client's own collection, with four objects of two terms each."""
    index = WeaviateIndex.from_url(new_index())
    await index.ensure(IndexSpec(dimension=2, embeddings="test", fields={"year": "int"}))
    collection = await index._access.collection(index._chunks.collection)
    rows = [
        DataObject(
            uuid=object_id(collection.name, id),
            properties={"chunk_id": id, "terms": TERMS[id], "f_year": 2000 + at},
            vector={"chunk": VECTORS[id]},
        )
        for at, id in enumerate(VECTORS)
    ]
    assert not (await collection.data.insert_many(rows)).has_errors
    yield collection
    await index.aclose()


def ids(reply: Any) -> list[str]:
    return [item.properties["chunk_id"] for item in reply.objects]


def scores(reply: Any) -> dict[str, float]:
    return {item.properties["chunk_id"]: item.metadata.score for item in reply.objects}


async def test_cosine_distance(collection: Any) -> None:
    reply = await collection.query.near_vector(
        [1.0, 0.0], target_vector="chunk", limit=4, return_metadata=MetadataQuery(distance=True)
    )
    distances = [item.metadata.distance for item in reply.objects]
    assert ids(reply) == ["a", "b", "c", "d"]
    assert distances == pytest.approx([0, 1 - 1 / math.sqrt(2), 1, 2], abs=1e-6)


async def test_bm25_has_no_factor_k1_plus_1(collection: Any) -> None:
    reply = await collection.query.bm25(
        "red", query_properties=["terms"], return_metadata=MetadataQuery(score=True)
    )
    idf = math.log(1 + (4 - 2 + 0.5) / (2 + 0.5))  # "red" is in 2 of 4 objects, all of length 2
    assert ids(reply) == ["b", "a"]
    assert scores(reply)["a"] == pytest.approx(idf / 2.2, rel=1e-5)
    assert scores(reply)["b"] == pytest.approx(idf * 2 / 3.2, rel=1e-5)


async def test_relative_score_fusion(collection: Any) -> None:
    reply = await collection.query.hybrid(
        "fox",
        vector=[1.0, 0.0],
        target_vector="chunk",
        query_properties=["terms"],
        alpha=0.25,
        fusion_type=HybridFusion.RELATIVE_SCORE,
        return_metadata=MetadataQuery(score=True),
    )
    # Cosines 1, 0.7071, 0, -1 scaled to 0..1; "fox" is equally good in a and c.
    assert scores(reply) == pytest.approx(
        {"a": 1.0, "c": 0.75 + 0.25 * 0.5, "b": 0.25 * (1 + 1 / math.sqrt(2)) / 2, "d": 0.0},
        abs=1e-6,
    )


async def test_ranked_fusion_counts_from_0(collection: Any) -> None:
    reply = await collection.query.hybrid(
        "owl",
        vector=[1.0, 0.0],
        target_vector="chunk",
        query_properties=["terms"],
        alpha=0.5,
        fusion_type=HybridFusion.RANKED,
        return_metadata=MetadataQuery(score=True),
    )
    assert scores(reply) == pytest.approx(
        {"a": 0.5 / 60, "b": 0.5 / 61, "c": 0.5 / 62, "d": 0.5 / 63 + 0.5 / 60}, abs=1e-6
    )


async def test_an_empty_keyword_leg_leaves_the_vector_leg_at_its_weight(collection: Any) -> None:
    reply = await collection.query.hybrid(
        "",
        vector=[1.0, 0.0],
        target_vector="chunk",
        alpha=0.25,
        return_metadata=MetadataQuery(score=True),
    )
    assert ids(reply)[:1] == ["a"]
    assert scores(reply)["a"] == pytest.approx(0.25)


async def test_a_missing_value_passes_not_equal_only(collection: Any) -> None:
    await collection.data.insert_many(
        [DataObject(properties={"chunk_id": "e"}, vector={"chunk": [1.0, 0.0]})]
    )
    other = Filter.by_property("f_year").not_equal(2000)
    later = Filter.by_property("f_year").greater_than(2000)
    assert sorted(ids(await collection.query.fetch_objects(filters=other))) == ["b", "c", "d", "e"]
    assert sorted(ids(await collection.query.fetch_objects(filters=later))) == ["b", "c", "d"]


@pytest.mark.parametrize(
    ("search", "says"),
    [
        (lambda c: c.query.bm25("", limit=1), "must have query set"),
        (lambda c: c.query.bm25("red", limit=10_001), "QUERY_MAXIMUM_RESULTS"),
        (lambda c: c.query.fetch_objects(limit=10_001), "QUERY_MAXIMUM_RESULTS"),
        (
            lambda c: c.query.near_vector([1.0], target_vector="chunk", limit=1),
            "vector lengths don't match",
        ),
        (
            lambda c: c.query.near_vector([1.0, 2.0], target_vector="page", limit=1),
            "does not have named vector page",
        ),
        (
            lambda c: c.query.fetch_objects(return_properties=["nope"]),
            "no such prop with name 'nope'",
        ),
        (
            lambda c: c.query.fetch_objects(filters=Filter.by_property("url").equal("x")),
            "requires inverted index",
        ),
        (lambda c: c.with_tenant("x").query.fetch_objects(limit=1), "request was with tenant"),
    ],
)
async def test_what_is_refused(collection: Any, search: Any, says: str) -> None:
    with pytest.raises(WeaviateQueryError, match=says):
        await search(collection)


async def test_what_is_taken_though_it_is_of_no_use(collection: Any) -> None:
    reply = await collection.data.insert_many(
        [
            DataObject(properties={"chunk_id": "nan"}, vector={"chunk": [math.nan, 1.0]}),
            DataObject(properties={"chunk_id": "zero"}, vector={"chunk": [0.0, 0.0]}),
            DataObject(properties={"chunk_id": "none"}),
        ]
    )
    assert not reply.has_errors
    await collection.query.near_vector([math.nan, 1.0], target_vector="chunk", limit=1)


async def test_one_bad_object_does_not_keep_the_others_out(collection: Any) -> None:
    reply = await collection.data.insert_many(
        [
            DataObject(properties={"chunk_id": "x"}, vector={"chunk": [1.0, 2.0, 3.0]}),
            DataObject(properties={"chunk_id": "y"}, vector={"chunk": [1.0, 2.0]}),
            DataObject(properties={"f_year": "soon"}, vector={"chunk": [1.0, 2.0]}),
        ]
    )
    assert set(reply.errors) == {0, 2}
    assert "vector with length 3" in reply.errors[0].message
    assert "property 'f_year'" in reply.errors[2].message


async def test_text_compared_whole_loses_white_space_at_its_ends(collection: Any) -> None:
    await collection.data.insert_many(
        [DataObject(properties={"chunk_id": " a"}, vector={"chunk": [1.0, 0.0]})]
    )
    found = await collection.query.fetch_objects(filters=Filter.by_property("chunk_id").equal("a"))
    assert sorted(ids(found)) == [" a", "a"]
