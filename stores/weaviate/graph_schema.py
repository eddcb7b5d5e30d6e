"""The collections of a knowledge graph, beside those of the index of the same name.

`Docs_graph` says what the graph was made for and when it was last written; `Docs_graph_entities`
and six others hold one table each, every record as JSON, with a vector where it has one.
"""

from __future__ import annotations

from typing import Any

from weaviate.classes.config import Configure, DataType, Property, VectorDistances

from ragweave.stores.base import IndexSpec
from ragweave.stores.graph import TABLES, Embedded, TableName
from ragweave.stores.weaviate.address import Address
from ragweave.stores.weaviate.schema import describe, number_property, placement, text_property

RECORD_PROPERTIES = ["record_id", "number", "record"]
LEVEL = "level"
"""Property of reports that a search is bounded by."""
STATE_PROPERTIES = ["state_id", "value"]

_DISTANCES: dict[Embedded, VectorDistances] = {
    "entities": VectorDistances.L2_SQUARED,
    "reports": VectorDistances.COSINE,
}
_SEARCH_WIDTH = 512
"""HNSW's `ef`: a graph has thousands of vectors, not millions, and DRIFT begins with few of them,
so the search is made all but exact."""


def graph_of(collection: str) -> str:
    """Name of the main collection of an index's graph."""
    return f"{collection}_graph"


def table_of(collection: str, table: TableName) -> str:
    """Name of the collection that holds one table."""
    return f"{graph_of(collection)}_{table}"


def graph_collections(spec: IndexSpec, address: Address, *, tenants: bool) -> list[dict[str, Any]]:
    """What creates the collections of a graph, the main one last."""
    tables = [_table_collection(table, address, tenants=tenants) for table in TABLES]
    return [*tables, _main_collection(spec, address, tenants=tenants)]


def _main_collection(spec: IndexSpec, address: Address, *, tenants: bool) -> dict[str, Any]:
    return {
        "name": graph_of(address.collection),
        "description": describe(spec, address, tenants=tenants, analysis=None),
        "properties": [text_property("state_id", filterable=True), text_property("value")],
        **placement(address, tenants=tenants),
    }


def _table_collection(table: TableName, address: Address, *, tenants: bool) -> dict[str, Any]:
    definition: dict[str, Any] = {
        "name": table_of(address.collection, table),
        "properties": [
            text_property("record_id", filterable=True),
            number_property("number"),
            text_property("record"),
        ],
        **placement(address, tenants=tenants),
    }
    if table == "reports":
        definition["properties"].append(Property(name=LEVEL, data_type=DataType.INT))
    if table == "entities" or table == "reports":
        definition["vector_config"] = [
            Configure.Vectors.self_provided(
                name=address.vector,
                vector_index_config=Configure.VectorIndex.hnsw(
                    distance_metric=_DISTANCES[table], ef=_SEARCH_WIDTH
                ),
            )
        ]
    return definition
