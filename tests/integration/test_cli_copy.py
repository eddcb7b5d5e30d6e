"""The command line on Weaviate: copying there and back, and ingesting in parts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragweave.serving.cli.app import run
from tests.weaviate_fixtures import NewIndex

SHIPS = (
    "The Aurora sails to Port Vale. Captain Brandt commands the Aurora.",
    "Port Vale trades with Karlsburg. Mayor Linde rules Port Vale.",
    "Captain Brandt met Mayor Linde in Karlsburg. The Aurora was repaired there.",
)

Called = tuple[int, str, str]
Ragweave = Callable[..., Called]


@pytest.fixture
def ragweave(
    harbour: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Ragweave:
    """Runs a command in the folder with an index; its exit code, output and errors."""
    monkeypatch.chdir(harbour)

    def call(*arguments: str) -> Called:
        code = run(list(arguments))
        return (code, *capsys.readouterr())

    return call


def printed(called: Called) -> Any:
    """The JSON that a command printed."""
    assert called[0] == 0, called[2]
    return json.loads(called[1])


def test_an_index_moves_there_and_back(
    ragweave: Ragweave, new_index: NewIndex, tmp_path: Path
) -> None:
    there, back = new_index(), f"lance:{tmp_path / 'back'}"

    report = printed(ragweave("copy", "lance:.ragweave/index", there, "--json"))
    code, out, _ = ragweave("copy", there, back)

    assert (report["documents"], report["unchanged"], report["graph"]) == (2, 0, None)
    assert code == 0
    assert out.startswith(f"2 documents, {report['chunks']} chunks and 0 parents copied, 0 unchang")
    hits = [
        printed(ragweave("search", "灯塔", "--index", name, "--json"))["hits"]
        for name in ("lance:.ragweave/index", there, back)
    ]
    assert hits[0][0]["path"] == "docs/lighthouse.md"
    assert [[hit["id"] for hit in found] for found in hits[1:]] == [[h["id"] for h in hits[0]]] * 2


def test_a_graph_is_built_in_weaviate_and_asked(
    ragweave: Ragweave, new_index: NewIndex, tmp_path: Path
) -> None:
    for number, text in enumerate(SHIPS):
        (tmp_path / f"{number}.md").write_text(text)
    place = ("--index", new_index(), "--json")

    built = printed(ragweave("graph-index", str(tmp_path), *place))
    answer = printed(
        ragweave("ask", "Where was the Aurora repaired?", "-t", "local_search", *place)
    )

    assert built["entities"] > 0
    assert answer["status"] == "answered"
    assert "Karlsburg" in answer["answer"] or "repaired" in answer["answer"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("lance:nowhere", "lance:other"), "There is no index at lance:nowhere"),
        (("lance:.ragweave/index", "lance:.ragweave/index"), "cannot be copied to itself"),
        (("lance:.ragweave/index", "graphrag:out"), "can hold a knowledge graph only"),
        (("graphrag:nowhere", "lance:other"), "No folder nowhere"),
    ],
)
def test_a_mistake_is_one_line(
    ragweave: Ragweave, arguments: tuple[str, str], complaint: str
) -> None:
    code, out, err = ragweave("copy", *arguments)
    assert complaint in err
    assert (code, out, err.count("\n")) == (2, "", 1)


def test_parts_together_are_the_whole(
    ragweave: Ragweave, new_index: NewIndex, tmp_path: Path
) -> None:
    (tmp_path / "notes").mkdir()
    for number in range(9):
        (tmp_path / "notes" / f"{number}.md").write_text(f"Note {number} of nine.")
    name = new_index()

    parts = [
        printed(
            ragweave(
                "ingest", str(tmp_path / "notes"), "--index", name, "--part", f"{part}/3", "--json"
            )
        )
        for part in (1, 2, 3)
    ]

    assert sum(part["added"] for part in parts) == 9
    assert max(part["added"] for part in parts) < 9
    whole = printed(ragweave("ingest", str(tmp_path / "notes"), "--index", name, "--json"))
    assert (whole["added"], whole["unchanged"]) == (0, 9)
    code, _, err = ragweave("ingest", "docs", "--part", "4/3")
    assert "part 4/3 does not exist" in err
    assert code == 2
