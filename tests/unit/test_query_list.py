"""Lists of queries as models write them when they do not keep to the structure asked for."""

from __future__ import annotations

import pytest

from ragweave.nodes.query_list import parse_queries, unique_queries

A, B, C = "What is async IO?", "How do coroutines yield?", "history of asyncio"
NUMBERED = f"1. {A}\n2. {B}\n3. {C}"

REPLIES = {
    "plain lines": f"{A}\n{B}\n{C}",
    "numbers with points": NUMBERED,
    "numbers with brackets": f"1) {A}\n2) {B}\n(3) {C}",
    "dashes": f"- {A}\n- {B}\n- {C}",
    "asterisks": f"* {A}\n* {B}\n* {C}",
    "bullets": f"• {A}\n• {B}\n• {C}",
    "preamble": f"Sure! Here are three search queries:\n\n{NUMBERED}",
    "preamble without markers": f"Here are the queries:\n{A}\n{B}\n{C}",
    "preamble without colon": f"Here are some queries for you\n{A}\n{B}\n{C}",
    "closing remark": f"{NUMBERED}\n\nLet me know if you would like more queries!",
    "closing remark without markers": f"{A}\n{B}\n{C}\n\nI hope these help.",
    "bold": f"1. **{A}**\n2. **{B}**\n3. **{C}**",
    "bold with the number": f"**1. {A}**\n**2. {B}**\n**3. {C}**",
    "bold labels": f"1. **Definition:** {A}\n2. **Mechanism**: {B}\n3. {C}",
    "double quotes": f'1. "{A}"\n2. "{B}"\n3. "{C}"',
    "typographic quotes": f"- “{A}”\n- “{B}”\n- “{C}”",
    "bold quotes": f'1. **"{A}"**\n2. "**{B}**"\n3. `{C}`',
    "code fence": f"```\n{A}\n{B}\n{C}\n```",
    "code fence with a language": f"```text\n{NUMBERED}\n```",
    "headings": f"## Search queries\n\n### Definition\n- {A}\n### Mechanism\n- {B}\n- {C}",
    "headings as items": f"### 1. {A}\n### 2. {B}\n### 3. {C}",
    "blank lines": f"\n\n{A}\n\n\n{B}\n\n{C}\n\n",
    "duplicates": f"1. {A}\n2. {A.upper()}\n3. {B}\n4. {B.rstrip('?')}\n5. {C}",
    "labels": f"Query 1: {A}\nQuery 2: {B}\nQuery 3: {C}",
    "JSON list": f'["{A}", "{B}", "{C}"]',
    "fenced JSON list": f'```json\n["{A}", "{B}", "{C}"]\n```',
    "JSON of other keys": f'{{"search_queries": ["{A}", "{B}", "{C}"]}}',
    "windows line ends": NUMBERED.replace("\n", "\r\n"),
    "rule between": f"Queries:\n---\n{A}\n{B}\n{C}\n---",
}


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES.keys())
def test_the_queries_and_nothing_else(reply: str) -> None:
    assert parse_queries(reply) == [A, B, C]


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "\n \n",
        "```\n```",
        "Here are the queries:",
        "I cannot help with that.",
        "Sorry, I can't do that.",
        "[]",
        '{"queries": []}',
        "# Queries",
    ],
)
def test_a_reply_without_queries_has_none(reply: str) -> None:
    assert parse_queries(reply) == []


def test_chinese_lists() -> None:
    expected = ["公开发行股票的条件", "证券法对首次公开发行的规定"]
    for reply in (
        "以下是检索查询：\n1、公开发行股票的条件\n2、证券法对首次公开发行的规定",
        "好的，以下是两个查询\n公开发行股票的条件\n证券法对首次公开发行的规定\n希望对您有帮助。",
        "一、公开发行股票的条件\n二、证券法对首次公开发行的规定",
        "问题1：“公开发行股票的条件”\n问题2：「证券法对首次公开发行的规定」",
    ):
        assert parse_queries(reply) == expected


def test_numbers_that_belong_to_a_query_stay() -> None:
    assert parse_queries("3.11 release notes of Python\n2019 securities law") == [
        "3.11 release notes of Python",
        "2019 securities law",
    ]


def test_one_query_more_or_less_is_no_matter_of_parsing() -> None:
    assert len(parse_queries("\n".join(f"{n}. query number {n}" for n in range(1, 12)))) == 11
    assert parse_queries("only this one") == ["only this one"]


def test_queries_that_differ_in_case_width_or_end_mark_are_one() -> None:
    assert unique_queries(["Ａsync  IO?", "async io", "ASYNC IO？", " "]) == ["Ａsync IO?"]
