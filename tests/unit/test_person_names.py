"""A person's full name and surname are joined only where nobody else is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.indexing.graph.merge import merge_extractions
from ragweave.indexing.graph.names import folded, same_entities
from ragweave.indexing.person_names import surnames
from ragweave.models.graph_schemas import ExtractedEntity, Extraction
from ragweave.stores.graphrag.folder import GraphRagFolder

JOINED = {
    "surname": ["Ebenezer Scrooge", "Scrooge"],
    "surname and title": ["Ebenezer Scrooge", "Mr. Scrooge", "Scrooge"],
    "title and full name": ["Dr. John Watson", "Watson"],
    "others have other words": ["Jacob Marley", "Marley", "Ebenezer Scrooge"],
    "family and age are no names": ["Ebenezer Scrooge", "Scrooge", "Young Scrooge"],
    "possessive is another": ["Jacob Marley", "Marley", "Marley's Ghost"],
}
APART = {
    "two of one surname": ["Bob Cratchit", "Martha Cratchit", "Cratchit"],
    "a couple": ["Bob Cratchit", "Mrs. Cratchit", "Cratchit"],
    "Mrs. alone": ["Mrs. Fezziwig", "Fezziwig"],
    "first name": ["Joe Miller", "Joe"],
    "no names": ["Three Spirits", "Spirits", "Scrooge's Clerk", "Clerk", "Lord Mayor", "Mayor"],
    "middle name": ["Martin Luther King", "Luther"],
    "no name alone": ["Bob Cratchit", "Tim Cratchit"],
    "three words": ["Half Asleep Topper", "Topper"],
    "part of a word": ["Ebenezer Scrooge", "Scroog"],
}


def joined(names: list[str]) -> dict[str, str]:
    return same_entities({folded(name): {"person"} for name in names})


@pytest.mark.parametrize("names", JOINED.values(), ids=JOINED)
def test_the_same_person(names: list[str]) -> None:
    groups = joined(names)

    assert groups[folded(names[0])] == groups[folded(names[1])]


@pytest.mark.parametrize("names", APART.values(), ids=APART)
def test_somebody_else(names: list[str]) -> None:
    assert len(set(joined(names).values())) == len(names)


def test_vague_names_are_left_alone() -> None:
    groups = joined(["Ebenezer Scrooge", "Scrooge", "Young Scrooge", "Scrooge Family"])

    assert len(set(groups.values())) == 3


async def test_real_graphs_join_whom_they_should(data: Path) -> None:
    joined_there = []
    for name in ("carol", "dulce"):
        tables = await GraphRagFolder(f"graphrag:{data / 'graphrag' / name}").tables()
        kinds: dict[str, set[str]] = {}
        for entity in tables.entities:
            kinds.setdefault(folded(entity.title), set()).add(folded(entity.type))
        joined_there += sorted(surnames(kinds))

    assert joined_there == [
        ("ebenezer scrooge", "scrooge"),
        ("jacob marley", "marley"),
        ("mr. scrooge", "scrooge"),
        ("sam rivera", "rivera"),
        ("taylor cruz", "cruz"),
    ]


def test_only_persons_are_joined() -> None:
    kinds = {"george washington": {"person"}, "washington": {"place"}, "george": {"person", "work"}}

    assert len(set(same_entities(kinds).values())) == 3


def test_what_is_said_of_both_is_said_of_one() -> None:
    def unit(*titles: str) -> Extraction:
        return Extraction(
            entities=[
                ExtractedEntity(title=title, type="PERSON", description=f"{title} is cold.")
                for title in titles
            ]
        )

    units = [("u0", unit("Scrooge", "Bob Cratchit")), ("u1", unit("Ebenezer Scrooge", "Scrooge"))]
    merged = merge_extractions(units)
    alone = merge_extractions(units[:1])

    scrooge = next(one for one in merged.entities.values() if one.title == "Scrooge")
    assert len(merged.entities) == 2
    assert scrooge.description == "Scrooge is cold.\nEbenezer Scrooge is cold."
    assert {one.title for one in alone.entities.values()} == {"Scrooge", "Bob Cratchit"}
