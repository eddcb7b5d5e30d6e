"""What the offline model does for the techniques that ask more than once."""

from __future__ import annotations

import pytest

from ragweave.models.offline.chat import ExtractiveChatModel
from ragweave.models.offline.expanding import expand_question
from ragweave.models.offline.quoting import NOTHING_FOUND
from ragweave.models.offline.refining import refine_answer
from ragweave.models.prompt import Section, prompt, question_section

MODEL = ExtractiveChatModel()
WEIGHT = "What does the brass lamp weigh?"


def source(number: int, text: str) -> Section:
    return Section("source", text, {"number": str(number)})


@pytest.mark.parametrize(
    ("question", "kind", "queries"),
    [
        (
            "What is the capital of France and who was its king in 1700?",
            "decompose",
            ["What is the capital of France", "who was its king in 1700"],
        ),
        (
            "基金管理人的职责是什么？托管人的职责是什么？",
            "decompose",
            ["基金管理人的职责是什么", "托管人的职责是什么"],
        ),
        (
            "Which notation marks single TypedDict items as mandatory?",
            "paraphrase",
            ["notation marks single TypedDict items mandatory", "notation TypedDict mandatory"],
        ),
        (
            "公司首次公开发行新股，应当符合哪些条件？",
            "paraphrase",
            ["公司首次公开发行新股 应当符合 些条件", "公司首次公开发行新股"],
        ),
    ],
)
def test_it_expands_by_sides_or_by_key_words(question: str, kind: str, queries: list[str]) -> None:
    expanded = expand_question([question_section(question)])
    assert (expanded.kind, expanded.queries) == (kind, queries)


def test_it_merges_notes_by_their_best_sentences() -> None:
    notes = [
        Section(
            "note", "The brass lamp weighs 3 kg [1]. Rain fell on the hills [1].", {"number": "1"}
        ),
        Section(
            "note",
            "The brass lamp weighs 3 kg [7]. With oil the brass lamp weighs 4 kg [8].",
            {"number": "2"},
        ),
    ]
    merged = MODEL.invoke(prompt("Merge.", *notes, question_section(WEIGHT))).text
    assert merged == "The brass lamp weighs 3 kg [1]. With oil the brass lamp weighs 4 kg [8]."
    empty = MODEL.invoke(prompt("Merge.", Section("note", "Nothing."), question_section(WEIGHT)))
    assert empty.text == NOTHING_FOUND


def test_it_makes_an_answer_short_by_its_best_sentence() -> None:
    long = Section("answer", "It rained on the hills [2]. The brass lamp weighs 3 kg [1].")
    short = MODEL.invoke(prompt("Be short.", long, question_section(WEIGHT))).text
    assert short == "The brass lamp weighs 3 kg [1]."


def test_it_refines_only_with_what_answers_as_well() -> None:
    earlier = Section("answer", "The brass lamp weighs 3 kg [1].")
    better = source(2, "With its oil the brass lamp weighs 4 kg. Rain fell.")
    worse = source(2, "Rain fell on the hills all day. Nobody minded.")
    refined = refine_answer([earlier, better, question_section(WEIGHT)])
    assert refined.adds
    assert refined.answer == (
        "The brass lamp weighs 3 kg [1]. With its oil the brass lamp weighs 4 kg [2]."
    )
    assert not refine_answer([earlier, worse, question_section(WEIGHT)]).adds
    nothing = Section("answer", NOTHING_FOUND)
    first = refine_answer([nothing, better, question_section(WEIGHT)])
    assert first.answer == "With its oil the brass lamp weighs 4 kg [2]."
