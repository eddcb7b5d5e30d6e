"""Sentences as spans, in English, Chinese and Markdown."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.state.text import Span, cut, sentences, strips


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Pi is 3.14. It is, e.g. in maths, used.", ["Pi is 3.14.", "It is, e.g. in maths, used."]),
        ("Dr. Who met J. Smith of the U.S. Army.", ["Dr. Who met J. Smith of the U.S. Army."]),
        ("See Fig. 3. No. 5 is v. 2.0.1.", ["See Fig. 3.", "No. 5 is v. 2.0.1."]),
        ("Apples, pears, etc. The rest is gone.", ["Apples, pears, etc.", "The rest is gone."]),
        ("Apples, pears, etc. are fruit.", ["Apples, pears, etc. are fruit."]),
        ('He said "Stop." She did.', ['He said "Stop."', "She did."]),
        ("Yahoo! is a company... Really.", ["Yahoo! is a company...", "Really."]),
        ("Call os.path.join. Then stop.", ["Call os.path.join.", "Then stop."]),
        ("Fact.[1] Next fact. [2] Last [3].", ["Fact.", "[1] Next fact.", "[2] Last [3]."]),
        ("tokens are split . Like this .", ["tokens are split .", "Like this ."]),
        ("证券法于2020年施行。真的吗？是！", ["证券法于2020年施行。", "真的吗？", "是！"]),
        ("他说：“好。”然后走了。", ["他说：“好。”", "然后走了。"]),
        ("等等……后来呢", ["等等……后来呢"]),
        ("PEP 484 引入了类型提示.下一句", ["PEP 484 引入了类型提示.", "下一句"]),
    ],
)
def test_splits_where_a_reader_would(text: str, expected: list[str]) -> None:
    assert split(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Title\nText one. Text two.", ["# Title", "Text one.", "Text two."]),
        ("Title\n=====\nText.", ["Title\n=====", "Text."]),
        ("- a. One. Two\n- b\n1. First. More", ["- a.", "One.", "Two", "- b", "1. First.", "More"]),
        ("wrapped over\ntwo lines", ["wrapped over\ntwo lines"]),
        ("a paragraph\n\nand another", ["a paragraph", "and another"]),
        ("Windows\r\n\r\nold Mac\r\rend", ["Windows", "old Mac", "end"]),
        (
            "A short line\nThen a much longer line that was surely wrapped here\nor here.",
            ["A short line", "Then a much longer line that was surely wrapped here\nor here."],
        ),
        ("| a. B | c |\n|---|---|\n| D. E | f |", ["| a. B | c |", "|---|---|", "| D. E | f |"]),
        ("```py\na. B\n\nc\n```\nAfter.", ["```py\na. B\n\nc\n```", "After."]),
        ("~~~\nnever. Closed\n\nx", ["~~~\nnever. Closed\n\nx"]),
        (
            "应当符合下列条件：\n（一）组织机构；\n（二）经营能力。\n第十三条 公司",
            ["应当符合下列条件：", "（一）组织机构；", "（二）经营能力。", "第十三条 公司"],
        ),
    ],
)
def test_headings_items_rows_and_code_stand_alone(text: str, expected: list[str]) -> None:
    assert split(text) == expected


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\u3000\t\r\n"])
def test_nothing_to_split(text: str) -> None:
    assert sentences(text) == []
    assert strips(text, 3) == []


def test_strips_hold_so_many_sentences_each() -> None:
    text = "One. Two.  Three. Four. Five."
    assert [text[start:end] for start, end in strips(text, 2)] == [
        "One. Two.",
        "Three. Four.",
        "Five.",
    ]


def test_cut_prefers_punctuation_and_loses_nothing() -> None:
    text = "一二三四五，六七八九十，" * 10
    pieces = cut(text, Span(0, len(text)), 20)
    assert all(text[piece.end - 1] == "，" for piece in pieces)
    assert "".join(text[start:end] for start, end in pieces) == text
    assert [piece.end - piece.start for piece in cut("x" * 25, Span(0, 25), 10)] == [10, 10, 5]


@given(st.text(alphabet="aB1 .!?。！\n\r\t-#|`~=\"'”[]（）一、e.g", max_size=80) | st.text())
def test_spans_are_in_order_and_hold_all_but_white_space(text: str) -> None:
    spans = sentences(text)
    end = 0
    for span in spans:
        assert not text[end : span.start].strip()
        piece = text[span.start : span.end]
        assert piece
        assert piece == piece.strip()
        end = span.end
    assert not text[end:].strip()


def test_every_odd_document_is_split(data: Path) -> None:
    for path in sorted((data / "bad_docs").iterdir()):
        text = path.read_text(encoding="utf-8", errors="replace")
        joined = "".join(text[start:end] for start, end in sentences(text))
        assert "".join(joined.split()) == "".join(text.split()), path.name
