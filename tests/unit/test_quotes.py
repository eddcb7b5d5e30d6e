"""Quotes: the words of a source that support a sentence."""

from __future__ import annotations

import pytest

from ragweave.nodes.citations.quotes import SourceText, claim_of

MERGER = (
    "Abstract\n========\n\nThe company was founded in Oslo in 1999 by two engineers. It makes\n"
    "pumps for ships. In 2004 it merged with a Danish rival, and moved its head office to\n"
    "Copenhagen. Sales rose to 3.5 million euros.\n"
)
OFFER = (
    "第六十七条 收购要约约定的收购期限不得少于三十日，并不得超过六十日。\n"
    "第六十八条 在收购要约确定的承诺期限内，收购人不得撤销其收购要约。"
)


def quoted(claim: str, text: str, title: str | None = None) -> str | None:
    quote = SourceText(text, title).quote(claim_of(claim))
    return text[quote.start : quote.end] if quote and quote.grounded else None


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        # word for word, whatever the line breaks, case and punctuation
        ("It makes pumps for ships.", "It makes\npumps for ships."),
        ("it makes **pumps** for `ships`", "It makes\npumps for ships."),
        # in other words
        (
            "Two engineers founded the firm in Oslo in 1999.",
            "The company was founded in Oslo in 1999 by two engineers.",
        ),
        # over two sentences
        (
            "The company makes ship pumps and was founded in Oslo.",
            "The company was founded in Oslo in 1999 by two engineers. It makes\npumps for ships.",
        ),
        # misspelled
        ("Its headoffice moved to Kopenhagen after the mergr.", None),
        (
            "It mergd with a Danish rivall and moved its head office to Copenhaguen.",
            "In 2004 it merged with a Danish rival, and moved its head office to\nCopenhagen.",
        ),
        # not there
        ("The company builds satellites for a Swedish customer.", None),
        ("The company was sold to a bank.", None),
        ("", None),
        ("...", None),
    ],
)
def test_english(claim: str, quote: str | None) -> None:
    assert quoted(claim, MERGER) == quote


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("收购人不得撤销其收购要约。", "收购人不得撤销其收购要约。"),
        (
            "收购要约的期限最短为30天，最长为60天。",
            "第六十七条 收购要约约定的收购期限不得少于三十日，并不得超过六十日。",
        ),
        ("试用期最长不得超过六个月。", None),
        ("公司应当设立监事会。", None),
    ],
)
def test_chinese(claim: str, quote: str | None) -> None:
    assert quoted(claim, OFFER) == quote


@pytest.mark.parametrize(
    ("claim", "text", "quote"),
    [
        ("Keep it!' repeated the nephew.", "'Keep it!' repeated the nephew.", None),
        (
            "The lamp burns oil!",
            "“Good evening. The lamp burns oil!” he said.",
            "The lamp burns oil!",
        ),
        ("The lamp burns oil.", '"I know it. The lamp burns oil."', "The lamp burns oil."),
        (
            "`--web ask` shows each query.",
            "- `--web ask` shows each query.",
            "`--web ask` shows each query.",
        ),
        ("It is set by **total**", "It is set by ``total()``. So.", "It is set by ``total()``."),
        (
            "--force does it all",
            "Use --force with care, or --force does it all.",
            "--force does it all.",
        ),
        ("灯塔烧的是鲸油。", "“我知道。灯塔烧的是鲸油。”他说。", "灯塔烧的是鲸油。"),
        (
            "The lamp burns 3.5 litres",
            "The lamp burns 3.5 litres, in winter.",
            "The lamp burns 3.5 litres",
        ),
        (
            "In another country the lamps burn oil.",
            "'In other countries the lamps burn oil.",
            "In other countries the lamps burn oil.",
        ),
    ],
)
def test_a_quote_has_its_stop_and_no_mark_without_its_partner(
    claim: str, text: str, quote: str | None
) -> None:
    assert quoted(claim, text) == (quote or text)


def test_a_long_list_is_quoted_whole_where_it_is_copied() -> None:
    things = "lamps chairs tables clocks mirrors carpets kettles ladders hammers".split()
    items = [
        f"（{at}）{thing} made of copper from the {thing} mill" for at, thing in enumerate(things)
    ]
    listed = "The shop sells:\n" + ";\n".join(f"- {item}" for item in items) + "."
    text = f"Nobody knows.\n\n{listed}\n\nIt is closed on Mondays."
    said = " ".join(listed.split())
    assert quoted(said, text) == listed
    assert quoted(said.replace("hammers mill", "hammers shop in another town"), text) is None


def test_of_equal_passages_the_one_spelled_most_alike_is_quoted() -> None:
    text = "（一）发行人控股的公司及其董事、监事；\n（二）发行人及其董事、监事；"
    assert quoted("发行人及其董事、监事", text) == "发行人及其董事、监事"


def test_names_and_numbers_of_the_title_need_not_be_in_the_text() -> None:
    claim = "PEP 604 for Python overloads the bar operator."
    text = "This proposes overloading the bar operator."
    assert quoted(claim, text) is None
    assert quoted(claim, text, "PEP 604 for Python") == text
    # but the title alone supports nothing, and its ordinary words no part of it
    assert quoted(claim, "Unlike this, another one is proposed.", claim) is None


@pytest.mark.parametrize(
    ("claim", "text", "supported"),
    [
        ("收购要约期限为30日至60日。", "A bid is open for at least 30 and at most 60 days.", True),
        ("A bid is open for 30 to 60 days.", OFFER, True),
        ("`Required` 和 `NotRequired` 是新的写法。", "It adds Required and NotRequired.", True),
        (
            "PEP 525 and TypeIs were added.",
            "新增了 PEP 525 和 TypeIs 两项内容，供类型检查使用。",
            True,
        ),
        ("收购人不得撤销要约。", "A bidder must not withdraw the bid.", False),
        ("The bidder must not withdraw.", OFFER, False),
    ],
)
def test_across_scripts_only_names_and_numbers_are_compared(
    claim: str, text: str, supported: bool
) -> None:
    assert (quoted(claim, text) is not None) == supported


@pytest.mark.parametrize(
    ("names", "held"),
    [
        ("He was met by John Smith and by Anna van Dyck.", {"anna van dyck"}),
        ("It was in the House of Commons.", set()),
        ("Prince Shōtoku came.", {"prince shotoku"}),
        ("the General Assembly", set()),
    ],
)
def test_full_names(names: str, held: set[str]) -> None:
    source = SourceText("a portrait of Mrs. van Dyck, Shotoku", title="Dyck")
    assert source.names(claim_of(names).names) == held


def test_a_source_of_a_megabyte_is_searched() -> None:
    text = "".join(f"Sentence {n} tells of item{n} and of nothing else. " for n in range(22_000))
    assert len(text) > 1_000_000
    source = SourceText(text)
    for number in (0, 9_876, 21_999):
        claim = claim_of(f"In sentence {number}, item{number} is told of and nothing else.")
        quote = source.quote(claim)
        assert quote is not None
        assert text[quote.start : quote.end].startswith(f"Sentence {number} tells of item{number}")


@pytest.mark.parametrize(
    "text", ["a" * 200_000, "一" * 200_000, "[3] " * 50_000, "\n" * 50_000, "x y " * 50_000, ""]
)
def test_text_without_sentences_gives_short_quotes(text: str) -> None:
    for claim in ("aaaa " * 10, "一一一一", "[3] x y", "the quick brown fox"):
        quote = SourceText(text).quote(claim_of(claim))
        assert quote is None or quote.end - quote.start <= 1_300
