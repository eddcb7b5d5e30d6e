"""Sentences of sources in an answer: the author's markers are gone, ours can be read."""

from __future__ import annotations

from typing import Any, cast

import pytest

from ragweave.models.offline.quoting import quote_answer
from ragweave.models.prompt import Section
from ragweave.nodes.answer import first_sentences
from ragweave.nodes.citations.token_filter import filtered
from ragweave.nodes.cite import verify
from ragweave.state.records import Source
from ragweave.state.source_quote import cited_sentence, plain_sentence, unmarked

MARKERS = [
    *("[2]", "[1, 2]", "[1-2]", "[1、2]", "［2］", "【2】", "【2†source】", "[^2]", "〔2〕"),
    *("[Source 2]", "[source: 2]", "[cite: 1, 2]", "[2, p. 5]", "[ref. 2]", "(Source 2)"),
    *("[来源：2]", "（来源2）", "[1][2]", "[1] and [2]", "[1[2]]", "[1,\n2]", "[２]", "[1 and 2]"),
]


@pytest.mark.parametrize("marker", MARKERS)
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("The tariff is 40 crowns a day {}.", "The tariff is 40 crowns a day [1]."),
        ("{} The tariff is 40 crowns a day.", "The tariff is 40 crowns a day [1]."),
        ("The tariff{} is 40 crowns a day.", "The tariff is 40 crowns a day [1]."),
        ("The tariff {} is 40 crowns a day.", "The tariff is 40 crowns a day [1]."),
        ("泊位费每天四十克朗{}。", "泊位费每天四十克朗[1]。"),
    ],
)
def test_the_authors_markers_are_taken_out(marker: str, text: str, shown: str) -> None:
    assert cited_sentence(plain_sentence(text.format(marker)), 1) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A young duck[1] or baby duck,[2] but.", "A young duck or baby duck, but."),
        ("See the list [[3]](#cite_note-3) of ducks.", "See the list of ducks."),
        ("Rates [1](https://example.org/a) rose.", "Rates rose."),
        ("Rates rose [1]_ in May.", "Rates rose in May."),
        ("In 2020 [sic] (2) [0.5] [a].", "In 2020 [sic] (2) [0.5] [a]."),
        ("[1]", ""),
    ],
)
def test_what_goes_with_a_marker_and_what_is_none(text: str, shown: str) -> None:
    assert unmarked(text) == shown


def test_long_text_of_brackets_takes_linear_time() -> None:
    assert unmarked("[" * 20_000) == "[" * 20_000
    assert unmarked("[2] " * 20_000) == ""
    assert unmarked("[1" * 20_000 + "]" * 20_000) == "1" * 19_996


@pytest.mark.parametrize("marker", MARKERS)
def test_both_ways_to_answer_with_sentences_cite_our_sources_alone(marker: str) -> None:
    texts = [
        f"The harbour tariff is 40 crowns a day {marker}. It is paid at the office {marker}.",
        "The harbour has 12 berths for ships. The mole is long.",
    ]
    sources = [source(number, text) for number, text in enumerate(texts, 1)]
    answer = first_sentences(cast("Any", {"sources": sources}))
    assert answer == (
        "The harbour tariff is 40 crowns a day [1]. The harbour has 12 berths for ships [2]."
    )
    assert cited(answer, sources) == [1, 2]

    sections = [Section("source", text, {"number": str(at)}) for at, text in enumerate(texts, 1)]
    quoted = quote_answer([Section("question", "What is the harbour tariff a day?"), *sections])
    assert quoted.startswith("The harbour tariff is 40 crowns a day [1].")
    assert set(filtered(quoted, ()).invalid) <= {"[1]", "[2]"}
    assert cited(quoted, sources)[0] == 1


def test_first_sentences_skip_headings_bullets_and_sources_without_words() -> None:
    wiki = "# Duckling\n\n- Ducks [1] A duckling is a young duck[1] or baby duck,[2] but small."
    sources = [source(1, wiki), source(2, "[3]"), source(3, "Opening hours"), source(4, "Not.")]
    answer = first_sentences(cast("Any", {"sources": sources}))
    assert answer == (
        "Ducks A duckling is a young duck or baby duck, but small [1]. Opening hours [3]."
    )


def test_first_sentences_in_chinese_are_not_spaced() -> None:
    sources = [source(1, "泊位费每天四十克朗。[2]在办公室缴纳。"), source(2, "港口有十二个泊位。")]
    answer = first_sentences(cast("Any", {"sources": sources}))
    assert answer == "泊位费每天四十克朗[1]。港口有十二个泊位[2]。"


def source(number: int, text: str) -> Source:
    empty = dict.fromkeys(Source.__annotations__)
    return cast("Source", {**empty, "number": number, "id": f"s{number}", "text": text, "start": 0})


def cited(answer: str, sources: list[Source]) -> list[int | None]:
    """The sources cited, by sentence; each is grounded in its source's own words."""
    citations = verify(answer, sources).citations
    assert {citation["status"] for citation in citations} == {"grounded"}
    return [citation["number"] for citation in citations]
