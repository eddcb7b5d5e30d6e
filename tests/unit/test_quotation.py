"""Quotation marks that were cut off from their partners."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.state.quotation import without_loose_marks
from ragweave.state.text import Span


def kept(text: str) -> str:
    return text[slice(*without_loose_marks(text, Span(0, len(text))))]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('He is dead."', "He is dead."),
        ("“He is dead.", "He is dead."),
        ('" said Scrooge.', "said Scrooge."),
        ("他说你好”。", "他说你好"),
        ("「好。", "好。"),
        ("’", ""),
        ("'tis so", "tis so"),
    ],
)
def test_a_mark_without_its_partner_is_left_out(text: str, left: str) -> None:
    assert kept(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "'Keep it!' repeated Scrooge's nephew.",
        'saying, "How are you?"',
        "他说“你好”。",
        '他说"你好"。',
        "“你好。”",
        "the ships' crews.",
        "It isn't so; don’t.",
        'see "a" and "b"',
        '"Yes," he said. "No."',
        "5' 6 and a half",
    ],
)
def test_what_has_its_partner_stays(text: str) -> None:
    assert kept(text) == text


@given(st.text(alphabet="ab .!'\"“”‘’「」你", max_size=30))
def test_only_the_ends_are_cut_and_once_is_enough(text: str) -> None:
    left = kept(text)
    assert left in text
    assert kept(left) == left
