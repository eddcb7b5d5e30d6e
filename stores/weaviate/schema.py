"""The collections of one index and what is remembered with them.

Three collections hold an index: chunks under its own name, parents and document records beside
them. Their schema is fixed: left to guess, the server would make a date of the first text that
looks like one and lose every other text of that field. The spec is kept as the chunk collection's
description, so that it is made and read together with it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weaviate.classes.config import (
    Configure,
    DataType,
    Property,
    StopwordsPreset,
    Tokenization,
    VectorDistances,
)

from ragweave.state.errors import IndexSchemaMismatch
from ragweave.stores.analysis import ANALYSIS_VERSION
from ragweave.stores.base import FieldType, IndexSpec
from ragweave.stores.weaviate.address import Address

FORMAT = 1
TERMS = "terms"
"""Property with the terms of title and text, split on white space: what keyword search reads."""

_FIELD_TYPES: Mapping[FieldType, DataType] = {
    "int": DataType.INT,
    "number": DataType.NUMBER,
    "bool": DataType.INT,  # the client would send a boolean to filter by as a number too
    "date": DataType.DATE,
}


@dataclass(frozen=True, slots=True)
class Made:
    """What an index or a graph was made for, as its main collection says itself."""

    spec: IndexSpec
    analysis: int | None
    """Version of the text analysis; None for a graph, whose text is not searched."""
    vector: str
    tenants: bool


def parents_of(collection: str) -> str:
    """Name of the collection that holds an index's parents."""
    return f"{collection}_parents"


def documents_of(collection: str) -> str:
    """Name of the collection that holds an index's document records."""
    return f"{collection}_documents"


def field_property(field: str) -> str:
    """Property of a declared metadata field.

    Weaviate's names are ASCII, not told apart by case, and some are reserved: whatever is no small
    letter or digit is written as its code point between underscores.
    """
    return "f_" + "".join(
        char if char.isascii() and (char.islower() or char.isdigit()) else f"_{ord(char):x}_"
        for char in field
    )


def big_property(field: str) -> str:
    """Property of a whole-number field for the values that a server would round, as text."""
    return f"{field_property(field)}_big"


def describe(
    spec: IndexSpec, address: Address, *, tenants: bool, analysis: int | None = ANALYSIS_VERSION
) -> str:
    """The description that a main collection is created with."""
    return json.dumps(
        {
            "ragweave": FORMAT,
            "analysis": analysis,
            "dimension": spec.dimension,
            "embeddings": spec.embeddings,
            "fields": dict(spec.fields),
            "vector": address.vector,
            "tenants": tenants,
        },
        ensure_ascii=False,
    )


def read_description(description: str | None, collection: str) -> Made:
    """What a main collection was made for.

    Raises:
        IndexSchemaMismatch: it was not made by ragweave, or by a version with another layout.
    """
    try:
        kept = json.loads(description or "")
        if kept["ragweave"] != FORMAT:
            raise ValueError(kept["ragweave"])
        return Made(
            spec=IndexSpec(kept["dimension"], kept["embeddings"], kept["fields"]),
            analysis=kept["analysis"],
            vector=kept["vector"],
            tenants=kept["tenants"],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise IndexSchemaMismatch(
            f"Collection {collection} was not made by this version of ragweave. Name another with "
            f"`collection=` in the index string."
        ) from error


def chunk_collection(spec: IndexSpec, address: Address, *, tenants: bool) -> dict[str, Any]:
    """Arguments that create the collection of chunks."""
    return {
        "name": address.collection,
        "description": describe(spec, address, tenants=tenants),
        "properties": [
            *(
                text_property(name, filterable=True)
                for name in ("chunk_id", "document_id", "parent_id")
            ),
            text_property("path", filterable=True),
            Property(
                name=TERMS,
                data_type=DataType.TEXT,
                tokenization=Tokenization.WHITESPACE,
                index_filterable=False,
                index_searchable=True,
            ),
            *(
                text_property(name)
                for name in ("text", "title", "url", "content_hash", "meta_json")
            ),
            *map(number_property, ("page", "start", "end")),
            *(item for name, kind in spec.fields.items() for item in _field(name, kind)),
        ],
        "vector_config": [
            Configure.Vectors.self_provided(
                name=address.vector,
                vector_index_config=Configure.VectorIndex.hnsw(
                    distance_metric=VectorDistances.COSINE
                ),
            )
        ],
        **placement(address, tenants=tenants),
    }


def parent_collection(address: Address, *, tenants: bool) -> dict[str, Any]:
    """Arguments that create the collection of parents."""
    return {
        "name": parents_of(address.collection),
        "properties": [
            text_property("parent_id", filterable=True),
            *map(text_property, ("text", "title", "parts_json", "meta_json")),
        ],
        **placement(address, tenants=tenants),
    }


def document_collection(address: Address, *, tenants: bool) -> dict[str, Any]:
    """Arguments that create the collection of document records."""
    return {
        "name": documents_of(address.collection),
        "properties": [
            text_property("document_id", filterable=True),
            *(
                text_property(name)
                for name in ("content_hash", "path", "title", "url", "meta_json")
            ),
            number_property("chunks"),
        ],
        **placement(address, tenants=tenants),
    }


def _field(name: str, kind: FieldType) -> list[Property]:
    """Properties of a metadata field that can be filtered on."""
    if kind == "text":
        return [text_property(field_property(name), filterable=True)]
    number = Property(
        name=field_property(name), data_type=_FIELD_TYPES[kind], index_range_filters=True
    )
    return (
        [number, text_property(big_property(name), filterable=True)] if kind == "int" else [number]
    )


def placement(address: Address, *, tenants: bool) -> dict[str, Any]:
    """Stop words, tenants, replicas and shards, alike for all collections of an index."""
    return {
        "inverted_index_config": Configure.inverted_index(stopwords_preset=StopwordsPreset.NONE),
        "multi_tenancy_config": Configure.multi_tenancy(
            enabled=tenants, auto_tenant_creation=False
        ),
        "replication_config": Configure.replication(factor=address.replication),
        "sharding_config": (
            Configure.sharding(desired_count=address.shards)
            if address.shards and not tenants  # each tenant is a shard of its own
            else None
        ),
    }


def text_property(name: str, *, filterable: bool = False) -> Property:
    """A text that is kept as it is, and compared as a whole where it can be filtered on."""
    return Property(
        name=name,
        data_type=DataType.TEXT,
        tokenization=Tokenization.FIELD,
        index_filterable=filterable,
        index_searchable=False,
    )


def number_property(name: str) -> Property:
    """A whole number that is kept but not filtered on."""
    return Property(name=name, data_type=DataType.INT, index_filterable=False)
