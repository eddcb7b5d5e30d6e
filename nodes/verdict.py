"""Reading a grader's verdict where it did not come in the structure asked for."""

from __future__ import annotations

import re

from ragweave.models.schemas import DocumentGrade
from ragweave.state.crag import Verdict

_DECORATION = re.compile(r"['’*_`\"]+")
_UNSURE = re.compile(
    r"\b(?:can ?not|cant|unable|unsure|unclear|not sure|dont know)\b|无法|不确定|不知道"
)
_NEGATIVE = re.compile(
    r"\bno\b(?! doubt)|\birrelevant\b|\b(?:not|isnt|un|non)[\s-]*(?:\w+ly\s+|at all\s+)?relevant\b"
    r"|不相关|无关|不是|^否"
)
_PARTLY = re.compile(r"\bpart(?:ly|ial|ially)\b|\bsomewhat\b|部分")
_POSITIVE = re.compile(r"\byes\b|(?<!not )(?<!ir)\brelevant\b|(?<!不)相关|^是")


def salvage_grade(text: str) -> DocumentGrade | None:
    """The verdict that a reply in prose or with other keys gives, if it gives one clearly."""
    verdict = read_verdict(text)
    if verdict == "ungraded":
        return None
    return DocumentGrade(verdict=verdict, reason=" ".join(text.split())[:200])


def read_verdict(text: str) -> Verdict:
    """Verdict of free text: what it says first counts; doubt or silence is `ungraded`.

    A negated "relevant" is never read as relevant.
    """
    plain = _DECORATION.sub("", text).lower().strip()
    found = [
        (match.start(), verdict)
        for pattern, verdict in _PATTERNS
        if (match := pattern.search(plain))
    ]
    return min(found)[1] if found else "ungraded"


_PATTERNS: tuple[tuple[re.Pattern[str], Verdict], ...] = (
    (_UNSURE, "ungraded"),
    (_NEGATIVE, "irrelevant"),
    (_PARTLY, "partly"),
    (_POSITIVE, "relevant"),
)
