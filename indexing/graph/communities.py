"""Communities of entities on several levels, by hierarchical Leiden, as GraphRAG 3.3.0 makes them.

Traag, Waltman and van Eck, From Louvain to Leiden, Scientific Reports 9:5233 (2019). The engine is
graspologic-native 1.2: version 1.3 finds other communities in the same graph.
"""

from __future__ import annotations

import html
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graspologic_native import hierarchical_leiden

from ragweave.stores.graph import Community, Entity, Relationship

SEED = 0xDEADBEEF
MAX_CLUSTER_SIZE = 10
_NAMESPACE = uuid.UUID("6f1f2e0a-7a3b-5a39-9d0c-2f6f0c9b1e57")

Edge = tuple[str, str, float]
"""Both ends, the lesser one first, and the weight."""


@dataclass(frozen=True, slots=True)
class _Cluster:
    number: int
    level: int
    parent: int
    nodes: frozenset[str]


def find_communities(
    entities: Sequence[Entity],
    relationships: Sequence[Relationship],
    *,
    largest_component_only: bool = False,
    max_cluster_size: int = MAX_CLUSTER_SIZE,
    seed: int = SEED,
    period: str | None = None,
) -> list[Community]:
    """Communities by level and number. The same graph gives the same communities, ids included.

    Ends that are no entity take part in the clustering but are no members. A community without a
    member, or without a relationship inside it, is left out. It computes (20,000 entities take
    some seconds), so call it off the event loop.

    Args:
        entities: all entities; one without relationships comes into no community.
        relationships: all relationships; of several between one pair the last one's weight counts.
        largest_component_only: leave out what is not connected with most of the graph. GraphRAG
            does so by default, and its search cannot find those entities.
        max_cluster_size: communities above this size are split further.
        seed: of Leiden's random choices.
        period: date of the communities, as `YYYY-MM-DD`.
    """
    edges = _undirected(relationships)
    if largest_component_only:
        edges = _largest_component(edges)
    clusters = _clusters(edges, max_cluster_size, seed) if edges else []
    places = _clusters_of(clusters)
    inside = _relationships_inside(places, relationships)
    members = _members(places, entities)
    kept = [cluster for cluster in clusters if inside[cluster.number] and members[cluster.number]]
    children: dict[int, list[int]] = defaultdict(list)
    for cluster in kept:
        children[cluster.parent].append(cluster.number)
    return [
        Community(
            id=_identity(cluster, members[cluster.number]),
            number=cluster.number,
            community=cluster.number,
            level=cluster.level,
            parent=cluster.parent,
            children=tuple(children[cluster.number]),
            title=f"Community {cluster.number}",
            entity_ids=tuple(members[cluster.number]),
            relationship_ids=tuple(sorted({edge.id for edge in inside[cluster.number]})),
            text_unit_ids=tuple(
                sorted({unit for edge in inside[cluster.number] for unit in edge.text_unit_ids})
            ),
            period=period,
            size=len(members[cluster.number]),
        )
        for cluster in kept
    ]


def _undirected(relationships: Sequence[Relationship]) -> list[Edge]:
    """One edge a pair of nodes, sorted: Leiden's result depends on the order."""
    weights: dict[tuple[str, str], float] = {}
    for edge in relationships:
        ends = sorted((_node(edge.source), _node(edge.target)))
        weights[ends[0], ends[1]] = edge.weight
    return sorted((low, high, weight) for (low, high), weight in weights.items())


def _node(title: str) -> str:
    return html.unescape(title).upper().strip()


def _largest_component(edges: Sequence[Edge]) -> list[Edge]:
    """The edges of the component with the most nodes; of equal ones the first."""
    parents: dict[str, str] = {}

    def root(node: str) -> str:
        while parents.setdefault(node, node) != node:
            parents[node] = node = parents[parents[node]]
        return node

    for low, high, _ in edges:
        parents[root(low)] = root(high)
    sizes: dict[str, int] = defaultdict(int)
    for node in list(parents):
        sizes[root(node)] += 1
    largest = max(sizes, key=lambda node: sizes[node], default="")
    return [edge for edge in edges if root(edge[0]) == largest]


def _clusters(edges: list[Edge], max_cluster_size: int, seed: int) -> list[_Cluster]:
    partitions = hierarchical_leiden(
        edges=edges,
        starting_communities=None,
        resolution=1.0,
        randomness=0.001,
        iterations=1,
        use_modularity=True,
        max_cluster_size=max_cluster_size,
        seed=seed,
    )
    nodes: dict[int, set[str]] = defaultdict(set)
    places: dict[int, tuple[int, int]] = {}
    for partition in partitions:
        nodes[partition.cluster].add(partition.node)
        parent = partition.parent_cluster
        places[partition.cluster] = partition.level, -1 if parent is None else parent
    return [
        _Cluster(number, level, parent, frozenset(nodes[number]))
        for number, (level, parent) in sorted(
            places.items(), key=lambda item: (item[1][0], item[0])
        )
    ]


def _clusters_of(clusters: Sequence[_Cluster]) -> Mapping[str, Mapping[int, int]]:
    """By node and level, the number of the cluster it is in."""
    places: dict[str, dict[int, int]] = defaultdict(dict)
    for cluster in clusters:
        for node in cluster.nodes:
            places[node][cluster.level] = cluster.number
    return places


def _relationships_inside(
    places: Mapping[str, Mapping[int, int]], relationships: Sequence[Relationship]
) -> Mapping[int, Sequence[Relationship]]:
    """Relationships with both ends in one cluster, by its number."""
    inside: dict[int, list[Relationship]] = defaultdict(list)
    for edge in relationships:
        target = places.get(_node(edge.target), {})
        for level, number in places.get(_node(edge.source), {}).items():
            if target.get(level) == number:
                inside[number].append(edge)
    return inside


def _members(
    places: Mapping[str, Mapping[int, int]], entities: Sequence[Entity]
) -> Mapping[int, Sequence[str]]:
    """Ids of the entities in each cluster, in the order of `entities`."""
    members: dict[int, list[str]] = defaultdict(list)
    for entity in entities:
        for number in places.get(_node(entity.title), {}).values():
            members[number].append(entity.id)
    return members


def _identity(cluster: _Cluster, members: Sequence[str]) -> str:
    """An id made of level and members, so that an unchanged community keeps its report."""
    return str(uuid.uuid5(_NAMESPACE, "\0".join([str(cluster.level), *sorted(members)])))
