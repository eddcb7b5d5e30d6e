"""The command line: what it prints and how it ends, offline."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ragweave.serving.cli.app import run
from ragweave.state.base import Output
from ragweave.state.ingest import IngestOutput
from ragweave.state.records import Source
from tests.integration.commands import Ragweave
from tests.servers import Fault, OpenAIStub, TavilyStub, web_result

PILOT = "Which ships need a pilot?"
SPAIN = "What is the capital of Spain?"


# --- what it prints ---------------------------------------------------------------------------


def test_an_answer_comes_with_steps_sources_and_quotes(ragweave: Ragweave) -> None:
    ended = ragweave("ask", PILOT)
    assert ended.code == 0
    assert re.search(r"s  retrieved +2 chunks for Which ships", ended.err)
    assert "Quoted from the documents, offline: no language model was used." in ended.err
    assert ended.err.endswith("\ncrag: answered; no language model\n")
    answer, sources = ended.out.split("Sources\n")
    assert answer.strip() == "Ships longer than 90 metres need a pilot [1]."
    assert sources.startswith("[1] Harbour rules, docs/harbour.md\n    quote: ")


def test_a_chinese_answer_is_whole(ragweave: Ragweave) -> None:
    ended = ragweave("ask", "灯塔多久闪光一次？", "--quiet")
    assert "灯塔每十二秒闪光一次" in ended.out
    assert "retrieved" not in ended.err


def test_an_answer_as_json(ragweave: Ragweave) -> None:
    ended = ragweave("ask", "-", "--json", stdin=PILOT)
    answer = json.loads(ended.out)
    assert ended.code == 0
    assert set(answer) == {*Output.__annotations__, "technique"}
    assert (answer["technique"], answer["status"]) == ("crag", "answered")
    assert answer["citations"][0]["status"] == "grounded"
    assert answer["messages"][-1]["content"] == answer["answer"]
    assert "retrieved" not in ended.err


def test_a_language_model_is_not_taken_for_quotes(ragweave: Ragweave) -> None:
    with OpenAIStub(lambda request: "Ships longer than 90 metres need a pilot [1].") as model:
        keys = {"OPENAI_API_KEY": "sk-x", "OPENAI_BASE_URL": model.base_url}
        ended = ragweave("ask", PILOT, "-t", "citation", "--model", "openai:m", **keys)
    assert "Quoted" not in ended.err
    assert "citation: answered; 1 model call, " in ended.err


def test_what_is_wrong_with_the_citations_is_shown(ragweave: Ragweave) -> None:
    with OpenAIStub(
        lambda request: "Ships need a pilot [1]. Cats eat 99 mice. So be it [7]."
    ) as model:
        keys = {"OPENAI_API_KEY": "sk-x", "OPENAI_BASE_URL": model.base_url}
        ended = ragweave("ask", PILOT, "-t", "citation", "--model", "openai:m", "-q", **keys)
    assert "\nWithout a citation: Cats eat 99 mice.\n" in ended.out
    assert ended.out.endswith("\nRemoved, since they name no source: [7]\n")


def test_no_evidence_is_said_without_a_model(ragweave: Ragweave) -> None:
    ended = ragweave("ask", SPAIN, "--web", "never", "-q")
    assert ended.err.endswith("\ncrag: no_evidence; no language model\n")
    assert "Quoted" not in ended.err


def test_every_way_to_an_answer_says_that_it_is_quoted(ragweave: Ragweave) -> None:
    for options in (["-t", "longrag"], ["--set", "max_model_calls=0"]):
        ended = ragweave("ask", PILOT, "-q", *options)
        assert "Quoted from the documents, offline" in ended.err
        assert re.search(r"\n\w+: (answered|partial); no language model\n$", ended.err)
        assert re.search(r"need a pilot\.? \[1\]", ended.out)


def test_no_evidence_is_no_error(ragweave: Ragweave) -> None:
    ended = ragweave("ask", SPAIN, "--web", "never", "--json")
    assert ended.code == 0
    assert json.loads(ended.out)["status"] == "no_evidence"


@pytest.mark.parametrize(
    ("arguments", "makes_one"),
    [
        (["ask", PILOT], "ragweave ingest PATH"),
        (["ask", PILOT, "--json"], "ragweave ingest PATH"),
        (["ask", PILOT, "-t", "auto"], "ragweave ingest PATH"),
        (["ask", PILOT, "-t", "drift"], "ragweave graph-index PATH"),
        (["search", PILOT], "ragweave ingest PATH"),
        (["context", PILOT], "ragweave ingest PATH"),
        (["context", PILOT, "-t", "auto"], "ragweave ingest PATH"),
        (["draw", "run", "--ask", PILOT], "ragweave ingest PATH"),
    ],
)
def test_nothing_to_search_is_a_mistake(
    ragweave: Ragweave, tmp_path: Path, arguments: list[str], makes_one: str
) -> None:
    ended = ragweave(*arguments, folder=tmp_path)
    assert f"yet; `{makes_one}` makes one." in ended.err
    assert (ended.code, ended.err.count("\n"), ended.out) == (2, 1, "")


def test_the_web_can_answer_without_an_index(ragweave: Ragweave, tmp_path: Path) -> None:
    with TavilyStub(lambda request: [web_result("Madrid is the capital of Spain.")]) as web:
        keys = {"TAVILY_API_KEY": "tvly-x", "TAVILY_BASE_URL": web.url}
        ended = ragweave("ask", SPAIN, folder=tmp_path, **keys)
    assert (ended.code, "Madrid is the capital of Spain" in ended.out) == (0, True)
    assert "Warning: There is no index at lance:.ragweave/index yet" in ended.err


def test_no_web_is_right_for_every_technique(ragweave: Ragweave) -> None:
    """Whoever swaps the technique need not change the rest of the line."""
    ended = ragweave("ask", PILOT, "-t", "citation", "--web", "never", "--json")
    assert (ended.code, json.loads(ended.out)["status"]) == (0, "answered")


def test_a_search(ragweave: Ragweave) -> None:
    ended = ragweave("search", "tankers berth", "--top-k", "1")
    assert ended.code == 0
    assert re.match(r"1\. Harbour rules, docs/harbour.md  \d\.\d+ relative\n", ended.out)


def test_a_search_as_json(ragweave: Ragweave) -> None:
    found = json.loads(ragweave("search", "灯塔", "--json").out)
    assert list(found) == ["hits"]
    assert set(found["hits"][0]) == set(Source.__annotations__)
    assert found["hits"][0]["path"] == "docs/lighthouse.md"


def test_an_ingest_reports_what_failed(ragweave: Ragweave, tmp_path: Path) -> None:
    (tmp_path / "good.md").write_text("Good text that can be read.", encoding="utf-8")
    (tmp_path / "empty.txt").write_text("")
    ended = ragweave("ingest", "good.md", "empty.txt", folder=tmp_path)
    assert ended.code == 1
    assert ended.err == "empty.txt: is empty\n"
    assert "1 added, 0 unchanged, 0 removed, 1 failed" in ended.out


def test_an_ingest_counts_every_broken_line(ragweave: Ragweave, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"text": "Good."}\n' + "{\n" * 1234)
    ended = ragweave("ingest", "r.jsonl", folder=tmp_path)
    assert ended.code == 1
    assert len(ended.err.splitlines()) == 6
    assert "1 added, 0 unchanged, 0 removed, 1,234 failed" in ended.out


def test_a_path_that_is_not_there_makes_no_index(ragweave: Ragweave, tmp_path: Path) -> None:
    assert ragweave("ingest", "none.md", folder=tmp_path).code == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["ingest", "graph-index"])
def test_a_folder_without_documents_makes_no_index(
    ragweave: Ragweave, tmp_path: Path, command: str
) -> None:
    (tmp_path / "empty").mkdir()
    ended = ragweave(command, "empty", folder=tmp_path)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("ragweave: There is nothing to read in 'empty': no text, Markdown")
    assert ended.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


def test_an_index_of_nothing_is_said_to_be_empty(ragweave: Ragweave, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.txt").write_text("words")
    ragweave("ingest", "docs", folder=tmp_path)
    (tmp_path / "docs/a.txt").unlink()
    assert ragweave("ingest", "docs", folder=tmp_path).out.startswith(
        "0 added, 0 unchanged, 1 removed, 0 failed"
    )
    ended = ragweave("doctor", folder=tmp_path)
    assert re.search(
        r"warning index .*nothing is there yet\.\n +-> ragweave ingest PATH", ended.out
    )


def test_an_ingest_as_json(ragweave: Ragweave, tmp_path: Path) -> None:
    records = [{"body": "Alpha beta.", "key": 1, "year": 2020}, {"body": "Gamma.", "key": 2}]
    lines = "\n".join(json.dumps(record) for record in records)
    (tmp_path / "notes.jsonl").write_text(lines, encoding="utf-8")
    options = ("--text-field", "body", "--id-field", "key", "--filter-field", "year:int", "--json")
    first = json.loads(ragweave("ingest", "notes.jsonl", *options, folder=tmp_path).out)
    assert set(first) == set(IngestOutput.__annotations__)
    assert (first["added"], first["failed"], first["chunks"]) == (2, [], 2)
    again = json.loads(ragweave("ingest", "notes.jsonl", *options, folder=tmp_path).out)
    assert (again["added"], again["unchanged"]) == (0, 2)
    found = ragweave("search", "alpha gamma", "--filter", "year=2020", "--json", folder=tmp_path)
    assert [hit["text"] for hit in json.loads(found.out)["hits"]] == ["Alpha beta."]


def test_documents_are_grouped_into_units(ragweave: Ragweave, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\nText of {name}.", encoding="utf-8")
    ended = ragweave("ingest", ".", "--units", "--set", "max_unit_documents=1", folder=tmp_path)
    assert ended.code == 0
    assert "2 retrieval units of 2 documents" in ended.out
    ended = ragweave("ingest", ".", "--units", "--json", folder=tmp_path)
    assert json.loads(ended.out)["units"]["units"] == 1


def test_documents_are_never_terminal_codes(ragweave: Ragweave, tmp_path: Path) -> None:
    text = "The \x1b[31mpilot\x1b[0m \u202eboards\x9b early\x07. [bold]Pilots[/bold] are brave."
    (tmp_path / "bad.txt").write_text(text, encoding="utf-8")
    ragweave("ingest", "bad.txt", folder=tmp_path)
    shown = [
        ragweave("search", "pilot", "--full", folder=tmp_path),
        ragweave("ask", "When does the pilot board?", folder=tmp_path),
        ragweave("ask", "When does the pilot board?", "--json", folder=tmp_path),
    ]
    for ended in shown:
        assert ended.code == 0
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", ended.out + ended.err)
    assert "[bold]Pilots[/bold]" in shown[0].out


def test_doctor(ragweave: Ragweave) -> None:
    ended = ragweave("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(ended.out)["checks"]}
    assert ended.code == 0
    assert all(set(check) == {"name", "status", "detail", "fix"} for check in checks.values())
    assert checks["index"]["status"] == "ok"
    assert "2 chunks, 256 dimensions" in checks["index"]["detail"]
    assert checks["web search"]["fix"] == "Set TAVILY_API_KEY."


def test_doctor_of_a_graph(ragweave: Ragweave, data: Path) -> None:
    ended = ragweave("doctor", "--index", f"graphrag:{data / 'graphrag/dulce'}")
    assert ended.code == 0
    assert re.search(
        r"ok +index +graphrag:.*: \d+ entities, 10 reports, for local_search", ended.out
    )
    assert ragweave("doctor", "--index", "graphrag:none").code == 1


def test_doctor_says_what_is_wrong(ragweave: Ragweave) -> None:
    with OpenAIStub(api_key="sk-right") as model, TavilyStub(api_key="tvly-right") as web:
        keys = {"OPENAI_API_KEY": "sk-wrong", "OPENAI_BASE_URL": model.base_url}
        keys |= {"TAVILY_API_KEY": "tvly-wrong", "TAVILY_BASE_URL": web.url}
        ended = ragweave("doctor", "--model", "openai:m", "--index", "lance:no", **keys)
    assert ended.code == 1
    lines = ended.out.splitlines()
    assert any(line.startswith("error   model") and "OPENAI_API_KEY" in line for line in lines)
    assert any(line.startswith("error   web search") for line in lines)
    assert any(line.startswith("warning index") for line in lines)
    assert any("-> ragweave ingest PATH --index lance:no" in line for line in lines)


def test_a_drawing(ragweave: Ragweave, tmp_path: Path) -> None:
    assert "grade_document" in ragweave("draw", "crag", folder=tmp_path).out
    ended = ragweave("draw", "crag", "--output", "crag.md", folder=tmp_path)
    assert ended.code == 0
    assert (tmp_path / "crag.md").read_text().startswith("```mermaid\n")


# --- mistakes: one line, exit code 2 ----------------------------------------------------------


MISTAKES: dict[str, tuple[list[str], str]] = {
    "no question": (["ask"], "Missing argument 'question'. See `ragweave ask --help`."),
    "empty question": (["ask", "  "], "The question is empty"),
    "empty query": (["search", ""], "The query is empty"),
    "technique": (["ask", PILOT, "--technique", "carg"], 'no technique "carg". Did you mean crag'),
    "model": (["ask", PILOT, "--model", "gpt-4"], 'There is no chat model "gpt-4"'),
    "model without key": (["ask", PILOT, "--model", "openai:gpt-4.1"], "OPENAI_API_KEY"),
    "index": (["ask", PILOT, "--index", "lance:nowhere"], "There is no index at lance:nowhere"),
    "index kind": (["ask", PILOT, "--index", "elastic:x"], "and graphrag:PATH for local_search"),
    "settings of": (["settings", "drfit"], "Did you mean drift"),
    "search in no index": (["search", "x", "--index", "lance:nowhere"], "lance:nowhere"),
    "tenant": (
        ["search", "x", "--index", "lance:no where?name=a", "--tenant", "nobody"],
        'There is no index at lance:no where?name=a (tenant "nobody"). Make it with '
        "`ragweave ingest PATH --index 'lance:no where?name=a' --tenant nobody`, or name another.",
    ),
    "tenant's graph": (
        ["ask", "x", "-t", "drift", "--index", "lance:no&where", "--tenant", "nobody"],
        "`ragweave graph-index PATH --index 'lance:no&where' --tenant nobody`",
    ),
    "embeddings": (
        ["ask", PILOT, "--embeddings", "openai:x"],
        "was made with embeddings 'offline'",
    ),
    "setting": (["ask", PILOT, "--set", "top_kk=3"], 'no setting of crag "top_kk"'),
    "setting of units": (["ingest", ".", "--units", "--set", "unit_tokes=1"], "unit_tokens"),
    "setting's value": (["ask", PILOT, "--set", "top_k=0"], "greater than or equal to 1"),
    "settings that do not fit": (
        ["ingest", ".", "--chunk-tokens", "64", "--set", "chunk_overlap=63"],
        "ragweave: chunk_overlap can be at most half of chunk_tokens",
    ),
    "setting's form": (["ask", PILOT, "--set", "top_k"], "--set takes name=value"),
    "provider": (["ask", PILOT, "--model", "opena:x"], 'no provider "opena". Did you mean openai'),
    "filter": (["ask", PILOT, "--filter", "nofield=1"], "`ragweave ingest --filter-field nofield:"),
    "option": (["ask", PILOT, "--tpo-k", "3"], "See `ragweave ask --help`."),
    "option of draw": (["draw", "crag", "--otput", "x"], "See `ragweave draw --help`."),
    "option of none": (["--versoin"], "See `ragweave --help`."),
    "value": (["search", "x", "--top-k", "many"], "See `ragweave search --help`."),
    "command": (["aks", PILOT], "No such command 'aks'. Did you mean 'ask'? See `ragweave --help`"),
    "path": (["ingest", "no/such/folder"], "No such file or folder: 'no/such/folder'"),
    "web without a person": (["ask", PILOT, "--web", "ask"], "--web ask needs a terminal to ask"),
    "sources without a person": (
        ["ask", PILOT, "--set", "pick_sources=true"],
        "--set pick_sources needs a terminal to ask on.",
    ),
    "cost without a person": (
        ["ask", PILOT, "-t", "drift", "--set", "approve_above_calls=5"],
        "--set approve_above_calls needs a terminal to ask on.",
    ),
    "web of another": (
        ["ask", PILOT, "-t", "citation", "--web", "always"],
        "never searches the web",
    ),
    "drawing": (["draw", "crag", "--output", "crag.png"], "name it .mmd or .md"),
}


@pytest.mark.parametrize(("arguments", "complaint"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_line(ragweave: Ragweave, arguments: list[str], complaint: str) -> None:
    ended = ragweave(*arguments)
    assert complaint in ended.err
    assert (ended.code, ended.err.count("\n"), ended.out) == (2, 1, "")
    assert ended.err.startswith("ragweave: ")


@pytest.mark.parametrize("command", [["ask", PILOT], ["ingest", "/"], ["doctor"], ["draw", "crag"]])
def test_a_working_folder_that_is_gone(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert run(command) == 2
    assert capsys.readouterr() == (
        "",
        "ragweave: The working folder is gone (deleted or moved away): change to one that "
        "exists.\n",
    )
    assert run(["--help"]) == 0


@pytest.mark.parametrize("size", [32_001, 1_000_000])
def test_a_question_that_is_too_long(ragweave: Ragweave, size: int) -> None:
    ended = ragweave("ask", "-", stdin="a" * size)
    assert f"The question has {size:,} characters" in ended.err
    assert (ended.code, ended.err.count("\n")) == (2, 1)


def test_a_key_that_is_refused(ragweave: Ragweave) -> None:
    with OpenAIStub(api_key="sk-right") as model:
        keys = {"OPENAI_API_KEY": "sk-wrong-secret", "OPENAI_BASE_URL": model.base_url}
        ended = ragweave("ask", PILOT, "--model", "openai:m", "-q", **keys)
    assert "OPENAI_API_KEY" in ended.err
    assert "sk-wrong-secret" not in ended.err
    assert (ended.code, ended.err.count("\n")) == (2, 1)


# --- the outside ------------------------------------------------------------------------------


def test_an_index_out_of_reach_is_a_failure(ragweave: Ragweave) -> None:
    ended = ragweave("search", "x", "--index", "weaviate:http://127.0.0.1:9?grpc_port=9")
    assert ended.code == 1
    assert ended.err.startswith("ragweave: ")
    assert ended.err.count("\n") == 1


def test_a_model_that_fails_is_a_failure(ragweave: Ragweave) -> None:
    with OpenAIStub(lambda request: Fault(400, "unsupported")) as model:
        keys = {"OPENAI_API_KEY": "sk-x", "OPENAI_BASE_URL": model.base_url}
        ended = ragweave("ask", PILOT, "--model", "openai:m", "-q", **keys)
    assert ended.code in (1, 2)
    assert ended.err.splitlines()[-1].startswith("ragweave: ")
