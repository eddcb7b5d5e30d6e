"""What the double holds, and how it answers each request that the client sends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weaviate.proto.v1 import (
    aggregate_pb2,
    base_search_pb2,
    batch_delete_pb2,
    batch_pb2,
    search_get_pb2,
    tenants_pb2,
)

from tests.weaviate_double import messages, ranking
from tests.weaviate_double.collection import Collection, Objects, Refused, StoredObject
from tests.weaviate_double.filters import check_of

MAXIMUM_RESULTS = 10_000
_RANKED = base_search_pb2.Hybrid.FUSION_TYPE_RANKED


class Database:
    """Collections by name. Requests are answered one at a time; the server holds the lock."""

    def __init__(self) -> None:
        self.meta: dict[str, Any] = {"version": "1.39.0", "grpcMaxMessageSize": 104_858_000}
        self.collections: dict[str, Collection] = {}
        self.refuse_object: Callable[[StoredObject], str | None] = lambda item: None
        """Gives the reason why an object of a batch is refused, if a test wants it to be."""

    def create(self, schema: dict[str, Any]) -> Collection:
        """Create a collection from the REST body."""
        collection = Collection(schema)
        if collection.name in self.collections:
            raise Refused(f"class name {collection.name} already exists")
        self.collections[collection.name] = collection
        return collection

    def collection(self, name: str) -> Collection:
        """A collection by name."""
        if name not in self.collections:
            raise Refused(f"could not find class {name} in schema", status=404)
        return self.collections[name]

    def search(self, request: search_get_pb2.SearchRequest) -> search_get_pb2.SearchReply:
        """Answer a search, a fetch by filter, or one page of a scan."""
        collection = self.collection(request.collection)
        if (end := request.offset + (request.limit or 20)) > MAXIMUM_RESULTS:
            raise Refused(
                f"explorer: list class: search: query maximum results exceeded: {end} is more than "
                f"QUERY_MAXIMUM_RESULTS={MAXIMUM_RESULTS}"
            )
        found = self._found(collection, request, end)[request.offset : end]
        return search_get_pb2.SearchReply(
            took=0.001,
            results=[
                messages.search_result(request, collection, item, scores) for item, scores in found
            ],
        )

    def insert(self, request: batch_pb2.BatchObjectsRequest) -> batch_pb2.BatchObjectsReply:
        """Write objects one by one; a refused one does not keep the others out."""
        reply = batch_pb2.BatchObjectsReply()
        for index, message in enumerate(request.objects):
            try:
                item = messages.read_object(message)
                if reason := self.refuse_object(item):
                    raise Refused(reason)
                self.collection(message.collection).put(message.tenant, item)
            except Refused as error:
                reply.errors.add(index=index, error=str(error))
        return reply

    def delete(
        self, request: batch_delete_pb2.BatchDeleteRequest
    ) -> batch_delete_pb2.BatchDeleteReply:
        """Delete by filter, no more at once than a search may find."""
        collection = self.collection(request.collection)
        objects = collection.objects(request.tenant)
        matches = self._filtered(collection, objects, request)[:MAXIMUM_RESULTS]
        for item in matches:
            del objects[item.id]
        return batch_delete_pb2.BatchDeleteReply(matches=len(matches), successful=len(matches))

    def count(self, request: aggregate_pb2.AggregateRequest) -> aggregate_pb2.AggregateReply:
        """Count the objects that pass the filter."""
        collection = self.collection(request.collection)
        objects = collection.objects(request.tenant)
        single = aggregate_pb2.AggregateReply.Single(
            objects_count=len(self._filtered(collection, objects, request))
        )
        return aggregate_pb2.AggregateReply(single_result=single)

    def tenants(self, request: tenants_pb2.TenantsGetRequest) -> tenants_pb2.TenantsGetReply:
        """The tenants of a collection, or those of the names asked for that exist."""
        known = self.collection(request.collection).tenants
        names = [name for name in request.names.values if name in known] or list(known)
        hot = tenants_pb2.TENANT_ACTIVITY_STATUS_HOT
        return tenants_pb2.TenantsGetReply(
            tenants=[tenants_pb2.Tenant(name=name, activity_status=hot) for name in names]
        )

    def _found(
        self, collection: Collection, request: search_get_pb2.SearchRequest, end: int
    ) -> Sequence[tuple[StoredObject, dict[str, float]]]:
        objects = collection.objects(request.tenant)
        allowed = self._filtered(collection, objects, request)
        if request.HasField("near_vector"):
            nearest = self._nearest(collection, request.tenant, request.near_vector, allowed)
            return [(item, {"distance": distance}) for item, distance in nearest]
        if request.HasField("bm25_search"):
            keyword = self._keyword(collection, objects, request.bm25_search, allowed)
            return [(item, {"score": score}) for item, score in keyword]
        if request.HasField("hybrid_search"):
            return [
                (item, {"score": score})
                for item, score in self._hybrid(
                    collection, request, allowed, depth=max(ranking.HYBRID_DEPTH, end)
                )
            ]
        return [(item, {}) for item in _in_order(allowed, request)]

    def _hybrid(
        self,
        collection: Collection,
        request: search_get_pb2.SearchRequest,
        allowed: list[StoredObject],
        *,
        depth: int,
    ) -> ranking.Ranked:
        search = request.hybrid_search
        given = hasattr(search, "alpha_param") and search.HasField("alpha_param")
        alpha = search.alpha_param if given else search.alpha
        keyword, nearest = ranking.Ranked(), ranking.Ranked()
        if alpha < 1 and search.query:
            objects = collection.objects(request.tenant)
            keyword = self._keyword(collection, objects, search, allowed)[:depth]
        if alpha > 0:
            nearest = self._nearest(collection, request.tenant, search, allowed)[:depth]
        return ranking.fused(keyword, nearest, alpha=alpha, ranked=search.fusion_type == _RANKED)

    def _nearest(
        self, collection: Collection, tenant: str, search: Any, allowed: list[StoredObject]
    ) -> ranking.Ranked:
        query = messages.query_vector(search)
        targets = list(search.targets.target_vectors) or list(search.target_vectors)
        name = collection.vector(tenant, targets, query)
        return ranking.by_distance(allowed, name, query, metric=collection.metric(name))

    def _keyword(
        self, collection: Collection, objects: Objects, search: Any, allowed: list[StoredObject]
    ) -> ranking.Ranked:
        if not search.query:
            raise Refused("invalid params: keyword search must have query set")
        ids = {item.id for item in allowed}
        everything = list(objects.values())
        scored = ranking.by_bm25(collection, everything, search.query, search.properties)
        return [(item, score) for item, score in scored if item.id in ids]

    def _filtered(
        self, collection: Collection, objects: Objects, request: Any
    ) -> list[StoredObject]:
        if not request.HasField("filters"):
            return list(objects.values())
        return list(filter(check_of(collection, request.filters), objects.values()))


def _in_order(
    items: list[StoredObject], request: search_get_pb2.SearchRequest
) -> list[StoredObject]:
    """By the properties asked for, else by id; after the cursor's id if there is one."""
    ordered = sorted(items, key=lambda item: item.id)
    for sort in reversed(request.sort_by):
        name = sort.path[0]
        ordered.sort(key=lambda item: item.properties.get(name, ""), reverse=not sort.ascending)
    return [item for item in ordered if item.id > request.after]
