"""Which files are found, what they are known as, and what is done about the rest."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from langchain_core.documents import Document

from ragweave.indexing.document import LoadedDocument, LoadFailure, Skipped, Unreadable
from ragweave.indexing.loading.files import FoundFile, check_paths, exists, find_files, is_below
from ragweave.indexing.loading.load import LoadSettings, load
from ragweave.indexing.loading.memory import from_memory
from ragweave.indexing.loading.worker import ParserProcess
from ragweave.state.errors import InvalidSetting


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("b.md", "a.txt", "README", "sub/c.rst", ".hidden/x.md", ".dot.md", "photo.png"):
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"words of {name}")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "docs"


def found(*paths: str) -> list[str]:
    return [item.path for item in find_files(check_paths(paths))]


def test_known_kinds_are_found_in_a_stable_order_and_hidden_ones_are_not(folder: Path) -> None:
    assert found("docs") == ["docs/README", "docs/a.txt", "docs/b.md", "docs/sub/c.rst"]


def test_a_file_given_twice_or_below_a_folder_comes_once(folder: Path) -> None:
    assert found("docs/a.txt", "./docs//a.txt", "docs/sub/../a.txt") == ["docs/a.txt"]
    assert found("docs/sub/c.rst", "docs") == found("docs")


def test_a_file_named_itself_is_tried_whatever_its_suffix(folder: Path) -> None:
    (folder / "notes.xyz").write_text("plain words")
    [document] = load(["docs/notes.xyz"], LoadSettings())
    assert isinstance(document, LoadedDocument)
    assert document.text == "plain words"


def test_link_loops_end_and_dangling_links_are_failures(folder: Path) -> None:
    (folder / "sub" / "loop").symlink_to(folder)
    (folder / "gone.md").symlink_to(folder / "nothing.md")
    items = list(find_files(["docs"]))
    assert [item.path for item in items if isinstance(item, FoundFile)] == [
        "docs/README",
        "docs/a.txt",
        "docs/b.md",
        "docs/sub/c.rst",
    ]
    assert [item.reason for item in items if isinstance(item, LoadFailure)] == [
        "is a link to nothing"
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_opened_is_a_failure(folder: Path) -> None:
    (folder / "a.txt").chmod(0)
    failures = [i for i in load(["docs"], LoadSettings()) if isinstance(i, LoadFailure)]
    assert failures == [LoadFailure("docs/a.txt", "cannot be opened: permission denied", 14)]


def test_a_device_or_pipe_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "pipe.txt")
    failures = [i for i in load(["docs"], LoadSettings()) if isinstance(i, LoadFailure)]
    assert failures == [LoadFailure("docs/pipe.txt", "is not a regular file")]


def test_a_missing_path_is_the_users_mistake(folder: Path) -> None:
    with pytest.raises(InvalidSetting, match="No such file or folder: 'docs/none'"):
        check_paths(["docs", "docs/none"])


def test_relative_and_absolute_paths_name_the_same_document(folder: Path) -> None:
    [one], [other] = load(["docs/a.txt"], LoadSettings()), load([f"{folder}/a.txt"], LoadSettings())
    assert isinstance(one, LoadedDocument)
    assert isinstance(other, LoadedDocument)
    assert one.id == other.id == "docs/a.txt"
    assert (one.path, other.path) == ("docs/a.txt", f"{folder}/a.txt")


@pytest.mark.parametrize(
    ("path", "root", "below"),
    [
        ("docs/a", "docs", True),
        ("docs", "docs", True),
        ("docs2/a", "docs", False),
        ("docs/a", ".", True),
        ("../a", ".", False),
        ("/x/a", ".", False),
        ("/x/a", "/", True),
    ],
)
def test_below_is_by_whole_names(path: str, root: str, below: bool) -> None:
    assert is_below(path, root) is below


def test_a_large_file_is_refused_before_it_is_read(folder: Path) -> None:
    with (folder / "a.txt").open("wb") as file:
        file.truncate(5 * 2**20)
    settings = LoadSettings(max_file_bytes=2**20)
    [failure] = load(["docs/a.txt"], settings)
    assert failure == LoadFailure("docs/a.txt", "has 5 MB; at most 1 MB are read", 5 * 2**20)


def test_documents_that_are_not_wanted_are_skipped_unread(folder: Path) -> None:
    loaded = list(load(["docs"], LoadSettings(wanted=lambda id_: id_ == "docs/b.md")))
    assert [item.id for item in loaded if isinstance(item, LoadedDocument)] == ["docs/b.md"]
    assert len([item for item in loaded if isinstance(item, Skipped)]) == 3


def test_a_file_is_there_unless_the_system_says_it_is_not(folder: Path) -> None:
    assert exists("docs/a.txt")
    assert not exists("docs/none")
    assert not exists("docs/a.txt/below-a-file")


# --- parsers in a process of their own


def test_a_file_that_takes_too_long_is_given_up_and_the_next_one_is_read(data: Path) -> None:
    pdf = data / "pdfs" / "corrupt_helloworld_bad.pdf"
    impatient = ParserProcess(0.001)
    with pytest.raises(Unreadable, match="took longer than"):
        impatient.read("pdf", pdf)
    impatient.close()
    patient = ParserProcess(60)
    assert "Hello" in patient.read("pdf", pdf).text
    patient.close()


def test_a_parser_that_died_is_replaced(data: Path) -> None:
    pdf = data / "pdfs" / "corrupt_helloworld_bad.pdf"
    parsers = ParserProcess(60)
    parsers.read("pdf", pdf)
    assert parsers._child is not None
    parsers._child.kill()
    parsers._child.wait()
    assert "Hello" in parsers.read("pdf", pdf).text
    parsers.close()


# --- documents in memory


def test_documents_in_memory_keep_the_ids_that_they_can_be_known_by() -> None:
    given = [
        Document("one", id="a"),
        Document("two", metadata={"source": "x.pdf", "page": 0}),
        Document("three", metadata={"source": "https://e.org/p", "title": "T"}),
        Document("four", metadata={"source": "https://e.org/p"}),
        {"page_content": "five", "metadata": {"n": 1}},
    ]
    loaded = [item for item in from_memory(given) if isinstance(item, LoadedDocument)]
    assert [document.id for document in loaded] == [
        "a",
        "x.pdf#page=0",
        "https://e.org/p",
        "https://e.org/p#2",
        "document",
    ]
    assert loaded[2].content.url == "https://e.org/p"
    assert loaded[2].content.title == "T"
    assert loaded[4].content.metadata == {"n": 1}
    assert {document.path for document in loaded} == {None}


def test_what_is_no_document_is_a_failure() -> None:
    failures = list(from_memory(["text", Document("", id="e")]))
    assert failures == [
        LoadFailure("document 1", "is no document: it has no page_content"),
        LoadFailure("e", "has no text"),
    ]
