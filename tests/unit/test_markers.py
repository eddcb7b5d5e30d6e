"""Citation markers: every form that models write, and what is not one."""

from __future__ import annotations

import pytest

from ragweave.state.markers import LONGEST, leading, may_become, parse

KNOWN = frozenset({1, 2, 3})

MARKERS = [
    ("[1]", [1]),
    ("[1, 2]", [1, 2]),
    ("[2,1]", [2, 1]),
    ("[1; 2]", [1, 2]),
    ("[1 2]", [1, 2]),
    ("[1 and 2]", [1, 2]),
    ("[1, 2, and 3]", [1, 2, 3]),
    ("[1-3]", [1, 2, 3]),
    ("[1–3]", [1, 2, 3]),
    ("[1 to 3]", [1, 2, 3]),
    ("[1-2, 3]", [1, 2, 3]),
    ("[ 1 ]", [1]),
    ("[01]", [1]),
    ("[#1]", [1]),
    ("[^1]", [1]),
    ("[^1, ^2]", [1, 2]),
    ("[1,]", [1]),
    ("[Source 2]", [2]),
    ("[source: 2]", [2]),
    ("[SOURCE #2]", [2]),
    ("[Sources 1, 2]", [1, 2]),
    ("[Source 1, Source 2]", [1, 2]),
    ("[Source 1; 2]", [1, 2]),
    ("[Source No. 2]", [2]),
    ("[Document 1-3]", [1, 2, 3]),
    ("[doc_1]", [1]),
    ("[Ref. 1]", [1]),
    ("[cite: 1, 2]", [1, 2]),
    ("[see 1]", [1]),
    ("[1, p. 5]", [1]),
    ("[1, pp. 5-6]", [1]),
    ("[1, Section 99]", [1]),
    ("(Source 2)", [2]),
    ("(source: 2)", [2]),
    ("(Sources 1, 2)", [1, 2]),
    ("(see source 2)", [2]),
    ("［１］", [1]),
    ("【2】", [2]),
    ("〔3〕", [3]),
    ("【1†source】", [1]),
    ("【1†L5-L9】", [1]),
    ("[1，2]", [1, 2]),
    ("[1、2]", [1, 2]),
    ("[1，2，和3]", [1, 2, 3]),
    ("[1至3]", [1, 2, 3]),
    ("[来源：2]", [2]),
    ("【来源2】", [2]),
    ("（来源：2）", [2]),
    ("（资料1、2）", [1, 2]),
    ("【参考文献1，2】", [1, 2]),
    ("【1，第十二条】", [1]),
    ("[٢]", [2]),
]


@pytest.mark.parametrize(("text", "numbers"), MARKERS)
def test_forms_that_models_write(text: str, numbers: list[int]) -> None:
    marker = parse(text)
    assert marker is not None
    assert marker.numbers(KNOWN) == numbers
    assert marker.only(KNOWN) == text
    assert leading(f"{text} and more") == marker


@pytest.mark.parametrize(("text", "_"), MARKERS)
def test_a_marker_is_waited_for_from_its_first_character(text: str, _: list[int]) -> None:
    assert all(may_become(text[:length]) for length in range(1, len(text)))


@pytest.mark.parametrize(
    "text",
    [
        *(
            "(1)",
            "(2019)",
            "(in 2)",
            "(document 5)",
            "(Source: Wikipedia)",
            "[a]",
            "[sic]",
            "[...]",
        ),
        *("[0.5]", "[1.2]", "[-1]", "[1:3]", "[1, a]", "[x, 1]", "[Python 3]", "[Article 5]"),
        *("[第12条]", "[]", "[source]", "[see above]", "[1)", "【1]", "[1", "1]", "[1\n2]", "[1] "),
    ],
)
def test_what_is_no_marker(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize(
    "text",
    ["[ long", "[long text", "[1 long", "[Python 3 is", "(see the", "(2", "[" + "1, " * LONGEST],
)
def test_text_that_cannot_become_one_is_not_waited_for(text: str) -> None:
    assert not may_become(text + " ")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("[99]", ""),
        ("[0]", ""),
        ("[2020]", ""),
        ("[99999999999999999999]", ""),
        ("[4-9]", ""),
        ("【4:0†source】", ""),
        ("(Source 9)", ""),
        ("[1, 99]", "[1]"),
        ("[99, 1, 2]", "[1, 2]"),
        ("[0-2]", "[1, 2]"),
        ("[2-1000000000]", "[2, 3]"),
        ("[Source 1, Source 99]", "[Source 1]"),
        ("【1，99，2】", "【1，2】"),
        ("[1, 99, p. 5]", "[1]"),
    ],
)
def test_only_numbers_of_sources_are_kept(text: str, kept: str) -> None:
    marker = parse(text)
    assert marker is not None
    assert marker.only(KNOWN) == kept


@pytest.mark.parametrize(
    ("text", "renamed"),
    [
        ("[1]", "[3]"),
        ("[2]", "[2]"),
        ("[1, 2]", "[3, 2]"),
        ("[1-3]", "[1, 2, 3]"),
        ("[Source 1]", "[Source 3]"),
        ("【1†source】", "【3†source】"),
        ("【1，2】", "【3，2】"),
    ],
)
def test_numbers_are_replaced_in_place(text: str, renamed: str) -> None:
    marker = parse(text)
    assert marker is not None
    assert marker.renamed({1: 3, 2: 2, 3: 1}) == renamed
