"""The terms of text in many scripts: what is written down here is what indexes on disk hold."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.stores.analysis import (
    ANALYSIS_VERSION,
    MAX_TERM_CHARACTERS,
    MOST_QUERY_TERMS,
    query_terms,
    terms,
)

TERMS = {
    "The company's dogs were running": ["compani", "dog", "run"],
    "Which of these did she write, and when?": ["write"],
    "naïve résumés at the Café": ["naiv", "resum", "cafe"],
    "typing_extensions.TypedDict[Required], C++ 3.11": [
        *("type", "extens", "typeddict", "requir", "c", "3", "11"),
    ],
    "don’t": ["don"],
    "ＦＵＬＬ width ①": ["full", "width", "1"],
    "Straße STRASSE": ["strass", "strass"],
    "公司首次公开发行新股": [
        "公司",
        "司首",
        "首次",
        "次公",
        "公开",
        "开发",
        "发行",
        "行新",
        "新股",
    ],
    "第12条，股": ["第", "12", "条", "股"],
    "Python类型提示": ["python", "类型", "型提", "提示"],
    "日本語のテキスト": ["日本", "本語", "語の", "のテ", "テキ", "キス", "スト"],
    "ﾊﾝｶｸ サーバー": ["ハン", "ンカ", "カク", "サー", "ーバ", "バー"],
    "한국어 검색": ["한국", "국어", "검색"],
    "𠀀𠀁": ["𠀀𠀁"],
    "葛\U000e0100城 公\u200b司": ["葛城", "公司"],
    "ไทย": ["ไท", "ทย"],
    "हिन्दी में": ["हिन्दी", "में"],
    "Собаки бежали": ["собак", "бежа"],
    "λόγος ΛΟΓΟΣ": ["λογ", "λογ"],
    "كِتَاب الكتاب": ["كتاب", "كتاب"],
    "שָׁלוֹם": ["שלום"],
    "the of and": [],
    "...!? \n\t": [],
    "": [],
}


@pytest.mark.parametrize(("text", "expected"), TERMS.items())
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_other_terms_need_another_version() -> None:
    # Where this fails because TERMS above had to change, indexes on disk hold the old terms:
    # raise ANALYSIS_VERSION together with it.
    assert ANALYSIS_VERSION == 1


def test_a_very_long_word_is_cut() -> None:
    assert terms("x" * 160_000) == ["x" * MAX_TERM_CHARACTERS]


@given(st.text())
def test_any_text_has_plain_terms(text: str) -> None:
    for term in terms(text):
        assert 0 < len(term) <= MAX_TERM_CHARACTERS
        assert term.split() == [term]


@given(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8")))
def test_terms_of_one_paragraph_do_not_depend_on_another(first: str, second: str) -> None:
    assert terms(f"{first}\n{second}") == terms(first) + terms(second)


def test_threads_do_not_disturb_each_other() -> None:
    words = [f"running{number}ly generalizations" for number in range(500)]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(terms, words * 4))
    assert together == [terms(word) for word in words * 4]


@pytest.mark.parametrize("question", ["Dogs and a dog, running", "Dogs and a dog, running " * 50])
async def test_a_query_is_its_different_terms_in_order(question: str) -> None:
    """Whether they are few enough to be found at once, or in a thread."""
    assert await query_terms(question) == ["dog", "run"]
    assert await query_terms(question) == ["dog", "run"]


async def test_a_query_has_no_more_terms_than_a_search_bears() -> None:
    words = [f"w{number}" for number in range(5_000)]
    assert await query_terms(" ".join(words)) == words[:MOST_QUERY_TERMS]
