"""Chunks end where the text offers a good place, within their size, and at stable places."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import regex  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from ragweave.indexing.blocks import find_blocks
from ragweave.indexing.document import LoadedDocument, Markup
from ragweave.indexing.loading.load import LoadSettings, load
from ragweave.indexing.split import split
from ragweave.models.tokens import token_counter


def words(texts: Sequence[str]) -> list[int]:
    """A counter that a reader can follow: one token a word, or a CJK character."""
    return [len(regex.findall(r"[\p{Han}]|[^\s\p{Han}]+", text)) for text in texts]


def chunks(text: str, markup: Markup = "plain", **settings: Any) -> list[str]:
    spans = split(text, words, markup=markup, **settings)
    return [text[span.start : span.end] for span in spans]


# --- structure


MARKDOWN = """# Title

Intro one two three.

## First

Some words here.

```python
# not a heading

x = 1
```

Second
------

| a | b |
|---|---|
| 1 | 2 |
"""
RST = """=====
Title
=====

First
-----

Look at this::

    code

    more code

Second
------

Text follows.

Deeper
~~~~~~

End
"""
CHINESE = "第一章 总则\n第一条 为了规范。\n第二条 在境内。\n第二章 发行\n第一节 条件\n第三条 公开。"


@pytest.mark.parametrize(
    ("text", "markup", "headings"),
    [
        (MARKDOWN, "markdown", [(1, "Title"), (2, "First"), (2, "Second")]),
        (RST, "rst", [(1, "Title"), (2, "First"), (2, "Second"), (3, "Deeper")]),
        (CHINESE, "plain", [(2, "第一章 总则"), (2, "第二章 发行"), (3, "第一节 条件")]),
        ("STAVE ONE\n\nText.\n\nChapter 2. The ghost\n\nMore.", "plain",
         [(1, "STAVE ONE"), (1, "Chapter 2. The ghost")]),
        ("A sentence.\n\n=====  =====\na      b\n=====  =====\n", "rst", []),
        ("He said\nNO\nto it.", "plain", []),
    ],
)  # fmt: skip
def test_headings_are_found(text: str, markup: Markup, headings: list[tuple[int, str]]) -> None:
    blocks = find_blocks(text, markup)
    assert [(b.level, b.title) for b in blocks if b.kind == "heading"] == headings


@pytest.mark.parametrize(("text", "markup"), [(MARKDOWN, "markdown"), (RST, "rst")])
def test_code_and_tables_are_one_block_each(text: str, markup: Markup) -> None:
    blocks = [text[b.start : b.end] for b in find_blocks(text, markup) if b.kind == "lines"]
    wanted = {
        "markdown": ["```python\n# not a heading\n\nx = 1\n```", "| a | b |\n|---|---|\n| 1 | 2 |"],
        "rst": ["code\n\n    more code"],
    }
    assert blocks == wanted[markup]


def test_a_chunk_ends_before_a_heading_rather_than_at_its_greatest_size() -> None:
    text = "# A\n\n" + "one two three four. " * 4 + "\n\n# B\n\n" + "five six seven. " * 6
    first, second = chunks(text, "markdown", max_tokens=32)
    assert first.endswith("four.")
    assert second.startswith("# B")


def test_a_heading_stays_with_what_it_heads() -> None:
    text = "word " * 20 + "\n\n## Heading\n\n" + "more " * 20
    assert not any(chunk.endswith("Heading") for chunk in chunks(text, "markdown", max_tokens=32))


def test_small_sections_share_chunks_that_are_to_be_filled() -> None:
    text = "\n\n".join(f"## Section {n}\n\n{'word ' * (10 + n * 7 % 30)}" for n in range(60))
    filled = chunks(text, "markdown", max_tokens=256, fill=0.7)

    assert max(words(filled)) <= 256
    assert 4 * len(filled) <= 3 * len(chunks(text, "markdown", max_tokens=256))


def test_chunks_know_the_sections_they_begin_in() -> None:
    first, second, last = (f"{words} " * 8 for words in ("one two.", "three four.", "five six."))
    text = f"# A\n\n## B\n\n{first}\n\n{second}\n\n# C\n\n{last}"
    spans = split(text, words, markup="markdown", max_tokens=32)
    assert [span.headings for span in spans] == [("A", "B"), ("A", "B"), ("C",)]


def test_code_stays_together_and_with_its_announcement_where_it_fits() -> None:
    filler = "Some words that fill a chunk. " * 3
    text = f"{filler}\n\n{filler}\n\nRun this:\n\n```\nfirst line\n\nsecond line\n```\n\n{filler}"
    [holder] = [chunk for chunk in chunks(text, "markdown", max_tokens=32) if "first" in chunk]
    assert "Run this:\n\n```\nfirst line\n\nsecond line\n```" in holder


def test_long_code_is_cut_between_lines() -> None:
    text = "```\n" + "\n".join(f"call(a, b). Then {n}" for n in range(40)) + "\n```"
    for chunk in chunks(text, "markdown", max_tokens=32)[:-1]:
        assert regex.fullmatch(r"(```\n)?(call\(a, b\)\. Then \d+\n?)+", chunk)


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("One two three four. Five six seven eight! Nine “ten eleven?” Twelve thirteen. " * 8,
         (".", "!", "”")),
        ("第一句话到此结束。第二句话也是！第三句话呢？第四句；" * 8, ("。", "！", "？", "；")),
        ("هذه جملة عربية قصيرة. وهل هذا سؤال؟ نعم هو كذلك. " * 8, (".", "؟")),
    ],
)  # fmt: skip
def test_sentences_stay_whole(text: str, ends: tuple[str, ...]) -> None:
    parts = chunks(text, max_tokens=36)
    assert len(parts) > 2
    assert all(part.endswith(ends) for part in parts)


def test_abbreviations_and_initials_end_no_sentence() -> None:
    text = "We met Dr. Smith and J. R. Tolkien near St. Paul. " * 12
    assert all(part.endswith("Paul.") for part in chunks(text, max_tokens=36))


def test_white_space_alone_gives_nothing_and_one_character_gives_itself() -> None:
    assert split(" \n\t ", words) == []
    assert split("", words) == []
    assert chunks("x") == ["x"]


# --- sizes and spans


@pytest.fixture
def tokens() -> Callable[[Sequence[str]], list[int]]:
    return asyncio.run(token_counter())


def all_documents(data: Path) -> Iterator[LoadedDocument]:
    paths = [data / "bad_docs", data / "pdfs", data / "demo"]
    loaded = load([str(path) for path in paths], LoadSettings())
    return (item for item in loaded if isinstance(item, LoadedDocument))


@pytest.mark.parametrize(("max_tokens", "overlap"), [(512, 0), (256, 32)])
def test_real_documents_are_cut_within_size_at_graphemes_and_without_loss(
    data: Path, tokens: Callable[[Sequence[str]], list[int]], max_tokens: int, overlap: int
) -> None:
    for document in all_documents(data):
        text = document.text
        spans = split(
            text, tokens, markup=document.content.markup, max_tokens=max_tokens, overlap=overlap
        )
        parts = [text[span.start : span.end] for span in spans]
        clusters = {found.start() for found in regex.finditer(r"\X", text)} | {len(text)}
        assert all(part.strip() for part in parts), document.id
        assert {at for span in spans for at in (span.start, span.end)} <= clusters, document.id
        for part, size in zip(parts, tokens(parts), strict=True):
            assert size <= max_tokens or regex.fullmatch(r"\X", part), (document.id, size)
        covered = 0
        for span in spans:
            assert span.start <= covered or not text[covered : span.start].strip(), document.id
            covered = max(covered, span.end)
        assert not text[covered:].strip(), document.id


@given(
    st.text(alphabet=st.sampled_from("ab .,。\n#-|`👩\u200d🇨🇳e\u0301 \u0338字")),
    st.integers(32, 64),
    st.sampled_from([0.25, 0.7, 1.0]),
)
def test_any_text_is_covered_in_order_without_cutting_graphemes(
    text: str, size: int, fill: float
) -> None:
    spans = split(text, words, markup="markdown", max_tokens=size, fill=fill)
    clusters = {found.start() for found in regex.finditer(r"\X", text)} | {len(text)}
    kept = "".join(text[span.start : span.end] for span in spans)
    assert "".join(kept.split()) == "".join(text.split())
    assert {at for span in spans for at in (span.start, span.end)} <= clusters


@pytest.mark.parametrize(
    "text",
    ["x" * 400_000, "字" * 100_000, "word " * 80_000, "\n" * 40_000 + "end", "a.\n\n" * 40_000,
     "👩‍👩‍👧‍👦" * 20_000],
    ids=["no-spaces", "chinese", "one-line", "blank-lines", "paragraphs", "emoji"],
)  # fmt: skip
def test_texts_are_counted_few_times_however_long(text: str) -> None:
    counted = calls = 0

    def counter(texts: Sequence[str]) -> list[int]:
        nonlocal counted, calls
        calls += 1
        counted += sum(map(len, texts))
        return [len(text) // 2 + 1 for text in texts]

    split(text, counter, max_tokens=256)
    assert calls <= 6
    assert counted <= 2 * len(text)


def test_overlap_repeats_whole_sentences_and_no_more_than_asked() -> None:
    text = " ".join(f"Sentence number {n} is here." for n in range(60))
    spans = split(text, words, max_tokens=40, overlap=12)
    for before, span in pairwise(spans):
        repeated = text[span.start : before.end]
        assert repeated.startswith("Sentence")
        assert 0 < words([repeated])[0] <= 12


# --- stability


def paragraphs(count: int) -> list[str]:
    return [
        f"Paragraph {n} tells of {n * 7919 % 1000} things. " * (2 + n % 4) for n in range(count)
    ]


@pytest.mark.parametrize("edited", range(0, 60, 7))
@pytest.mark.parametrize("edit", ["change", "insert", "delete"])
@pytest.mark.parametrize(("size", "fill"), [(96, 0.25), (400, 0.7)])
def test_an_edit_changes_the_chunks_near_it_only(
    edited: int, edit: str, size: int, fill: float
) -> None:
    before = paragraphs(60 * size // 96)
    after = list(before)
    if edit == "delete":
        del after[edited]
    else:
        after[edited : edited + (edit == "change")] = ["Something else is told here now. " * 3]
    old = set(chunks("\n\n".join(before), max_tokens=size, fill=fill))
    new = chunks("\n\n".join(after), max_tokens=size, fill=fill)
    assert len([chunk for chunk in new if chunk not in old]) <= 4


def test_the_same_text_is_always_cut_at_the_same_places() -> None:
    text = "\n\n".join(paragraphs(30))
    assert split(text, words, max_tokens=64) == split(text, words, max_tokens=64)
