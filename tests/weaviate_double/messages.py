"""Between the client's protobufs and the double's objects."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from google.protobuf.json_format import MessageToDict
from weaviate.proto.v1 import base_pb2, batch_pb2, properties_pb2, search_get_pb2

from tests.weaviate_double.collection import Collection, Refused, StoredObject, Vector, valid_id

_VALUE_FIELDS = {
    "text": "text_value",
    "int": "int_value",
    "number": "number_value",
    "boolean": "bool_value",
    "date": "date_value",
}


def read_object(message: batch_pb2.BatchObject) -> StoredObject:
    """The object of a batch, with its null properties left out, as the server does."""
    properties = MessageToDict(message.properties.non_ref_properties)
    return StoredObject(
        id=valid_id(message.uuid),
        properties={name: value for name, value in properties.items() if value is not None},
        vectors={item.name: read_vector(item.vector_bytes) for item in message.vectors},
    )


def read_vector(data: bytes) -> Vector:
    """A vector from its bytes: float32, little-endian."""
    return np.frombuffer(data, dtype="<f4")


def query_vector(search: Any) -> Vector:
    """The vector of a near-vector or hybrid search, in whichever field a client put it."""
    for holder in (search, *search.vectors, *getattr(search, "vector_for_targets", ())):
        if holder.vector_bytes:
            return read_vector(holder.vector_bytes)
    raise Refused("could not vectorize input: VectorFromInput was called without vectorizer")


def search_result(
    request: search_get_pb2.SearchRequest,
    collection: Collection,
    item: StoredObject,
    scores: Mapping[str, float],
) -> search_get_pb2.SearchResult:
    """One result, with the properties, vectors and scores that were asked for."""
    metadata = search_get_pb2.MetadataResult(id=item.id, id_as_bytes=uuid.UUID(item.id).bytes)
    for kind, value in scores.items():
        if getattr(request.metadata, kind):
            setattr(metadata, kind, value)
            setattr(metadata, f"{kind}_present", True)
    wanted = request.metadata
    for name in item.vectors if wanted.vector else wanted.vectors:
        if name in item.vectors:
            metadata.vectors.add(
                name=name,
                vector_bytes=item.vectors[name].tobytes(),
                type=base_pb2.Vectors.VECTOR_TYPE_SINGLE_FP32,
            )
    fields = {
        name: _value(collection.properties[name]["dataType"][0], item.properties.get(name))
        for name in _returned(request, collection)
    }
    return search_get_pb2.SearchResult(
        metadata=metadata,
        properties=search_get_pb2.PropertiesResult(
            target_collection=collection.name,
            non_ref_props=properties_pb2.Properties(fields=fields),
        ),
    )


def _returned(request: search_get_pb2.SearchRequest, collection: Collection) -> Sequence[str]:
    if not request.HasField("properties") or request.properties.return_all_nonref_properties:
        return list(collection.properties)
    names: Sequence[str] = request.properties.non_ref_properties
    for name in names:
        if name not in collection.properties:
            raise Refused(f"no such prop with name '{name}' found in class '{collection.name}'")
    return names


def _value(kind: str, value: Any) -> properties_pb2.Value:
    held: dict[str, Any] = {"null_value": 0}
    if value is not None:
        held = {_VALUE_FIELDS[kind]: int(value) if kind == "int" else value}
    return properties_pb2.Value(**held)
