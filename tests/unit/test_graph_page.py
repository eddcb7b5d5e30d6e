"""The picture of a knowledge graph: whole, of one file, and with nothing in it that can act."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from ragweave.serving.drawing.graph_page import graph_data, graph_page
from ragweave.stores.graph import Community, Entity, Finding, GraphTables, Relationship, Report
from ragweave.stores.graphrag.folder import GraphRagFolder

EVIL = "</script><img src=x onerror=alert(1)> \u2028 \ud800"


def small(text: str = "about it") -> GraphTables:
    """Two communities, one within the other, an entity outside, an end that is no entity."""
    entities = tuple(
        Entity(title, number, title, "person", text, (), 1, degree)
        for number, (title, degree) in enumerate({"a": 2, "b": 1, "loner": 0}.items())
    )
    edges = (("a", "b"), ("a", "phantom"))
    return GraphTables(
        entities=entities,
        relationships=tuple(
            Relationship(f"r{number}", number, *ends, text) for number, ends in enumerate(edges)
        ),
        communities=(
            Community("c0", 0, 0, 0, -1, (7,), "Community 0", ("a", "b")),
            Community("c7", 1, 7, 1, 0, (), "Community 7", ("a",)),
        ),
        reports=(
            Report(
                *("p0", 0, 0, 0, -1, (), text, "in short", f"# {text}"),
                rank=5.0,
                findings=(Finding("what", text),),
            ),
        ),
    )


async def test_every_community_and_entity_has_its_place(data: Path) -> None:
    graph = await GraphRagFolder(f"graphrag:{data / 'graphrag/carol'}").tables()

    drawn = graph_data(graph)

    communities, entities = drawn["communities"], drawn["entities"]
    assert (len(communities), len(entities), len(drawn["edges"])) == (122, 529, 978)
    assert all(community["reported"] for community in communities)
    for inner in [*communities, *entities]:
        parent = inner.get("parent", inner.get("home"))
        if parent >= 0:
            assert inside(inner, communities[parent]), inner["title"]


def inside(inner: dict[str, Any], outer: dict[str, Any]) -> bool:
    distance: float = math.hypot(inner["x"] - outer["x"], inner["y"] - outer["y"])
    return bool(distance + inner["r"] <= outer["r"] + 0.5)


def test_what_is_drawn() -> None:
    drawn = graph_data(small())

    assert [item["parent"] for item in drawn["communities"]] == [-1, 0]
    assert [item["home"] for item in drawn["entities"]] == [1, 0, -1]
    assert [item["reported"] for item in drawn["communities"]] == [True, False]
    assert drawn["edges"] == [[0, 1, "about it"], [0, "phantom", "about it"]]
    assert drawn["communities"][0]["findings"] == [["what", "about it"]]


def test_an_empty_graph_has_a_page() -> None:
    assert '"communities":[]' in graph_page(GraphTables(), "lance:none")


def test_a_parent_that_is_none_leaves_a_community_outside() -> None:
    circular = GraphTables(
        communities=(
            Community("c0", 0, 0, 0, 1, (), "zero"),
            Community("c1", 1, 1, 0, 0, (), "one"),
        )
    )

    assert [item["parent"] for item in graph_data(circular)["communities"]] == [-1, -1]


def test_text_of_documents_is_data_and_nothing_is_loaded() -> None:
    html = graph_page(small(EVIL), f"lance:{EVIL}".replace("\ud800", ""))

    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert found
    shown = json.loads(found[1])["entities"][0]["text"]
    assert shown.startswith("</script><img src=x onerror=alert(1)> \u2028")
    assert "<img" not in html
    assert html.count("<script") == html.count("</script>") == 2
    assert not re.search(r"(?:src|href)=\"?(?:https?:)?//|@import|url\(", html)
    assert re.search(r"default-src 'none'; script-src 'sha256-[\w+/=]+'; style-src 'sha256-", html)


@pytest.mark.slow
async def test_a_large_graph_is_drawn_in_time(data: Path) -> None:
    communities = tuple(
        Community(
            f"c{n}", n, n, 0, -1, (), f"community {n}", tuple(f"e{n * 10 + i}" for i in range(10))
        )
        for n in range(2_000)
    )
    entities = tuple(
        Entity(f"e{n}", n, f"entity {n}", "", "", degree=n % 40) for n in range(20_000)
    )

    drawn = graph_data(GraphTables(entities=entities, communities=communities))

    assert len(drawn["entities"]) == 20_000
    assert all(inside(one, drawn["communities"][one["home"]]) for one in drawn["entities"])
