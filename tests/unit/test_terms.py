"""Without a model, entities are the terms that a corpus uses often."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from ragweave.indexing.graph.terms import extract_by_terms, find_terms, terms_in


@pytest.fixture
def statute(data: Path) -> str:
    return (data / "demo/law_zh/证券法.md").read_text(encoding="utf-8")


@pytest.fixture
def novel(data: Path) -> str:
    return (data / "demo/christmas_carol.txt").read_text(encoding="utf-8")


def test_the_most_frequent_terms_of_a_statute_are_its_own(statute: str) -> None:
    counts = Counter(terms_in(statute, find_terms([statute])))

    top = {term for term, _ in counts.most_common(20)}

    real = {
        *("证券", "公司", "证券公司", "交易", "国务院证券监督管理机构", "业务", "信息", "投资者"),
        *("发行人", "证券交易所", "发行", "责任", "收购", "股东", "证券登记结算机构", "股票"),
        *("董事", "客户", "国务院", "证券交易"),
    }
    assert len(top & real) >= 16


def test_the_names_of_a_novel_are_found_and_words_that_begin_sentences_are_not(novel: str) -> None:
    terms = find_terms([novel])

    assert {"Scrooge", "Bob Cratchit", "Tiny Tim", "Fezziwig", "Ghost of Christmas Past"} <= terms
    assert not {"The", "But", "I'll", "I", "He", "It", "When"} & terms


def test_a_name_has_its_capital_within_a_sentence_too() -> None:
    text = (
        "Rejected Ideas\n\nMoreover, Marley's friend met Scrooge and Mrs. Dilber.\n\n"
        "Rejected Ideas\n\nMoreover, he and Marley saw Scrooge. Mrs. Dilber came.\n"
        "Captain Brandt sails. Captain Brandt sleeps."
    )

    assert find_terms([text]) == {"Marley", "Scrooge", "Mrs. Dilber", "Captain Brandt"}


def test_terms_of_a_sentence_are_related_and_quoted() -> None:
    text = "Scrooge met Marley. Then Scrooge slept."
    extraction = extract_by_terms(text, frozenset(("Scrooge", "Marley")))

    assert {entity.title: entity.description for entity in extraction.entities} == {
        "Scrooge": "Scrooge met Marley.",
        "Marley": "Scrooge met Marley.",
    }
    [edge] = extraction.relationships
    assert (edge.source, edge.target, edge.description) == (
        "Marley",
        "Scrooge",
        "Scrooge met Marley.",
    )


def test_of_two_chinese_terms_that_overlap_the_longer_one_is_meant() -> None:
    terms = frozenset(("证券", "证券公司", "公司"))

    assert list(terms_in("证券公司和证券交易", terms)) == ["证券公司", "证券"]


@pytest.mark.parametrize("text", ["", "12 34", "的的的的", "no names here"])
def test_a_text_without_terms_has_none(text: str) -> None:
    assert find_terms([text] * 5) == frozenset()
