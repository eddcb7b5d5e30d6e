"""What a grader's words mean where they did not come as the structure asked for."""

from __future__ import annotations

import pytest

from ragweave.nodes.verdict import read_verdict, salvage_grade


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("yes", "relevant"),
        ("Yes.", "relevant"),
        ("yes, it is relevant", "relevant"),
        ("**yes**", "relevant"),
        ("Relevant: it names the author.", "relevant"),
        ("No doubt this is relevant.", "relevant"),
        ('{"binary_score": "yes"}', "relevant"),
        ("相关", "relevant"),
        ("是的，相关", "relevant"),
        ("no", "irrelevant"),
        ("No.", "irrelevant"),
        ("no - off topic", "irrelevant"),
        ("No, although the title looks relevant", "irrelevant"),
        ("No: it cannot answer the question.", "irrelevant"),
        ("irrelevant", "irrelevant"),
        ("not relevant", "irrelevant"),
        ("It is not really relevant.", "irrelevant"),
        ("This isn't relevant", "irrelevant"),
        ("This isn’t relevant", "irrelevant"),
        ("non-relevant", "irrelevant"),
        ("不相关", "irrelevant"),
        ("无关", "irrelevant"),
        ("partly relevant", "partly"),
        ("Partially: it is about the subject.", "partly"),
        ("部分相关", "partly"),
        ("I cannot judge", "ungraded"),
        ("I can't say whether it is relevant", "ungraded"),
        ("", "ungraded"),
        ("The document is about penguins.", "ungraded"),
        ("无法判断", "ungraded"),
    ],
)
def test_verdict_of_prose(reply: str, verdict: str) -> None:
    assert read_verdict(reply) == verdict


def test_prose_without_a_verdict_is_not_salvaged() -> None:
    assert salvage_grade("I cannot judge") is None


def test_salvaged_grade_keeps_the_reply_as_its_reason() -> None:
    grade = salvage_grade("no -\n off topic")
    assert grade is not None
    assert (grade.verdict, grade.reason) == ("irrelevant", "no - off topic")
