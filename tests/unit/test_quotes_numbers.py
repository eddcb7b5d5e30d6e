"""Numbers in one form: what a sentence claims, and what a source's text supports."""

from __future__ import annotations

import pytest

from ragweave.nodes.citations.numbers import claimed, held


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1,000 and 1000 and １０００", {"1000"}),
        ("$1,234.56", {"1234.56"}),
        ("1 thousand or 2.5 million", {"1000", "2500000"}),
        ("PEP 604, Python 3.10", {"604", "3.10"}),
        ("in the 1990s, on the 21st", {"1990", "21"}),
        ("10km, 5 kg, 30ms", {"10", "5", "30"}),
        ("28-Aug-2019, 10:30, 3-5", {"28", "2019", "10", "30", "3", "5"}),
        ("007 and 0.5", {"7", "0.5"}),
        ("H2O, 3D, Python3, int32, x1", set()),
        ("one of the two sides, three ways", set()),
        ("sixty days, twenty-five, two hundred and six", {"60", "25", "206"}),
        ("不得少于三十日，并不得超过六十日", {"30", "60"}),
        ("人民币五千万元，或者1.5亿元", {"50000000", "150000000"}),
        ("百分之五以上，5%，５％", {"5"}),
        ("第十二条、第二百二十六条", {"12", "226"}),
        ("二〇一九年十二月二十八日", {"2019", "12", "28"}),
        ("五十万元以上五百万元以下", {"500000", "5000000"}),
        ("三千二百人，一年，一亿两千万元", {"3200", "1", "120000000"}),
        ("统一规定，一些公司，十分重要，万一，同一年，数十年，一个", set()),
        ("", set()),
    ],
)
def test_numbers_that_a_sentence_claims(text: str, numbers: set[str]) -> None:
    assert claimed(text) == numbers


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("1,000", "one thousand is 1000"),
        ("3 purposes", "three related purposes"),
        ("the 3rd", "the third of them"),
        ("25", "twenty-five"),
        ("30天", "三十日"),
        ("5000万元", "五千万元"),
        ("5%", "百分之五"),
        ("2019年8月28日", "28-Aug-2019"),
        ("2019年8月28日", "August 28, 2019"),
        ("2019-08-28", "二〇一九年八月二十八日"),
        ("version 3.11", "since 3.11.2"),
        ("1,000,000", "1.000.000 Euro"),
        ("3 million", "3,000,000"),
        ("sixty days", "60 days"),
    ],
)
def test_the_same_number_written_otherwise(claim: str, source: str) -> None:
    assert claimed(claim)
    assert claimed(claim) <= held(source)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("3.1", "Python 3.10"),
        ("1000", "10,000"),
        ("2020", "2019 and 2021"),
        ("3 million", "3 thousand"),
        ("九十日", "三十日以上六十日以下"),
        ("5000万", "五百万元"),
        ("12", "1 and 2"),
    ],
)
def test_another_number(claim: str, source: str) -> None:
    assert claimed(claim)
    assert not claimed(claim) <= held(source)


@pytest.mark.parametrize("text", ["1" * 50_000, "1." * 20_000, "1,111" * 9_000, "亿" * 20_000])
def test_endless_numbers_are_read(text: str) -> None:
    assert held(text) >= claimed(text)
