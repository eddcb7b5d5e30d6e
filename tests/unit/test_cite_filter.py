"""The streaming filter: what it drops, what it tidies, and what it holds back."""

from __future__ import annotations

import pytest

from ragweave.nodes.citations.token_filter import TokenFilter

KNOWN = frozenset({1, 2, 3})


def run(text: str, size: int = 1_000_000) -> tuple[str, list[str]]:
    tokens = TokenFilter(KNOWN)
    pieces = [tokens.feed(text[at : at + size]) for at in range(0, len(text), size)]
    return "".join([*pieces, tokens.close()]), tokens.invalid


def check(text: str, expected: str, invalid: list[str]) -> None:
    for size in (1_000_000, 1, 3):
        assert run(text, size) == (expected, invalid)
    assert run(expected) == (expected, [])


@pytest.mark.parametrize(
    "text",
    [
        "Fact [1]. Next【2】 and [1-3] and (Source 2).",
        "No marker at all, only (2019) and [sic] and [ a long aside that goes on ].",
        "An open [1 or [Source is text, and so is [",
        "[[1]] and ([1]) and **[2]**",
        "Spaces   stay  ,  \n\n  and\ttabs \r\n too ",
        "[text](https://example.org/9) and [1](https://example.org)",
        "Sources: the Nile has two of them.",
        "",
        "\n",
    ],
)
def test_nothing_else_is_touched(text: str) -> None:
    check(text, text, [])


@pytest.mark.parametrize(
    ("text", "expected", "invalid"),
    [
        ("Fact [9].", "Fact.", ["[9]"]),
        ("Fact.[9] Next", "Fact. Next", ["[9]"]),
        ("Fact [9] goes on", "Fact goes on", ["[9]"]),
        ("Fact[9] goes on", "Fact goes on", ["[9]"]),
        ("Fact [9], then", "Fact, then", ["[9]"]),
        ("事实[9]。下一句【8】。", "事实。下一句。", ["[9]", "【8】"]),
        ("Fact [1][9].", "Fact [1].", ["[9]"]),
        ("Fact [9], [1].", "Fact [1].", ["[9]"]),
        ("Fact [1], [9] and [2].", "Fact [1], [2].", ["[9]"]),
        ("Fact [1] and [9].", "Fact [1].", ["[9]"]),
        ("Fact [1, 99].", "Fact [1].", ["[1, 99]"]),
        ("[7] [0] [1][99]", "[1]", ["[7]", "[0]", "[99]"]),
        ("In [2020] it", "In it", ["[2020]"]),
        ("[9] Fact", "Fact", ["[9]"]),
        ("- [9] item\n- item [9]\n", "- item\n- item", ["[9]", "[9]"]),
        ("one\n[9]\ntwo", "one\ntwo", ["[9]"]),
        ("one\n\n[9]\n\ntwo", "one\n\ntwo", ["[9]"]),
        ("one\n\n[9]", "one", ["[9]"]),
        ("fact ([9]) more", "fact more", ["[9]"]),
        ("fact (see [9]).", "fact.", ["[9]"]),
        ("fact (Sources: [1], [9]).", "fact (Sources: [1]).", ["[9]"]),
        ("fact [9](https://made.up/x) more", "fact more", ["[9]"]),
        ("a [[9]8] b", "a b", ["[9]", "[8]"]),
        ("a [Sou[9]rce 8] b", "a b", ["[9]", "[Source 8]"]),
        ("a [1, [9]2] b", "a [1 2] b", ["[9]"]),
        ("Fact [^1].\n\n[^1]: A\n[^9]: B\n", "Fact [^1].\n\n[^1]: A", ["[^9]"]),
        ("**bold [9]** more", "**bold** more", ["[9]"]),
    ],
)
def test_markers_of_no_source_go_with_their_space(
    text: str, expected: str, invalid: list[str]
) -> None:
    check(text, expected, invalid)


@pytest.mark.parametrize(
    ("text", "expected", "invalid"),
    [
        ("`a[9]` b[9]", "`a[9]` b", ["[9]"]),
        ("``a ` [9]`` b[9]", "``a ` [9]`` b", ["[9]"]),
        ("an `open tick [9]\n`b[9]`", "an `open tick\n`b[9]`", ["[9]"]),
        ("```py\na[9]\n```\nb[9]", "```py\na[9]\n```\nb", ["[9]"]),
        ("~~~\na[9]\n~~~\nb[9]", "~~~\na[9]\n~~~\nb", ["[9]"]),
        ("- code:\n  ```\n  a[9]\n  ```\n", "- code:\n  ```\n  a[9]\n  ```\n", []),
        ("````\n```\na[9]\n````\nb[9]", "````\n```\na[9]\n````\nb", ["[9]"]),
        ("```\nnever closed a[9]", "```\nnever closed a[9]", []),
        ("~5 [9] and ~~gone [9]~~", "~5 and ~~gone~~", ["[9]", "[9]"]),
        ("```markdown\nFact [9].\n```", "```markdown\nFact.\n```", ["[9]"]),
        ("`[9]``x[8]``", "` ``x[8]``", ["[9]"]),
        ("[9]```\nx[8]\n```", "```\nx[8]\n```", ["[9]"]),
    ],
)
def test_code_is_left_alone(text: str, expected: str, invalid: list[str]) -> None:
    check(text, expected, invalid)


@pytest.mark.parametrize(
    ("text", "expected", "invalid"),
    [
        ("Sources: [1], [9]", "Sources: [1]", ["[9]"]),
        ("Sources: 1, 9, 2", "Sources: 1, 2", ["9"]),
        ("来源：1、9", "来源：1", ["9"]),
        ("A.\n\nSources:\n[1] B\n[9] C\n[2] D\n", "A.\n\nSources:\n[1] B\n[2] D\n", ["[9]"]),
        ("参考文献：\n[1] 甲\n[8] 乙", "参考文献：\n[1] 甲", ["[8]"]),
        ("## References\n1. B\n9. C\n- [9] D\n- E", "## References\n1. B\n- E", ["9", "[9]"]),
        ("**Sources**\n\n- [9][1] B\n", "**Sources**\n\n- [1] B\n", ["[9]"]),
        ("Sources:\n- [9] C\n\nMore text [9].", "Sources:\n\nMore text.", ["[9]", "[9]"]),
        ("Sour[9]ces: 9", "Sources:", ["[9]", "9"]),
        ("Sources:\n1. `a[9]` [9]", "Sources:\n1. `a[9]`", ["[9]"]),
    ],
)
def test_entries_of_a_source_list_go_with_their_line(
    text: str, expected: str, invalid: list[str]
) -> None:
    check(text, expected, invalid)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Fact", "Fact"),
        ("Fact ", "Fact"),
        ("Fact [", "Fact"),
        ("Fact [1", "Fact"),
        ("Fact [1]", "Fact [1]"),
        ("Fact [Sour", "Fact"),
        ("Fact [sic", "Fact"),
        ("Fact [sic]", "Fact [sic]"),
        ("Fact [ long text", "Fact [ long text"),
        ("Fact [1 long", "Fact"),
        ("Fact [1 long text", "Fact [1 long text"),
        ("a `code", "a "),
        ("a `code` b", "a `code` b"),
        ("a `code\nb", "a `code\nb"),
        ("Sources:\n[1] A", "Sources:"),
        ("Sources:\n[1] A\n", "Sources:\n[1] A"),
    ],
)
def test_what_is_shown_at_once(text: str, shown: str) -> None:
    assert TokenFilter(KNOWN).feed(text) == shown


def test_held_back_text_is_bounded() -> None:
    tokens = TokenFilter(KNOWN)
    shown = len(tokens.feed("[1") + "".join(tokens.feed(", 2") for _ in range(1_000)))
    assert shown > 2_500
    assert len(tokens.feed(" " * 10_000)) > 9_000


def test_without_sources_no_marker_stays() -> None:
    tokens = TokenFilter([])
    assert tokens.feed("a [1] b 【2】") + tokens.close() == "a b"
    assert tokens.invalid == ["[1]", "【2】"]
