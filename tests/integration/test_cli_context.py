"""`ragweave context`: what the model would see, and that no model is called for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.integration.commands import Ragweave

PILOT = "Which ships need a pilot?"
PARITY: dict[str, list[str]] = {
    "drift_default": ["--technique", "drift"],
    "local_default": ["--technique", "local_search"],
    "even": [
        *("--technique", "local_search", "--text-unit-prop", "0.4"),
        *("--community-prop", "0.3", "--max-context-tokens", "12000"),
    ],
}
"""What to say for the contexts that GraphRAG 3.3.0 built, by the name of their budget."""


CASES = [pytest.param(case, marks=[] if case % 4 == 0 else pytest.mark.slow) for case in range(9)]


@pytest.mark.parametrize("case", CASES)
def test_the_context_is_the_one_that_graphrag_builds(
    ragweave: Ragweave, data: Path, tmp_path: Path, case: int
) -> None:
    pytest.importorskip("bpe_openai", reason="needs the extra graphrag")
    folder = data / "graphrag/parity"
    theirs = json.loads((folder / "dulce.json").read_text(encoding="utf-8"))[case]
    np.save(tmp_path / "q.npy", np.load(folder / "dulce_queryvecs.npz")[f"q{case // 3}"])

    ended = ragweave(
        *("context", theirs["query"], *PARITY[theirs["budget"]]),
        *("--index", f"graphrag:{data / 'graphrag/dulce'}", "--context-mode", "graphrag"),
        *("--query-vector", "q.npy", "--json"),
        folder=tmp_path,
    )

    mine = json.loads(ended.out)
    for table in ("entities", "relationships", "reports", "sources"):
        assert mine[table] == theirs[table], table
    assert list(mine["tokens"].values()) == list(theirs["tokens"].values())
    assert (mine["total_tokens"], mine["text"]) == (theirs["tokens_total"], theirs["text"])


@pytest.mark.parametrize("technique", ["crag", "rag_fusion", "longrag", "citation"])
def test_sources_of_the_answering_call(ragweave: Ragweave, technique: str) -> None:
    # A call to this model would leave the machine, which fails the test.
    options = ("--technique", technique, "--set", "model=openai:m", "--json")
    shown = json.loads(ragweave("context", PILOT, *options, OPENAI_API_KEY="sk-none").out)

    assert shown["technique"] == technique
    assert any(source.startswith("docs/harbour.md") for source in shown["sources"])
    assert "Ships longer than 90 metres need a pilot." in shown["text"]
    assert shown["total_tokens"] == shown["tokens"]["sources"] > 0
    assert not any("budget" in warning for warning in shown["warnings"])


def test_the_text_is_what_is_printed(ragweave: Ragweave) -> None:
    ended = ragweave("context", "灯塔多久闪光一次？", "--technique", "citation")

    assert ended.code == 0
    assert ended.out.startswith('<source number="1" title="')
    assert "灯塔每十二秒闪光一次" in ended.out
    assert "citation: " in ended.err


def test_nothing_found_shows_nothing(ragweave: Ragweave) -> None:
    ended = ragweave("context", "xyzzy", "--set", "search_mode=keyword", "--json")
    shown: dict[str, Any] = json.loads(ended.out)

    assert (shown["sources"], shown["text"], shown["total_tokens"]) == ([], "", 0)


def test_auto_shows_what_the_technique_that_it_picks_would(ragweave: Ragweave) -> None:
    picked = json.loads(ragweave("context", PILOT, "-t", "auto", "--top-k", "1", "--json").out)
    named = ragweave("context", PILOT, "-t", picked["technique"], "--top-k", "1", "--json")

    assert picked["reason"]
    assert {**picked, "reason": None} == json.loads(named.out)
    assert len(picked["sources"]) == 1
    assert "auto picked citation: " in ragweave("context", PILOT, "-t", "auto").err


MISTAKES: dict[str, tuple[list[str], str]] = {
    "no file": (["--query-vector", "none.npy"], "none.npy cannot be read"),
    "no array": (["--query-vector", "text.npy"], "text.npy is no .npy file of numbers"),
    "a matrix": (["--query-vector", "two.npy"], "two.npy must hold one vector"),
    "words": (["--query-vector", "words.npy"], "words.npy must hold one vector"),
    "a vector without a graph": (["--query-vector", "one.npy"], "not for crag"),
    "a graph's option": (["--context-mode", "graphrag"], 'no setting of crag "context_mode"'),
    "no graph": (["--technique", "drift", "--index", "lance:none"], "lance:none"),
    "technique": (["--technique", "drfit"], "Did you mean drift"),
    "shares": (
        ["-t", "drift", "--text-unit-prop", "0.9", "--community-prop", "0.9"],
        "must be at most 1",
    ),
}


@pytest.mark.parametrize(("options", "complaint"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_line(
    ragweave: Ragweave, tmp_path: Path, options: list[str], complaint: str
) -> None:
    (tmp_path / "text.npy").write_text("0.1, 0.2", encoding="utf-8")
    for name, array in {"one": [1.0, 2.0], "two": [[1.0], [2.0]], "words": ["a"]}.items():
        np.save(tmp_path / f"{name}.npy", np.array(array))

    ended = ragweave("context", PILOT, *options, folder=tmp_path)

    assert complaint in ended.err
    assert (ended.code, ended.err.count("\n"), ended.out) == (2, 1, "")
