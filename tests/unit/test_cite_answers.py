"""Answers as models write them, over PEPs and Chinese statutes: what a reader is told of each."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ragweave.nodes.cite import verify
from ragweave.state.records import Source
from tests.unit.made_source import made_source

CHUNK = 2_000


def chunk(data: Path, number: int, pep: int, at: str) -> Source:
    """A chunk of a PEP that begins with the paragraph holding `at`."""
    text = (data / f"demo/peps/pep-{pep:04d}.rst").read_text(encoding="utf-8")
    title = re.search(r"^Title: (.*)$", text, re.MULTILINE)
    assert title
    start = max(0, text.rfind("\n\n", 0, text.index(at)))
    return made_source(
        number, text[start : start + CHUNK], title=f"PEP {pep} – {title[1]}", start=start
    )


def article(data: Path, number: int, name: str) -> Source:
    """An article of the Securities Law."""
    path = data / "demo/law_zh/证券法.articles.jsonl"
    articles = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    text = next(item["text"] for item in articles if item["article"] == name)
    return made_source(number, text, title=f"证券法 {name}")


@pytest.fixture(scope="module")
def peps(data: Path) -> list[Source]:
    return [
        chunk(data, 1, 604, "This PEP proposes"),
        chunk(data, 2, 484, "This PEP aims"),
        chunk(data, 3, 526, "This PEP aims"),
        chunk(data, 4, 525, ":pep:`492` introduced support"),
        chunk(data, 5, 380, "A syntax is proposed"),
        chunk(data, 6, 655, "This PEP introduces"),
    ]


@pytest.fixture(scope="module")
def law(data: Path) -> list[Source]:
    names = ("第十二条", "第六十三条", "第六十七条", "第一百二十一条", "第一百九十一条")
    return [article(data, number, name) for number, name in enumerate(names, 1)]


def told(answer: str, sources: list[Source]) -> list[tuple[int | None, str, str]]:
    """Number, status, and the beginning of the quote, white space folded."""
    return [
        (item["number"], item["status"], " ".join((item["quote"] or "").split())[:20])
        for item in verify(answer, sources).citations
    ]


def test_paraphrases_are_grounded_in_what_they_paraphrase(peps: list[Source]) -> None:
    answer = (
        "PEP 604 lets you write union types with the `|` operator, so `Union[X, Y]` becomes "
        "`X | Y` [1]. It also makes it usable in `isinstance()` and `issubclass()` calls [1].\n\n"
        "According to the sources, PEP 484 provides a standard syntax for type annotations, which "
        "opens Python code up to easier static analysis (Source 2). PEP 526 adds syntax for "
        "annotating variables, including class and instance variables 【3†source】."
    )
    assert told(answer, peps) == [
        (1, "grounded", "This PEP proposes ov"),
        (1, "grounded", "This PEP proposes ov"),
        (2, "grounded", "This PEP aims to pro"),
        (3, "grounded", "This PEP aims at add"),
    ]


def test_parts_of_a_sentence_are_grounded_in_their_own_sources(peps: list[Source]) -> None:
    answer = (
        "A generator can delegate part of its operations to another generator [5], and "
        "asynchronous generators are 2x faster than an equivalent asynchronous iterator [4]."
    )
    assert told(answer, peps) == [
        (5, "grounded", "A syntax is proposed"),
        (4, "grounded", "Performance is an ad"),
    ]
    swapped = answer.replace("[5]", "[0]").replace("[4]", "[5]").replace("[0]", "[4]")
    assert [status for _, status, _ in told(swapped, peps)] == ["ungrounded", "ungrounded"]


def test_invented_facts_are_not_grounded(peps: list[Source]) -> None:
    answer = (
        "1. Asynchronous generators are 5x faster than asynchronous iterators [4].\n"
        "2. The `|` operator on types was proposed by Barbara Liskov [1].\n"
        "3. PEP 380 removes the global interpreter lock from the interpreter [5].\n"
        "4. PEP 999 is also relevant [12].\n\n"
        "Would you like to know more?"
    )
    verified = verify(answer, peps)
    assert [(item["number"], item["status"]) for item in verified.citations] == [
        (4, "ungrounded"),
        (1, "ungrounded"),
        (5, "ungrounded"),
        (None, "missing"),
    ]
    assert verified.invalid_markers == ["[12]"]


def test_tables_code_and_a_list_of_sources(peps: list[Source]) -> None:
    answer = (
        "| Notation | Meaning |\n|---|---|\n"
        "| `Required[]` | marks single items of a TypedDict as required [6] |\n\n"
        "```python\nclass Movie(TypedDict):\n    year: NotRequired[int]  # items[0]\n```\n\n"
        "`NotRequired[]` marks items as potentially missing.[6]\n\n"
        "## References\n- [6] PEP 655\n- [1] PEP 604\n- [9] PEP 999"
    )
    verified = verify(answer, peps)
    assert verified.answer.endswith("## References\n- [6] PEP 655\n- [1] PEP 604")
    assert "# items[0]" in verified.answer
    assert [(item["number"], item["status"]) for item in verified.citations] == [
        (6, "grounded"),
        (6, "grounded"),
        (1, "ungrounded"),
    ]


def test_refusals_are_missing_nothing(peps: list[Source]) -> None:
    assert told("I'm sorry, but the provided documents do not mention Saturn.", peps) == []
    answer = "None of the sources answers this question. In general, Saturn has 146 moons."
    assert told(answer, peps) == [(None, "missing", "")]


def test_chinese_list_under_a_cited_lead_in(law: list[Source]) -> None:
    answer = (
        "根据《证券法》第十二条，公司首次公开发行新股应当符合以下条件[1]：\n\n"
        "1. 具备健全且运行良好的组织机构；\n"
        "2. 最近三年财务会计报告被出具无保留意见审计报告；\n"
        "3. 发行人及其控股股东、实际控制人最近三年不存在贪污、贿赂等刑事犯罪；\n"
        "4. 注册资本不低于五千万元。"
    )
    assert told(answer, law) == [
        (1, "grounded", "第十二条 公司首次公开发行新股，应当符合"),
        (1, "grounded", "具备健全且运行良好的组织机构"),
        (1, "grounded", "最近三年财务会计报告被出具无保留意见审计"),
        (
            1,
            "grounded",
            "（四）发行人及其控股股东、实际控制人最近",
        ),
        (None, "missing", ""),
    ]


@pytest.mark.parametrize(
    ("answer", "number", "status"),
    [
        ("收购要约的期限最短为30天，最长为60天【3】。", 3, "grounded"),
        ("收购要约约定的收购期限不得少于三十日，并不得超过九十日[3]。", 3, "ungrounded"),
        ("[3]规定，收购期限不得超过六十日。", 3, "grounded"),
        ("没有违法所得的，处50万元以上500万元以下的罚款[5]。", 5, "grounded"),
        ("没有违法所得的，处50万元以上900万元以下的罚款[5]。", 5, "ungrounded"),
        (
            "投资者持有的有表决权股份达到5%时，应当在3日内向证券交易所作出书面报告[2]。",
            2,
            "grounded",
        ),
        ("证券公司应当设立独立董事和监事会[4]。", 4, "ungrounded"),
        ("收购要约的期限最短为30天，最长为60天（来源：2）。", 2, "ungrounded"),
        # only names and numbers can be compared across scripts
        ("A tender offer runs for at least 30 and at most 60 days [3].", 3, "grounded"),
        ("A company must have a sound organizational structure [1].", 1, "ungrounded"),
    ],
)
def test_chinese_statutes(law: list[Source], answer: str, number: int, status: str) -> None:
    assert [item[:2] for item in told(answer, law)] == [(number, status)]


def test_chinese_courtesies_and_refusals(law: list[Source]) -> None:
    answer = (
        "您好！资料中没有提到试用期的规定。\n\n"
        "**结论**：注册资本最低限额为人民币5000万元[4]。\n\n希望以上内容对您有帮助！"
    )
    assert [item[:2] for item in told(answer, law)] == [(4, "grounded")]
