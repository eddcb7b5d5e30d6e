"""In parity mode a local search's context is the one that GraphRAG 3.3.0 builds."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragweave.models.o200k import o200k_counter
from ragweave.nodes.graph_search.context_records import LocalContext
from ragweave.nodes.graph_search.local_context import local_context
from ragweave.state.local_search import ContextLimits
from ragweave.stores.graph import (
    Claim,
    Community,
    Entity,
    GraphTables,
    Neighbour,
    Relationship,
    Report,
    TextUnit,
)
from ragweave.stores.graphrag.folder import GraphRagFolder

pytest.importorskip("bpe_openai", reason="needs the extra graphrag")

SHARES = {"drift_default": (0.9, 0.1), "local_default": (0.5, 0.15), "even": (0.4, 0.3)}
"""Share of text units and of reports, by the name of the budget."""


@pytest.fixture
def recorded(data: Path) -> tuple[list[dict[str, Any]], list[list[float]]]:
    """Contexts that GraphRAG built, and the vectors of their queries, three contexts each."""
    folder = data / "graphrag/parity"
    cases = json.loads((folder / "dulce.json").read_text(encoding="utf-8"))
    archive = np.load(folder / "dulce_queryvecs.npz")
    return cases, [archive[f"q{case // 3}"].tolist() for case in range(len(cases))]


async def test_every_recorded_context_comes_out_the_same(
    data: Path, recorded: tuple[list[dict[str, Any]], list[list[float]]]
) -> None:
    graph = GraphRagFolder(f"graphrag:{data / 'graphrag/dulce'}")
    tables, count = await graph.tables(), await o200k_counter()

    for case, vector in zip(*recorded, strict=True):
        nearest = await graph.nearest_entities(vector, 20)
        text_units, communities = SHARES[case["budget"]]
        limits = ContextLimits(12_000, text_units, communities, 10, 2)

        context = local_context(tables, nearest, limits, count, mode="graphrag")

        mapped = [str(tables.entity_by_id[hit.id].number) for hit in nearest]
        assert mapped == case["mapped_short_ids"]
        assert [hit.score for hit in nearest] == pytest.approx(case["scores"], abs=2e-5)
        for name in ("reports", "entities", "relationships", "sources"):
            assert context.numbers(name) == case[name], (case["query"], case["budget"], name)
        assert list(context.tokens.values()) == list(case["tokens"].values())
        assert hashlib.sha256(context.text.encode()).hexdigest() == case["sha256"]
    assert len(recorded[0]) == 9


def graph_of(
    *edges: tuple[str, str, int], communities: dict[int, str] | None = None, level: int = 0
) -> GraphTables:
    """A graph of (source, target, combined degree), whose entities are single letters."""
    titles = sorted({title for source, target, _ in edges for title in (source, target)})
    entities = tuple(
        Entity(title, number, title, "", f"about {title}", (f"u{number}",), 1, number)
        for number, title in enumerate(titles)
    )
    groups = communities or {0: "".join(titles)}
    return GraphTables(
        entities=entities,
        relationships=tuple(
            Relationship(f"r{number}", number, source, target, f"{source} to {target}", 1.0, degree)
            for number, (source, target, degree) in enumerate(edges)
        ),
        text_units=tuple(TextUnit(f"u{n}", n, f"text {n}", 2, None) for n in range(len(titles))),
        communities=tuple(
            Community(f"c{number}", number, number, level, -1, (), "", tuple(members))
            for number, members in groups.items()
        ),
        reports=tuple(
            Report(f"p{number}", number, number, level, -1, (), "", "", f"report {number}", 5.0)
            for number in groups
        ),
    )


def built(graph: GraphTables, *found: str, claims: bool = False) -> LocalContext:
    """The parity context for entities found, with one token a character."""
    limits = ContextLimits(4_000, 0.25, 0.25, claims=claims)
    nearest = [Neighbour(title, 1.0) for title in found]
    return local_context(
        graph, nearest, limits, lambda texts: [len(text) for text in texts], "graphrag"
    )


def test_relationships_inside_come_first_then_the_outer_end_shared_by_most() -> None:
    graph = graph_of(("a", "x", 9), ("a", "b", 1), ("y", "a", 5), ("b", "y", 4), ("c", "d", 99))

    context = built(graph, "a", "b")

    assert context.numbers("relationships") == ["1", "2", "3", "0"]


def test_the_column_of_links_is_there_if_the_first_row_ever_had_a_figure() -> None:
    with_figure = graph_of(("a", "b", 1), ("a", "x", 2))
    without = graph_of(("a", "b", 1))

    assert "weight|links\n" in built(with_figure, "a", "b").text
    assert "weight\n" in built(without, "a", "b").text


def test_reports_that_count_the_same_keep_the_order_of_mention() -> None:
    graph = graph_of(("a", "b", 1), communities={8: "b", 1: "a", 16: "b"})

    assert built(graph, "b", "a").numbers("reports") == ["8", "16", "1"]
    assert built(graph, "a", "b").numbers("reports") == ["1", "8", "16"]


def test_an_entity_of_no_community_at_the_level_is_not_shown() -> None:
    graph = graph_of(("a", "b", 1), communities={0: "a"})
    deep = graph_of(("a", "b", 1), level=3)

    assert built(graph, "b", "a").numbers("entities") == ["0"]
    assert built(deep, "a", "b").text == ""


def test_an_end_that_is_no_entity_is_still_a_relationship() -> None:
    graph = graph_of(("a", "b", 1), ("a", "phantom", 7))
    known = tuple(entity for entity in graph.entities if entity.title != "phantom")
    graph = replace(graph, entities=known)

    assert built(graph, "a").numbers("relationships") == ["1", "0"]


def test_claims_share_the_budget_of_the_entities_that_they_are_about() -> None:
    graph = graph_of(("a", "b", 1))
    claims = tuple(
        Claim(f"k{number}", number, "claim", None, "x" * size, "a")
        for number, size in enumerate((100, 700, 2_000))
    )
    graph = replace(graph, claims=claims)

    assert built(graph, "a", claims=True).numbers("claims") == ["0", "1"]
    assert built(graph, "a").numbers("claims") == []
    assert "-----Claims-----\nid|entity|object_id|" in built(graph, "a", claims=True).text


def test_no_report_that_fits_leaves_the_list_that_graphrag_shows() -> None:
    graph = graph_of(("a", "b", 1))
    limits = ContextLimits(1_000, 0.5, 0.0)

    context = local_context(
        graph,
        [Neighbour("a", 1.0)],
        limits,
        lambda texts: [len(text) for text in texts],
        "graphrag",
    )

    assert context.text.startswith("[]\n\n-----Entities-----\n")
    assert context.tokens["reports"] == 2
