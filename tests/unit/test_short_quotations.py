"""Short sentences that answer are quoted; headings, labels and exclamations as short are not."""

from __future__ import annotations

import pytest

from ragweave.models.offline.quoting import quote_answer
from ragweave.models.prompt import Section

HARBOUR = "The harbour opens at nine in the morning and closes at six in the evening."
PORT = "港口每天上午九点开放，下午六点关闭，所有船只都可以停留两周。"


def answer(question: str, text: str) -> str:
    return quote_answer([Section("question", question), Section("source", text, {"number": "1"})])


@pytest.mark.parametrize(
    ("question", "sentence", "longer"),
    [
        ("Was Marley dead?", "Marley was dead", HARBOUR),
        ("Is admission free?", "Admission is free", HARBOUR),
        ("How much does admission cost?", "Admission is free", HARBOUR),
    ],
)
def test_a_short_sentence_that_answers(question: str, sentence: str, longer: str) -> None:
    assert answer(question, f"{sentence}. {longer}") == f"{sentence} [1]."
    assert answer(question, f"{longer} {sentence}.") == f"{sentence} [1]."


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("银行什么时候关门？", "银行周二关门"),
        ("作者是谁？", "作者是鲁迅"),
        ("保修期是多久？", "保修期为一年"),
        ("有效期多长？", "有效期为三年"),
        ("图书馆什么时候闭馆？", "图书馆周一闭馆"),
    ],
)
def test_a_short_chinese_sentence_that_answers(question: str, sentence: str) -> None:
    assert answer(question, f"{sentence}。{PORT}") == f"{sentence}[1]。"
    assert answer(question, f"{PORT}{sentence}。") == f"{sentence}[1]。"


@pytest.mark.parametrize(
    ("question", "text", "said"),
    [
        (
            "What is the admission?",
            "# Admission\n\nAdmission\n\n- Admission:\n\nThe admission of a ship is five crowns.",
            "The admission of a ship is five crowns [1].",
        ),
        (
            "图书馆什么时候闭馆？",
            "图书馆闭馆\n\n图书馆闭馆：\n\n图书馆在每个星期一的全天都闭馆休息。",
            "图书馆在每个星期一的全天都闭馆休息[1]。",
        ),
        (
            "Is Marley dead?",
            "Marley dead! Is Marley dead? Marley is as dead as a door-nail.",
            "Marley is as dead as a door-nail [1].",
        ),
        (
            "How long is the mole?",
            "It is. The mole of the harbour is 300 metres long.",
            "The mole of the harbour is 300 metres long [1].",
        ),
    ],
)
def test_what_is_short_and_states_nothing_asked(question: str, text: str, said: str) -> None:
    assert answer(question, text) == said
