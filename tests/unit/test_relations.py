"""Relations between documents: links as people write them, fields, files and folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.indexing.links import link_targets
from ragweave.indexing.relations import Related, reading_order, relations


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("See [the guide](guide.md) and [b](<b c.md>).", ["guide.md", "b"]),
        ('[a](a.md "Title") ![image](x.png)', ["a.md", "x.png"]),
        ("[wiki](https://en.wikipedia.org/wiki/A_(letter))", ["https://en.wikipedia.org/wiki/A_(letter)"]),
        ("text [a][1]\n\n[1]: ../a.md\n[2]: <b.md>", ["../a.md", "b.md"]),
        ("[[Page one]] and [[other|shown]]", ["Page one", "other"]),
        ("<https://example.org/a>", ["https://example.org/a"]),
        ("<a class='x' href=\"/docs/a.html#part\">a</a>", ["/docs/a.html#part"]),
        ("`text <a.rst>`_ and `b <b.rst>`__", ["a.rst", "b.rst"]),
        (".. _name: https://example.org/x\n", ["https://example.org/x"]),
        (":doc:`install` :doc:`the guide </guide/start>`", ["install", "/guide/start"]),
        (":pep:`484` :pep:`one <0526>` :pep:`8#x`", ["pep:484", "pep:526", "pep:8"]),
        (":rfc:`2822`", ["rfc:2822"]),
        ("PEP: 7\nRequires: 484, 526\nReplaces: 3\n\nPEP 1", ["pep:484", "pep:526", "pep:3"]),
        ("PEP: 7\nSuperseded-By: 9\n", ["pep:9"]),
        ("Requires: 484\n", []),
        ("a list [1], code x[i](y), braces {}", ["y"]),
        ("[a](a.md) [a again](a.md)", ["a.md"]),
        ("公司[章程](章程.md)。", ["章程.md"]),
        ("", []),
    ],
)  # fmt: skip
def test_link_targets_as_they_are_written(text: str, targets: list[str]) -> None:
    assert link_targets(text) == targets


@pytest.mark.parametrize("text", ["[" * 200_000, "](" * 100_000, "<" * 200_000, "`<a" * 70_000])
def test_a_megabyte_of_brackets_is_no_problem(text: str) -> None:
    assert len(link_targets(text)) <= 1


def doc(id: str, *links: str, **known: object) -> Related:
    return Related(id, links=links, **known)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("target", "other"),
    [
        ("b.md", doc("x", path="docs/b.md")),
        ("./b.md#part", doc("x", path="docs/b.md")),
        ("../peps/b.rst", doc("x", path="peps/b.rst")),
        ("b", doc("x", path="docs/b.rst")),
        ("b.html", doc("x", path="docs/b.md")),
        ("b%20c.md", doc("x", path="docs/b c.md")),
        ("x", doc("x")),
        ("Some Page", doc("y", title="Some page")),
        ("Some_page", doc("y", title="Some page")),
        ("https://www.Example.org/b/?q=1#top", doc("y", url="http://example.org/b")),
        ("other", doc("y", url="https://example.org/docs/other")),
        ("pep:484", doc("y", path="peps/pep-0484.rst")),
        ("https://peps.python.org/pep-0484/#rationale", doc("y", path="peps/pep-0484.rst")),
        ("rfc:2822", doc("y", url="https://www.rfc-editor.org/rfc/rfc2822")),
    ],
)
def test_a_link_finds_its_document_by_any_name(target: str, other: Related) -> None:
    this = doc("a", target, path="docs/a.md", url="https://example.org/docs/a")
    assert relations([this, other], ["links"]) == [[(0, 1)]]


@pytest.mark.parametrize(
    "target", ["gone.md", "#part", "", "https://[broken", "mailto:a@b.c", "pep:1", "?q", "{}", "/"]
)
def test_a_link_to_what_is_not_there_relates_nothing(target: str) -> None:
    assert relations([doc("a", target, path="a.md"), doc("b", path="b.md")], ["links"]) == [[]]


def test_link_lists_cycles_and_loops_are_fine() -> None:
    documents = [doc("a", "b", "c", "b", "a"), doc("b", "a"), doc("c")]
    assert relations(documents, ["links"]) == [[(0, 1), (0, 2), (0, 1), (0, 0), (1, 0)]]


def test_documents_without_a_stronger_relation_are_related_by_file_then_folder() -> None:
    paths = ["law/a.jsonl", "law/a.jsonl", "law/b.jsonl", "law/c.jsonl", "x/c.md", None]
    documents = [doc(str(n), path=path) for n, path in enumerate(paths)]
    assert relations(documents, ["links", "file", "folder"]) == [[], [(0, 1)], [(2, 3)]]
    assert relations(documents, ["folder"]) == [[(0, 1), (1, 2), (2, 3)]]
    linked = [doc("l", "2", path="law/0.md"), *documents]
    assert relations(linked, ["links", "folder"]) == [[(0, 3)], [(1, 2), (2, 4)]]
    assert relations(documents, []) == []


def test_a_declared_field_comes_first_and_names_documents_or_a_group() -> None:
    documents = [
        doc("1", metadata={"see": ["3", "gone"], "chapter": "one"}),
        doc("2", metadata={"see": "Three", "chapter": "one"}),
        doc("3", title="three", metadata={"see": None, "chapter": "two"}),
        doc("4", metadata={"see": {"no": "name"}, "chapter": "one"}),
    ]
    assert relations(documents, ["links"], declared="see") == [[(0, 2), (1, 2)], []]
    assert relations(documents, [], declared="chapter") == [[(0, 1), (1, 3)]]


@pytest.mark.parametrize(
    "names",
    [
        ["a2.md", "a10.md", "b.md"],
        ["9", "10", "100"],
        [
            "法/第九条",
            "法/第十条",
            "法/第十九条",
            "法/第二十条",
            "法/第一百零二条",
            "法/第一百二十条",
        ],
        ["a", "b10c9", "b10c10"],
    ],
)
def test_documents_are_read_by_path_and_number(names: list[str]) -> None:
    for documents in ([doc(name) for name in names], [doc("x", path=name) for name in names]):
        assert sorted([*documents[1:], documents[0]], key=reading_order) == documents
    assert sorted([doc("a", path="b"), doc("z")], key=reading_order)[0].id == "z"


def test_peps_are_related_by_their_references(data: Path) -> None:
    files = sorted((data / "demo/peps").glob("*.rst"))
    documents = [
        Related(file.name, path=f"peps/{file.name}", links=link_targets(file.read_text("utf-8")))
        for file in files
    ]
    (pairs,) = relations(documents, ["links"])
    related = {(documents[a].id, documents[b].id) for a, b in pairs}
    assert ("pep-0589.rst", "pep-0484.rst") in related
    assert ("pep-0655.rst", "pep-0589.rst") in related
    assert all(document.id in {id for pair in related for id in pair} for document in documents)
