"""Where the entities and communities of a knowledge graph stand in its picture."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from ragweave.serving.drawing.packing import Circle, enclosing, pack
from ragweave.stores.graph import Community, GraphTables

ENTITY_GAP, COMMUNITY_GAP, ROOT_GAP = 1.5, 3.0, 9.0
"""Room around an entity, and around a community within another and on the outside."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Circles in the picture's own units: of entities by id, of communities by number."""

    entities: Mapping[str, Circle]
    communities: Mapping[int, Circle]
    parents: Mapping[int, int]
    """By community, the one that it is drawn in; those outside are left out."""
    homes: Mapping[str, int]
    """By entity id, the finest community that it belongs to."""


def layout(graph: GraphTables) -> Layout:
    """Each entity in its finest community, and each community in its parent."""
    parents = _parents(graph)
    homes = _homes(graph)
    entities = {
        entity.id: Circle(2.0 + 1.3 * math.sqrt(entity.degree) + ENTITY_GAP)
        for entity in graph.entities
    }
    inside: dict[int, list[Circle]] = defaultdict(list)
    loose: list[Circle] = []
    for entity in graph.entities:
        home = homes.get(entity.id)
        (loose if home is None else inside[home]).append(entities[entity.id])
    communities: dict[int, Circle] = {}
    middles: dict[int, Circle] = {}
    outside: list[Circle] = []
    for community in sorted(graph.communities, key=lambda item: -item.level):
        number = community.community
        parent = parents.get(number)
        middles[number] = _packed(inside[number])
        gap = ROOT_GAP if parent is None else COMMUNITY_GAP
        communities[number] = Circle(max(middles[number].r, 2.0) + gap)
        (outside if parent is None else inside[parent]).append(communities[number])
    _packed([*outside, *loose])
    for community in sorted(graph.communities, key=lambda item: item.level):
        number = community.community
        circle, middle = communities[number], middles[number]
        for child in inside[number]:
            child.x += circle.x - middle.x
            child.y += circle.y - middle.y
        circle.r -= ROOT_GAP if number not in parents else COMMUNITY_GAP
        circle.r += 1.0
    for dot in entities.values():
        dot.r -= ENTITY_GAP
    return Layout(entities, communities, parents, homes)


def _packed(circles: list[Circle]) -> Circle:
    """Pack circles, the largest in the middle; the circle around them."""
    pack(sorted(circles, key=lambda circle: -circle.r))
    return enclosing(circles)


def _parents(graph: GraphTables) -> dict[int, int]:
    """Parents by community; a parent must be of a coarser level, or the community is outside."""
    known = graph.community_by_number
    return {
        community.community: community.parent
        for community in graph.communities
        if (parent := known.get(community.parent)) is not None and parent.level < community.level
    }


def _homes(graph: GraphTables) -> dict[str, int]:
    finest: dict[str, Community] = {}
    for community in sorted(graph.communities, key=lambda item: item.level):
        for entity_id in community.entity_ids:
            finest[entity_id] = community
    return {entity_id: community.community for entity_id, community in finest.items()}
