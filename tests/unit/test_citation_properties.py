"""Whatever an answer and its sources hold: no citation that does not exist, no failure."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragweave.nodes.citations.token_filter import filtered
from ragweave.nodes.cite import TokenFilter, Verified, renumber, verify
from ragweave.state.records import Source
from tests.unit.made_source import made_source

PIECES = [
    *(
        "[1]",
        "[2]",
        "[3]",
        "[0]",
        "[7]",
        "[99]",
        "[1, 9]",
        "[9, 2]",
        "[1-3]",
        "[8-9]",
        "【2】",
        "【9】",
    ),
    *(
        "［１］",
        "[Source 2]",
        "(Source 9)",
        "[^1]",
        "[^9]",
        "[^9]:",
        "[1](http://x.y)",
        "[9](http://x.y)",
    ),
    *(
        "[",
        "]",
        "(",
        ")",
        "【",
        "】",
        "Source ",
        "source",
        "来源",
        "†",
        "^",
        "#",
        "1",
        "9",
        "-",
        "[9](/",
    ),
    *(
        " ",
        "  ",
        "\n",
        "\n\n",
        "\r\n",
        "\t",
        ", ",
        " and ",
        "an",
        "、",
        "，",
        "。",
        ".",
        ": ",
        "：",
    ),
    *("`", "``", "```", "~", "~~~", "```md\n", "- ", "1. ", "9. ", "> ", "| ", "# ", "**", "?"),
    *(
        "Sources:",
        "References",
        "参考文献：",
        "来源：9",
        "Fact",
        "fact ",
        "事实",
        "in 1999",
        "三十日",
    ),
    *(
        "The company was founded in Oslo",
        "It makes pumps for ships",
        "收购期限不得少于三十日",
        "x[0]",
    ),
]

answers = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=16).map("".join)
texts = st.one_of(
    answers,
    st.text(max_size=40),
    st.sampled_from(
        ["", "Source 1:\nAnswer: Lyon [1].", "See [3], [99]. Sources: [2]", "\x00\ud800"]
    ),
    st.just("The company was founded in Oslo in 1999. It makes pumps for ships. " * 3),
    st.just("收购要约约定的收购期限不得少于三十日，并不得超过六十日。"),
)


@st.composite
def source_lists(draw: st.DrawFn) -> list[Source]:
    numbers = draw(st.lists(st.integers(1, 12), max_size=4, unique=True))
    titles, starts = st.none() | st.text(max_size=8), st.none() | st.integers(0, 5)
    return [
        made_source(number, draw(texts), title=draw(titles), start=draw(starts))
        for number in numbers
    ]


def check(answer: str, sources: list[Source]) -> Verified:
    verified = verify(answer, sources)
    by_number = {source["number"]: source for source in sources}
    layout = filtered(verified.answer, by_number)
    assert layout.text == verified.answer
    assert layout.invalid == []
    named = {number for mention in layout.mentions for number in mention.numbers}
    assert named <= by_number.keys()
    cited = {citation["number"] for citation in verified.citations} - {None}
    assert cited == named
    for citation in verified.citations:
        assert citation["sentence"] in verified.answer
        if citation["number"] is None:
            assert citation["status"] == "missing"
            assert citation["source_id"] is None
        if citation["status"] != "grounded":
            assert (citation["quote"], citation["start"], citation["end"]) == (None, None, None)
            continue
        assert citation["number"] is not None
        source = by_number[citation["number"]]
        assert citation["source_id"] == source["id"]
        assert citation["start"] is not None
        assert citation["end"] is not None
        offset = source["start"] or 0
        found = source["text"][citation["start"] - offset : citation["end"] - offset]
        assert citation["quote"] == found != ""
    again = verify(verified.answer, sources)
    assert again.answer == verified.answer
    assert again.citations == verified.citations
    assert again.invalid_markers == []
    return verified


@settings(max_examples=200, deadline=None)
@given(answers, source_lists())
def test_citations_exist_and_quotes_are_verbatim(answer: str, sources: list[Source]) -> None:
    check(answer, sources)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60), source_lists())
def test_any_text_at_all(answer: str, sources: list[Source]) -> None:
    check(answer, sources)


@settings(max_examples=300, deadline=None)
@given(answers, st.sets(st.integers(1, 12), max_size=4), st.randoms(use_true_random=False))
def test_streamed_pieces_add_up_to_the_answer(
    answer: str, numbers: set[int], chance: random.Random
) -> None:
    whole = filtered(answer, numbers)
    tokens = TokenFilter(numbers)
    shown, at = "", 0
    while at < len(answer):
        size = chance.choice([1, 1, 2, 3, 7])
        shown += tokens.feed(answer[at : at + size])
        at += size
        assert whole.text.startswith(shown)
    assert shown + tokens.close() == whole.text
    assert tokens.invalid == whole.invalid
    assert filtered(whole.text, numbers).text == whole.text


@settings(max_examples=100, deadline=None)
@given(answers, texts, texts)
def test_the_text_of_a_source_names_no_source(answer: str, one: str, other: str) -> None:
    def cited(text: str) -> list[tuple[int | None, str]]:
        found = verify(answer, [made_source(1, text)]).citations
        return [(item["number"], item["sentence"]) for item in found if item["number"]]

    if not filtered(answer, {1}).entries:  # a list of sources cites only what supports something
        implied = re.search(r"[:：]", answer)
        assert implied or cited(one) == cited(other)


@settings(max_examples=100, deadline=None)
@given(answers, source_lists())
def test_renumbering_changes_numbers_alone(answer: str, sources: list[Source]) -> None:
    before = verify(answer, sources)
    after, moved = renumber(before, sources)
    check(after.answer, moved)
    assert verify(after.answer, moved).answer == after.answer
    first_use = dict.fromkeys(
        number
        for mention in filtered(after.answer, [source["number"] for source in moved]).mentions
        for number in mention.numbers
    )
    assert set(first_use) == set(range(1, len(first_use) + 1))
    assert [source["number"] for source in moved] == list(range(1, len(sources) + 1))
    assert {source["id"]: source["text"] for source in moved} == {
        source["id"]: source["text"] for source in sources
    }


def test_odd_documents_as_sources_and_as_answers(data: Path) -> None:
    folder = data / "bad_docs"
    naughty = "\n".join(json.loads((folder / "blns.json").read_text(encoding="utf-8")))
    names = (
        "bracket_citations.txt",
        "fake_sources.txt",
        "template_braces.txt",
        "one_line_160k.txt",
    )
    odd = [(folder / name).read_text(encoding="utf-8")[:20_000] for name in names]
    sources = [
        made_source(number, text, title="Source 9: [9]")
        for number, text in enumerate([naughty, *odd], 1)
    ]
    for text in [naughty, *odd]:
        verified = check(text[:8_000], sources)
        assert all(c["number"] in {1, 2, 3, 4, 5, None} for c in verified.citations)
    plain = check("The capital of France is Lyon [3]. It is reported [2]. Paris [9].", sources)
    assert [citation["number"] for citation in plain.citations] == [3, 2, None]
    assert plain.citations[0]["quote"] == "The capital of France is Lyon."


@pytest.mark.parametrize(
    "answer",
    [
        *(
            "[" * 20_000,
            "[1]" * 5_000,
            "[9]" * 5_000,
            "[1, " * 5_000,
            "`" * 20_000,
            "` `` " * 4_000,
        ),
        *(
            "a. " * 5_000,
            "事实[1]。" * 2_000,
            "Sources: " * 2_000,
            "- x [1]:\n" * 2_000,
            " " * 50_000,
        ),
        *("\n" * 20_000, "(Source 1 " * 2_000, "| a [1] |\n" * 2_000, "[^1]: a\n" * 2_000),
    ],
)
def test_endless_answers_end(answer: str) -> None:
    check(answer, [made_source(1, "a fact, x and y")])
