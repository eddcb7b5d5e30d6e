"""Names that mean the same entity are merged, and the same extractions give the same graph."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from ragweave.indexing.graph.extraction import parse_extraction
from ragweave.indexing.graph.merge import merge_extractions, records
from ragweave.indexing.graph.names import folded, same_entities
from ragweave.models.graph_schemas import (
    ExtractedClaim,
    ExtractedEntity,
    ExtractedRelationship,
    Extraction,
)
from ragweave.stores.graph import Entity, Relationship


def same(*titles: str, types: tuple[str, ...] = ()) -> bool:
    """Whether all of these names stand for one entity when all of them are in a graph."""
    kinds = [*types, *[""] * len(titles)]
    names = {folded(title): {kind} for title, kind in zip(titles, kinds, strict=False)}
    return len(set(same_entities(names).values())) == 1


@pytest.mark.parametrize(
    "titles",
    [
        ("SCROOGE", "Scrooge", "scrooge"),
        ("The Ghost of Christmas Past", "Ghost of Christmas Past"),
        ("“Old Joe”", "Old Joe", "old  joe."),
        ("Scrooge's", "Scrooge’s", "Scrooge"),
        ("Project Gutenberg™", "Project Gutenberg"),
        ("Christmas-time", "Christmas Time"),
        ("Spirits", "the Spirit"),
        ("Companies", "company"),
        ("Boxes", "box"),
        ("Project Gutenberg Literary Archive Foundation (PGLAF)", "PGLAF"),
        ("World Health Organization (W.H.O.)", "World Health Organization", "W.H.O."),
        ("ＡＢＣ公司", "ABC公司"),
        ("《证券法》", "证券法", "中华人民共和国证券法"),
        ("中国证券监督管理委员会（以下简称证监会）", "证监会"),
        ("全国人民代表大会（全国人大）", "全国人民代表大会", "全国人大"),
    ],
)
def test_names_of_one_entity(titles: tuple[str, ...]) -> None:
    assert same(*titles)


@pytest.mark.parametrize(
    ("titles", "types"),
    [
        (("Adams", "Adam"), ("person", "person")),
        (("Paris (Texas)", "Paris"), ()),
        (("Paris (Texas)", "Texas"), ()),
        (("Mr. Cratchit", "Mrs. Cratchit"), ()),
        (("Banks", "Bank"), ("organization", "geo")),
        (("C", "C++"), ()),
        (("C#", "C"), ()),
        (("Mass", "Mas"), ()),
        (("上海证券交易所", "深圳证券交易所"), ()),
        (("证券", "证券法"), ()),
        (("董事会", "董事"), ()),
        (("PEP 8", "PEP 484"), ()),
    ],
)
def test_names_of_two_entities(titles: tuple[str, ...], types: tuple[str, ...]) -> None:
    assert not same(*titles, types=types)


def entity(title: str, description: str = "", kind: str = "person") -> ExtractedEntity:
    return ExtractedEntity(title=title, type=kind, description=description)


def edge(
    source: str, target: str, description: str = "", strength: float = 1
) -> ExtractedRelationship:
    return ExtractedRelationship(
        source=source, target=target, description=description, strength=strength
    )


def merged(*units: Extraction) -> tuple[list[Entity], list[Relationship]]:
    graph = merge_extractions([(f"u{number}", unit) for number, unit in enumerate(units)])
    entities, relationships, _ = records(graph)
    return entities, relationships


def test_an_entity_keeps_all_that_was_said_under_the_spelling_used_most() -> None:
    units = (
        Extraction(entities=[entity("SCROOGE", "A miser."), entity("Scrooge", "An old man.")]),
        Extraction(entities=[entity("Scrooge", "A miser.", "character")]),
        Extraction(entities=[entity("scrooge", "", "person")]),
    )

    [[scrooge], edges] = merged(*units)

    assert (scrooge.title, scrooge.type, scrooge.number) == ("Scrooge", "person", 0)
    assert scrooge.description == "A miser.\nAn old man."
    assert scrooge.text_unit_ids == ("u0", "u1", "u2")
    assert (scrooge.frequency, scrooge.degree, edges) == (3, 0, [])


def test_relationships_of_one_direction_add_up_and_degrees_count_neighbours() -> None:
    units = (
        Extraction(
            entities=[entity("A"), entity("B"), entity("C")],
            relationships=[edge("A", "B", "one", 2), edge("B", "C")],
        ),
        Extraction(relationships=[edge("a", "b", "two", 3), edge("B", "A", "back")]),
    )

    entities, [forth, _, back] = merged(*units)

    assert (forth.source, forth.target, forth.weight) == ("A", "B", 5)
    assert (forth.description, forth.text_unit_ids) == ("one\ntwo", ("u0", "u1"))
    assert (back.source, back.target, back.text_unit_ids) == ("B", "A", ("u1",))
    assert {item.title: item.degree for item in entities} == {"A": 1, "B": 2, "C": 1}
    assert forth.degree == 3


def test_an_end_that_was_not_extracted_becomes_an_entity() -> None:
    units = (
        Extraction(entities=[entity("A")], relationships=[edge("A", "Ghost", "sees it")]),
        Extraction(relationships=[edge("Ghost", "A", "haunts"), edge("A", "A"), edge("", "A")]),
    )

    entities, relationships = merged(*units)

    ghost = next(item for item in entities if item.title == "Ghost")
    assert (ghost.description, ghost.text_unit_ids) == ("sees it\nhaunts", ("u0", "u1"))
    assert [(item.source, item.target) for item in relationships] == [
        ("A", "Ghost"),
        ("Ghost", "A"),
    ]


def test_claims_are_about_entities_of_the_graph() -> None:
    unit = Extraction(
        entities=[entity("SCROOGE")],
        claims=[
            ExtractedClaim(subject="the Scrooge", description="is mean", status="TRUE"),
            ExtractedClaim(subject="Much good may it do you!"),
        ],
    )

    _, _, [claim] = records(merge_extractions([("u0", unit)]))

    assert (claim.subject, claim.description, claim.text_unit_id) == ("SCROOGE", "is mean", "u0")
    assert (claim.object, claim.covariate_type) == (None, "claim")


def test_known_records_keep_their_numbers_and_new_ones_follow() -> None:
    graph = merge_extractions(
        [("u0", Extraction(entities=[entity("A"), entity("B"), entity("C")]))]
    )
    ids = list(graph.entities)

    entities, _, _ = records(graph, numbers={ids[1]: 7, ids[2]: 3, "gone": 99})

    assert [item.number for item in entities] == [8, 7, 3]


def test_a_summary_takes_the_place_of_what_was_said() -> None:
    graph = merge_extractions([("u0", Extraction(entities=[entity("A", "long")]))])

    [entity_record], _, _ = records(graph, descriptions=dict.fromkeys(graph.entities, "short"))

    assert entity_record.description == "short"


def test_real_extractions_merge_alike_in_any_order(data: Path) -> None:
    path = data / "graphrag/recorded_llm_answers.json"
    answers = json.loads(path.read_text(encoding="utf-8"))
    units = [(key, parse_extraction(answer["return"])) for key, answer in answers.items()]

    entities, relationships, _ = records(merge_extractions(units))
    random.Random(3).shuffle(units)
    again, edges, _ = records(merge_extractions(units))

    assert {item.id: item.title for item in again} == {item.id: item.title for item in entities}
    assert {item.id: item.weight for item in edges} == {
        item.id: item.weight for item in relationships
    }
    assert len({item.title for item in entities}) == len(entities)
    titles = {item.title for item in entities}
    assert all(item.source in titles and item.target in titles for item in relationships)
    spellings = {record.title for _, unit in units for record in unit.entities}
    assert len(spellings) - len(entities) > 40
