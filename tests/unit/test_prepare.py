"""Which words are the question, whatever of `question` and `messages` a caller gives."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from ragweave.nodes.prepare import read_question
from ragweave.state.errors import InvalidQuestion

DONE = [HumanMessage("first"), AIMessage("answer")]


def after_first_turn(**given: Any) -> dict[str, Any]:
    return {"settings": {"asked": "first"}, "question": "first", "messages": DONE, **given}


def test_a_question_becomes_a_message() -> None:
    question, history, asked = read_question({"question": " what? "})
    assert (question, history) == ("what?", [])
    assert [message.text for message in asked] == ["what?"]


def test_the_last_human_message_is_the_question() -> None:
    messages = [*DONE, HumanMessage([{"type": "text", "text": "and then?"}])]
    assert read_question({"messages": messages}) == ("and then?", DONE, [])


def test_a_new_message_is_newer_than_the_last_turns_question() -> None:
    state = after_first_turn(messages=[*DONE, HumanMessage("second")])
    assert read_question(state)[0] == "second"


def test_a_new_question_in_a_thread() -> None:
    question, history, asked = read_question(after_first_turn(question="second"))
    assert (question, history) == ("second", DONE)
    assert [message.text for message in asked] == ["second"]


def test_the_same_question_again() -> None:
    question, history, asked = read_question(after_first_turn())
    assert (question, history, len(asked)) == ("first", DONE, 1)


def test_a_question_that_is_spaced_out_is_closed_up_and_its_message_is_not() -> None:
    spaced, closed = "什 么 情 形 为 公 开 发 行 ？", "什么情形为公开发行？"
    question, history, [message] = read_question({"question": spaced})
    assert (question, history, message.text) == (closed, [], spaced)
    later = {"settings": {"asked": closed}, "question": closed, "messages": [message, *DONE[1:]]}
    assert read_question({**later, "question": spaced})[0] == closed
    more = [*later["messages"], HumanMessage("and then?")]
    assert read_question({**later, "messages": more})[0] == "and then?"


@pytest.mark.parametrize("state", [{}, {"question": "  \n"}, {"messages": [HumanMessage("")]}])
def test_an_empty_question_is_refused(state: dict[str, Any]) -> None:
    with pytest.raises(InvalidQuestion, match="is empty"):
        read_question(state)


def test_a_question_that_is_no_text_is_refused() -> None:
    with pytest.raises(InvalidQuestion, match="must be text, not int"):
        read_question({"question": 5})


def test_half_a_character_is_replaced() -> None:
    assert read_question({"question": "dead \ud800?"})[0] == "dead ??"


def test_a_question_that_is_too_long_is_refused() -> None:
    with pytest.raises(InvalidQuestion, match=r"1,000,000 characters; at most 32,000"):
        read_question({"question": "x" * 1_000_000})
