"""HTML, titles and header fields, PDF lines, records, office files."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from ragweave.indexing.document import Content, Loaded, LoadedDocument, LoadFailure, RecordsRead
from ragweave.indexing.loading.html import read_html
from ragweave.indexing.loading.load import LoadSettings, load
from ragweave.indexing.loading.markup import read_markup
from ragweave.indexing.loading.pdf import reflow
from ragweave.indexing.loading.records import MAX_RECORD_BYTES, RecordFields, read_records


def documents(loaded: list[Loaded]) -> list[LoadedDocument]:
    return [item for item in loaded if isinstance(item, LoadedDocument)]


def failures(loaded: list[Loaded]) -> dict[str, str]:
    return {item.path: item.reason for item in loaded if isinstance(item, LoadFailure)}


# --- HTML


PAGE = """<!doctype html><html><head><title>Baking
 bread</title><meta name="author" content="Ann"><link rel="canonical" href="https://e.org/b">
<style>p {}</style><script>alert("no")</script></head><body><header>Site</header>
<nav><a href="/">Home</a></nav><main><h1>Bread</h1><p>Mix <b>flour</b> and water, see
<a href="/yeast">yeast</a> and <a href="https://w.org/x" title="t">the source</a>.</p>
<ul><li>one</li><li>two</li></ul><table><tr><th>g</th><th>what</th></tr><tr><td>500</td>
<td>flour</td></tr></table><pre>a\n  b</pre><div hidden>secret</div></main>
<footer>(c)</footer></body></html>"""


def test_a_page_becomes_markdown_without_its_boilerplate() -> None:
    content = read_html(PAGE.encode())
    assert content.title == "Baking bread"
    assert content.url == "https://e.org/b"
    assert content.metadata == {"author": "Ann"}
    assert content.text == (
        "# Bread\n\nMix **flour** and water, see\nyeast and [the source](https://w.org/x).\n\n"
        "- one\n- two\n\n| g | what |\n| --- | --- |\n| 500 | flour |\n\n```\na\n  b\n```"
    )


def test_a_page_is_read_in_the_encoding_it_declares() -> None:
    page = '<meta charset="shift_jis"><title>表示</title><p>表示能力'
    assert read_html(page.encode("shift_jis")).text == "表示能力"


def test_a_declared_encoding_that_does_not_fit_is_not_believed() -> None:
    page = '<meta charset="ascii"><p>naïve café'
    assert read_html(page.encode()).text == "naïve café"


def test_a_page_without_body_has_no_text() -> None:
    assert read_html(b"<html><head><script>x</script></head></html>").text == ""


# --- titles and header fields


@pytest.mark.parametrize(
    ("text", "markup", "title"),
    [
        ("intro\n\n# The *title* #\n\n## Other", "markdown", "The *title*"),
        ("Title here\n==========\n\ntext", "markdown", "Title here"),
        ("```\n# comment\n```\n\n## Real", "markdown", "Real"),
        ("=====\nTitle\n=====\n\nSection\n-------", "rst", "Title"),
        ("---\ntitle: In front\ntags: [a, b]\n---\n# Heading", "markdown", "In front"),
        ("PEP: 604\nTitle: ``X | Y`` and \\*\\*kwargs\nStatus: Final\n\ntext", "rst",
         "PEP 604 – X | Y and **kwargs"),
        ("no title\n\nat all", "plain", None),
    ],
)  # fmt: skip
def test_titles_are_found(text: str, markup: str, title: str | None) -> None:
    assert read_markup(text, markup).title == title  # type: ignore[arg-type]


def test_front_matter_is_plain_json_and_stays_in_the_text() -> None:
    text = "---\nyear: 2020\nday: 2020-03-01\ntags: [a, {b: 1}]\n---\nBody"
    content = read_markup(text, "markdown")
    assert content.metadata == {"year": 2020, "day": "2020-03-01", "tags": ["a", {"b": 1}]}
    assert content.text == text


@pytest.mark.parametrize("yaml", ["a: [", "- list", "a: &x [1]\nb: *x", "!!python/object:os.x {}"])
def test_front_matter_that_cannot_be_trusted_is_text(yaml: str) -> None:
    content = read_markup(f"---\n{yaml}\n---\nBody", "markdown")
    assert content.metadata == {}
    assert "Body" in content.text


def test_header_fields_go_on_over_indented_lines() -> None:
    text = "Title: Long\n  title\nPost-History: 2015,\n  2016\n\nNote: not a header"
    assert read_markup(text, "plain").metadata == {
        "title": "Long title",
        "post-history": "2015, 2016",
    }


def test_one_line_with_a_colon_is_no_header() -> None:
    assert read_markup("Warning: wet floor.\n\nText", "plain").metadata == {}


# --- lines of a PDF page


def test_lines_become_paragraphs_where_their_length_says_so() -> None:
    page = "\n".join(
        [
            "The origins of word processing lie in a",
            "machine of steel.",
            "A new paragraph begins her",
        ]
    )
    assert reflow(page) == (
        "The origins of word processing lie in a\nmachine of steel.\n\nA new paragraph begins her"
    )


def test_cjk_words_are_joined_over_full_lines_only() -> None:
    page = "第一条 规范证券发行和交易行\n为，保护投资者。\n（一）向不特定对象发行证\n（二）其他"
    assert reflow(page) == (
        "第一条 规范证券发行和交易行为，保护投资者。\n\n（一）向不特定对象发行证\n（二）其他"
    )


# --- records


def write_lines(path: Path, *lines: object) -> Path:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def test_records_are_documents_and_a_broken_line_is_one_failure(tmp_path: Path) -> None:
    file = write_lines(
        tmp_path / "r.jsonl",
        {
            "id": 7,
            "text": "one",
            "title": "T",
            "url": "https://e.org",
            "year": 2020,
            "x": {"y": [1]},
        },
        "{broken",
        "",
        [1],
        {"id": "b"},
        {"text": " \u3000"},
        {"text": "five"},
    )
    loaded = list(read_records(file, "r.jsonl", RecordFields()))
    first, last = documents(list(loaded))
    assert first == LoadedDocument(
        "7",
        Content("one", title="T", url="https://e.org", metadata={"year": 2020, "x": {"y": [1]}}),
        path="r.jsonl",
        size=first.size,
        line=1,
        passage=True,
    )
    assert (last.id, last.place, last.content.title) == ("r.jsonl#7", "r.jsonl:7", None)
    assert failures(list(loaded)) == {
        "r.jsonl:2": "is not JSON: Expecting property name enclosed in double quotes at column 2",
        "r.jsonl:4": "is not a JSON object",
        "r.jsonl:5": "has no text in a field named 'text' (--text-field names another)",
        "r.jsonl:6": "has an empty text in its field 'text'",
    }


def test_other_field_names_are_given(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "r.jsonl", {"body": "words", "nr": "a1", "head": "H", "id": 3})
    fields = RecordFields(text="body", id="nr", title="head")
    [document] = documents(list(read_records(file, "r.jsonl", fields)))
    assert (document.id, document.content.title, document.text) == ("a1", "H", "words")
    assert document.content.metadata == {"id": 3}


@pytest.mark.parametrize(
    ("id_", "title"),
    [
        ("证券法/第一条", "证券法/第一条"),
        ("5a7a0693f1", None),
        (12, None),
        ("pub-c0000", "pub-c0000"),
    ],
)
def test_an_id_with_words_is_a_title(tmp_path: Path, id_: object, title: str | None) -> None:
    file = write_lines(tmp_path / "r.jsonl", {"id": id_, "text": "words"})
    [document] = documents(list(read_records(file, "r.jsonl", RecordFields())))
    assert document.content.title == title


def test_a_file_of_other_things_is_summed_up(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "r.jsonl", *({"no": n} for n in range(1000)))
    [*first, last] = read_records(file, "r.jsonl", RecordFields())
    assert len(first) == 5
    assert last == LoadFailure("r.jsonl", "has 995 more such lines", last.size, 995)
    assert sum(item.size for item in [*first, last]) == file.stat().st_size


def test_a_file_of_blank_lines_has_no_records(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "r.jsonl", "", " ", "")
    loaded = list(load([str(file)], LoadSettings()))
    assert failures(loaded) == {str(file): "has no records"}
    assert not any(isinstance(item, RecordsRead) for item in loaded), "it keeps what it had"


def test_a_line_without_end_is_not_read_into_memory(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    with file.open("wb") as out:
        out.seek(3 * MAX_RECORD_BYTES)
        out.write(b'\n{"text": "after it"}\n')
    loaded = list(read_records(file, "r.jsonl", RecordFields()))
    assert failures(list(loaded)) == {"r.jsonl:1": "is longer than 16 MB"}
    assert [document.text for document in documents(list(loaded))] == ["after it"]


def test_the_end_of_a_record_file_says_whether_it_was_whole(tmp_path: Path) -> None:
    good = write_lines(tmp_path / "a.jsonl", {"text": "x"})
    bad = write_lines(tmp_path / "b.jsonl", {"text": "x"}, "{")
    ends = [i for i in load([str(good), str(bad)], LoadSettings()) if isinstance(i, RecordsRead)]
    assert [end.whole for end in ends] == [True, False]


# --- office files


def docx(path: Path) -> Path:
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    package = "http://schemas.openxmlformats.org/package/2006"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types"><Default Extension="rels" ContentType='
            '"application/vnd.openxmlformats-package.relationships+xml"/><Override PartName='
            '"/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.'
            'wordprocessingml.document.main+xml"/></Types>',
        )
        file.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
            f'Type="{office}" Target="word/document.xml"/></Relationships>',
        )
        paragraphs = "".join(
            f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'
            for style, text in [("Heading1", "Bericht"), ("Normal", "Wir ändern das Gesetz 法律.")]
        )
        file.writestr(
            "word/document.xml",
            f'<w:document xmlns:w="{word}"><w:body>{paragraphs}</w:body></w:document>',
        )
    return path


def test_office_files_are_read_and_broken_ones_reported(tmp_path: Path) -> None:
    pytest.importorskip("kreuzberg", reason="the extra office is not installed")
    good = docx(tmp_path / "good.docx")
    (tmp_path / "bad.docx").write_bytes(good.read_bytes()[:400])
    (tmp_path / "mail.eml").write_text("From: a@b.c\nSubject: Hello\n\nThe body of it.\n")
    loaded = list(load([str(tmp_path)], LoadSettings()))
    by_name = {Path(d.path or "").name: d for d in documents(loaded)}
    assert "Wir ändern das Gesetz 法律." in by_name["good.docx"].text
    assert by_name["mail.eml"].content.title == "Hello"
    [reason] = failures(loaded).values()
    assert reason.startswith("is damaged or encrypted: ")
    assert "\n" not in reason
