"""Communities are those that GraphRAG finds, and the same every time."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ragweave.indexing.graph.communities import find_communities
from ragweave.stores.graph import Community, Entity, Relationship
from ragweave.stores.graphrag.folder import GraphRagFolder


def content(community: Community) -> tuple[object, ...]:
    """What makes a community, without its id and date, members in no order."""
    return (
        community.community,
        community.level,
        community.parent,
        set(community.children),
        set(community.entity_ids),
        set(community.relationship_ids),
        set(community.text_unit_ids),
        community.title,
        community.size,
    )


@pytest.mark.parametrize(("name", "expected"), [("carol", 122), ("dulce", 10)])
async def test_communities_of_a_real_index_are_found_again(
    data: Path, name: str, expected: int
) -> None:
    graph = await GraphRagFolder(f"graphrag:{data / 'graphrag' / name}").tables()

    found = find_communities(graph.entities, graph.relationships, largest_component_only=True)

    by_number = {community.community: content(community) for community in graph.communities}
    assert len(found) == expected
    assert {community.community: content(community) for community in found} == by_number


def clique(*titles: str) -> list[Relationship]:
    """Relationships between all of some titles."""
    return [
        Relationship(f"{a}-{b}", 0, a, b, "", 1.0, 0, (f"unit {a}",))
        for place, a in enumerate(titles)
        for b in titles[place + 1 :]
    ]


def entities_of(titles: str) -> list[Entity]:
    return [Entity(f"id {title}", 0, title, "", "") for title in titles]


def test_small_components_have_communities_unless_told_otherwise() -> None:
    entities, edges = entities_of("abcxy"), [*clique(*"abc"), *clique(*"xy")]

    everything = find_communities(entities, edges)
    largest = find_communities(entities, edges, largest_component_only=True)

    assert {community.entity_ids for community in everything} == {
        ("id a", "id b", "id c"),
        ("id x", "id y"),
    }
    assert [community.entity_ids for community in largest] == [("id a", "id b", "id c")]


def test_order_of_the_tables_changes_nothing() -> None:
    entities = entities_of("abcdefghijklmnop")
    edges = [*clique(*"abcdef"), *clique(*"ghijkl"), *clique(*"mnop"), *clique("a", "g", "m")]
    first = find_communities(entities, edges)

    random.Random(7).shuffle(entities)
    random.Random(8).shuffle(edges)

    again = find_communities(entities, edges)
    assert [content(community) for community in again] == [content(item) for item in first]
    assert [community.id for community in again] == [community.id for community in first]


def test_an_unchanged_community_keeps_its_id_and_a_changed_one_does_not() -> None:
    edges = [*clique(*"abcd"), *clique(*"wxyz")]
    before = find_communities(entities_of("abcdwxyz"), edges)

    after = find_communities(entities_of("abcdewxyz"), [*edges, *clique(*"ae"), *clique(*"be")])

    ids = {community.id for community in before}
    assert [community.id in ids for community in after] == [len(c.entity_ids) == 4 for c in after]
    assert len(after) == len(before) == 2


def test_ends_that_are_no_entity_hold_a_community_together_but_are_no_members() -> None:
    edges = [
        Relationship("1", 0, "a", "phantom", "", 1.0),
        Relationship("2", 1, "phantom", "b", "", 1.0),
        Relationship("3", 2, "ghost", "spectre", "", 1.0),
    ]

    [community] = find_communities(entities_of("ab"), edges)

    assert community.entity_ids == ("id a", "id b")
    assert community.relationship_ids == ("1", "2")


def test_a_graph_without_relationships_has_no_communities() -> None:
    assert find_communities(entities_of("ab"), []) == []
    assert find_communities(entities_of("ab"), [], largest_component_only=True) == []
