"""`ragweave draw graph` and `ragweave draw run`: pages, and mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.graphs.drift_script import DriftScript
from tests.integration.commands import Ragweave
from tests.servers import OpenAIStub

MISSION = "What is the squad's mission?"
PILOT = "Which ships need a pilot?"


def drift(data: Path) -> list[str]:
    """A DRIFT search of a small graph, with a model that is served by a stub."""
    settings = {"drift_k_followups": 2, "n_depth": 2, "similar_above": 1, "stop_when_flat": "false"}
    options = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    models = ["--set", "embeddings=offline", "--set", "model=openai:m"]
    return ["-t", "drift", "--index", f"graphrag:{data / 'graphrag/dulce'}", *models, *options]


@pytest.fixture
def scripted(openai_stub: OpenAIStub) -> None:
    openai_stub.script = DriftScript()


def test_a_graph_becomes_a_page(ragweave: Ragweave, data: Path, tmp_path: Path) -> None:
    index = f"graphrag:{data / 'graphrag/dulce'}"

    ended = ragweave("draw", "graph", "--index", index, folder=tmp_path)

    assert (ended.code, ended.out) == (0, "Written to graph.html\n")
    page = (tmp_path / "graph.html").read_text(encoding="utf-8")
    assert page.count('"reported":true') == 10
    assert "PARANORMAL MILITARY SQUAD" in page


@pytest.mark.usefixtures("scripted")
def test_a_saved_run_becomes_a_page(ragweave: Ragweave, data: Path, tmp_path: Path) -> None:
    ended = ragweave("ask", MISSION, *drift(data), "--json", folder=tmp_path)
    tree = json.loads(ended.out)["tree"]
    answered = [node for node in tree["nodes"] if node["status"] == "answered"]
    assert len(answered) >= 5

    drawn = ragweave("draw", "run", "-", "-o", "a.html", folder=tmp_path, stdin=ended.out)

    assert (drawn.code, drawn.out) == (0, "Written to a.html\n")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert page.count('<details class="answered"') == len(answered)
    assert "What is the squad&#x27;s mission?" in page


@pytest.mark.slow
@pytest.mark.usefixtures("scripted")
def test_a_run_is_drawn_as_it_is_asked(ragweave: Ragweave, data: Path, tmp_path: Path) -> None:
    ended = ragweave("draw", "run", "--ask", MISSION, *drift(data), folder=tmp_path)

    assert ended.out == "Written to run.html\n"
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert page.count('<details class="answered"') >= 5
    assert "<td>primed</td>" in page


def test_a_run_of_another_technique_has_no_tree(ragweave: Ragweave, tmp_path: Path) -> None:
    saved = ragweave("ask", PILOT, "--json").out

    ragweave("draw", "run", "-", folder=tmp_path, stdin=saved)

    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert "Questions followed" not in page
    assert '<a href="#source-1">[1]</a>' in page


def test_a_run_of_auto_is_drawn(ragweave: Ragweave, harbour: Path, tmp_path: Path) -> None:
    index = f"lance:{harbour / '.ragweave/index'}"

    ended = ragweave("draw", "run", "--ask", PILOT, "-t", "auto", "--index", index, folder=tmp_path)

    assert (ended.code, ended.out) == (0, "Written to run.html\n")
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert "<td>routed</td>" in page
    assert "Ships longer than 90 metres need a pilot" in page


MISTAKES: dict[str, tuple[list[str], str]] = {
    "no graph": (["graph", "--index", "lance:none"], "lance:none"),
    "name": (["graph", "-o", "a.png", "--index", "graphrag:{dulce}"], "name it .html"),
    "no run": (["run"], "Give a file"),
    "no file": (["run", "none.json"], "none.json cannot be read"),
    "no JSON": (["run", "text.json"], "text.json is no JSON"),
    "no answer": (["run", "other.json"], "other.json holds no answer"),
    "no object": (["run", "list.json"], "list.json holds no answer"),
    "technique": (["carg"], "Did you mean crag"),
}


@pytest.mark.parametrize(("arguments", "complaint"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_line(
    ragweave: Ragweave, data: Path, tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    for name, text in {"text": "no", "other": '{"answer": 3}', "list": "[]"}.items():
        (tmp_path / f"{name}.json").write_text(text, encoding="utf-8")
    dulce = str(data / "graphrag/dulce")

    ended = ragweave("draw", *(a.format(dulce=dulce) for a in arguments), folder=tmp_path)

    assert complaint in ended.err
    assert (ended.code, ended.err.count("\n"), ended.out) == (2, 1, "")
