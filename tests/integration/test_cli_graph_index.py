"""`ragweave graph-index`: a dry run, a build, an update, a delete, and what is said of them."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from ragweave.state.graph_index import GraphIndexOutput
from tests.graphs.graph_script import GraphScript, asked
from tests.integration.commands import Ragweave
from tests.servers import OpenAIStub

LAW = "law_zh/证券投资基金法.md"
PEPS = ("pep-0604.rst", "pep-0530.rst")


@pytest.fixture
def folder(data: Path, tmp_path: Path) -> Path:
    """A working folder with two real documents."""
    (tmp_path / "docs").mkdir()
    for name in PEPS:
        shutil.copy(data / "demo/peps" / name, tmp_path / "docs")
    return tmp_path


@pytest.fixture
def stub(openai_stub: OpenAIStub) -> OpenAIStub:
    openai_stub.script = GraphScript()
    return openai_stub


MODEL = ("--model", "openai:m", "--index", "lance:index")


def test_a_dry_run_says_what_it_would_cost_and_makes_nothing(
    ragweave: Ragweave, folder: Path, stub: OpenAIStub
) -> None:
    ended = ragweave(
        *("graph-index", "docs", *MODEL, "--dry-run", "--price", "0.40/1.60"),
        *("--set", "gleanings=1"),
        folder=folder,
    )

    assert ended.code == 0
    said = re.fullmatch(
        r"2 new or changed, 0 unchanged, 0 to remove, 0 failed; about (\d+) model calls \((.*)\), "
        r"([\d,]+) tokens in and ([\d,]+) out, \$0\.(\d\d)\n",
        ended.out,
    )
    assert said
    stages = {name: int(calls) for name, calls in (part.split() for part in said[2].split(", "))}
    assert int(said[1]) == sum(stages.values())
    assert stages["extract"] % 2 == 0
    assert stages["report"] > 0
    assert int(said[5]) > 0
    assert "summaries and reports estimated." in ended.err
    assert stub.chats == []
    assert not (folder / "index").exists()


def test_without_a_model_a_dry_run_costs_nothing(ragweave: Ragweave, folder: Path) -> None:
    ended = ragweave("graph-index", "docs", "--index", "lance:index", "--dry-run", folder=folder)

    assert "about 0 model calls, 0 tokens in and 0 out\n" in ended.out
    assert not (folder / "index").exists()


@pytest.mark.slow
def test_a_build_tells_its_progress_by_stage(
    ragweave: Ragweave, folder: Path, stub: OpenAIStub
) -> None:
    ended = ragweave("graph-index", "docs", *MODEL, "--price", "1/1", folder=folder)

    kinds = asked(stub.chats)
    units, reports = kinds["Extraction"], kinds["CommunityReport"]
    stages = re.findall(r"^(\w+) (\d+)/(\d+), ([\d,]+) calls, ([\d,]+) tokens$", ended.err, re.M)
    assert [(name, int(done)) for name, done, *_ in stages[:1]] == [("Extracting", units)]
    assert sum(int(done) for name, done, *_ in stages if name == "Reporting") == reports
    calls = len(stub.chats)
    assert int(stages[-1][3]) == calls
    assert re.search(
        rf"2 added, .* {reports} reports .*; {calls} model calls, .*, \$0\.", ended.out
    )


def test_offline_update_and_delete(ragweave: Ragweave, data: Path, folder: Path) -> None:
    index = ("--index", "lance:index", "--json")
    first = json.loads(ragweave("graph-index", "docs", *index, folder=folder).out)
    assert set(first) == set(GraphIndexOutput.__annotations__)
    assert (first["added"], first["failed"], first["usage"]["calls"]) == (2, [], 0)
    assert first["entities"] > 5
    assert first["reports"] == first["communities"] > 0

    shutil.copy(data / "demo" / LAW, folder / "docs")
    more = json.loads(ragweave("graph-index", "docs", *index, folder=folder).out)
    assert (more["added"], more["unchanged"]) == (1, 2)
    assert more["entities"] > first["entities"]

    law = f"docs/{Path(LAW).name}"
    (folder / law).unlink()
    gone = json.loads(ragweave("graph-index", "--delete", law, *index, folder=folder).out)
    assert gone["removed"] == 1
    again = ragweave("graph-index", "--delete", law, *index, folder=folder)
    assert (again.code, json.loads(again.out)["removed"]) == (2, 0)
    mistaken = ragweave("graph-index", "--delete", law, *index[:2], folder=folder)
    assert mistaken.err == (
        f"ragweave: Nothing to delete was found by the name {law!r}: give the id of a document, or "
        "its path as it was when it was indexed.\n"
    )
    assert (mistaken.code, mistaken.out) == (2, "")
    pep = f"docs/{PEPS[0]}"
    some = ("graph-index", "--delete", "nosuch", "--delete", pep, "--dry-run", *index[:2])
    one = ragweave(*some, folder=folder)
    assert (one.code, "1 to remove" in one.out) == (0, True)
    assert "Warning: Nothing to delete was found by the name 'nosuch': " in one.err
    counts = ("entities", "relationships", "communities", "reports")
    assert [gone[name] for name in counts] == [first[name] for name in counts]

    shown = json.loads(
        ragweave("context", "What is a union?", "-t", "local_search", *index, folder=folder).out
    )
    assert shown["entities"]


MISTAKES: dict[str, tuple[list[str], str]] = {
    "nothing": ([], "Nothing to index"),
    "path": (["none"], "No such file or folder: 'none'"),
    "no graph": (
        ["--delete", "nosuch", "--index", "lance:none"],
        "lance:none has no knowledge graph. Make it with `ragweave graph-index PATH --index",
    ),
    "price": (["docs", "--price", "cheap"], "--price takes IN/OUT"),
    "setting": (["docs", "--set", "gleaning=1"], "Did you mean gleanings"),
    "read only": (["docs", "--index", "graphrag:{dulce}"], "GraphRAG"),
}


@pytest.mark.parametrize(("arguments", "complaint"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_line(
    ragweave: Ragweave, data: Path, folder: Path, arguments: list[str], complaint: str
) -> None:
    dulce = str(data / "graphrag/dulce")

    ended = ragweave("graph-index", *(a.format(dulce=dulce) for a in arguments), folder=folder)

    assert complaint in ended.err
    assert (ended.err.count("\n"), ended.out) == (1, "")
    assert ended.code in (1, 2)
