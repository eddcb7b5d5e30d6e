"""Which records speak about the entities of a question, best first. GraphRAG 3.3.0's orders."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ragweave.stores.graph import (
    Claim,
    Entity,
    GraphTables,
    Neighbour,
    Relationship,
    Report,
    TextUnit,
)


def mapped_entities(graph: GraphTables, nearest: Sequence[Neighbour], level: int) -> list[Entity]:
    """The entities found for a question that belong to a community of `level` or a coarser one."""
    found = [graph.entity_by_id[hit.id] for hit in nearest if hit.id in graph.entity_by_id]
    return [entity for entity in found if communities_of(graph, entity, level)]


def communities_of(graph: GraphTables, entity: Entity, level: int) -> list[int]:
    """Numbers of an entity's communities, of `level` or coarser.

    GraphRAG goes through a set of ints here, and its order decides which of two reports that
    count the same comes first. The order is fixed by the numbers alone, so this gives the same.
    """
    numbers = [
        community.community
        for community in graph.communities_of.get(entity.id, ())
        if community.level <= level
    ]
    return list(set(numbers))


def ranked_reports(graph: GraphTables, entities: Sequence[Entity], level: int) -> list[Report]:
    """Reports on the entities' communities, by (entities in them, rank) descending.

    Ties keep the order in which the entities mention them. Reports without a rank are left out.
    """
    mentions: dict[int, int] = {}
    for entity in entities:
        for number in communities_of(graph, entity, level):
            mentions[number] = mentions.get(number, 0) + 1
    reports = [graph.report_by_community.get(number) for number in mentions]
    ranked = [
        (mentions[report.community], report.rank, report)
        for report in reports
        if report is not None and report.level <= level and report.rank is not None
    ]
    ranked.sort(key=lambda item: item[:2], reverse=True)
    return [report for _, rank, report in ranked if rank >= 0]


def ranked_relationships(
    graph: GraphTables, entities: Sequence[Entity], top_k: int, links: dict[str, int]
) -> list[Relationship]:
    """Relationships of the entities: between two of them first, then to entities outside.

    The first by combined degree; the others by (how many of the entities the outside one is
    related to, combined degree), at most `top_k` for each entity. How many goes into `links`, by
    relationship id.
    """
    titles = {entity.title for entity in entities}
    positions = {place for title in titles for place in graph.relationships_of.get(title, ())}
    edges = [graph.relationships[place] for place in sorted(positions)]
    edges.sort(key=lambda edge: (edge.source not in titles, -edge.degree))
    inside = [edge for edge in edges if edge.source in titles and edge.target in titles]
    outside = [edge for edge in edges if (edge.source in titles) != (edge.target in titles)]
    inside.sort(key=lambda edge: -edge.degree)
    outside.sort(key=lambda edge: -edge.degree)
    if len(outside) > 1:
        shared = _shared_ends(outside, titles)
        links.update({edge.id: shared[_outer_end(edge, titles)] for edge in outside})
        outside.sort(key=lambda edge: (-links[edge.id], -edge.degree))
        outside = outside[: top_k * len(entities)]
    return inside + outside


def ranked_units(graph: GraphTables, entities: Sequence[Entity]) -> list[TextUnit]:
    """The entities' text units, each once, by (place of the entity, its relationships in the unit).

    The second descending.
    """
    ranked: list[TextUnit] = []
    seen: set[str] = set()
    for entity in entities:
        edges = [graph.relationships[p] for p in graph.relationships_of.get(entity.title, ())]
        fresh = [
            graph.unit_by_id[unit_id]
            for unit_id in dict.fromkeys(entity.text_unit_ids)
            if unit_id in graph.unit_by_id and unit_id not in seen
        ]
        seen.update(unit.id for unit in fresh)
        counts = _edges_in_units(fresh, edges)
        ranked += sorted(fresh, key=lambda unit: -counts[unit.id])
    return ranked


def claims_about(graph: GraphTables, entities: Sequence[Entity]) -> list[Claim]:
    """Claims about the entities, in their order."""
    return [claim for entity in entities for claim in graph.claims_of.get(entity.title, ())]


def _outer_end(edge: Relationship, titles: set[str]) -> str:
    return edge.target if edge.source in titles else edge.source


def _shared_ends(outside: Sequence[Relationship], titles: set[str]) -> Mapping[str, int]:
    """To how many of `titles` each title outside is related."""
    partners: dict[str, set[str]] = defaultdict(set)
    for edge in outside:
        outer = _outer_end(edge, titles)
        partners[outer].add(edge.source if outer == edge.target else edge.target)
    return {title: len(inner) for title, inner in partners.items()}


def _edges_in_units(units: Sequence[TextUnit], edges: Sequence[Relationship]) -> Mapping[str, int]:
    """How many of an entity's relationships each unit holds; by the units' own lists if any."""
    ids = {edge.id for edge in edges}
    mentions: dict[str, int] = defaultdict(int)
    for edge in edges:
        for unit_id in set(edge.text_unit_ids):
            mentions[unit_id] += 1
    return {
        unit.id: sum(edge_id in ids for edge_id in unit.relationship_ids)
        if unit.relationship_ids
        else mentions[unit.id]
        for unit in units
    }
