"""How the offline model expands a question to several search queries."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragweave.models.offline.sections import question_of
from ragweave.models.offline.words import key_words, rarity
from ragweave.models.prompt import Section
from ragweave.models.schemas import SearchQueries

_SIDES = re.compile(
    r"[?？;；]\s*|\s*,?\s+\b(?:and|then)\b\s+"
    r"(?=(?:also|what|who|which|when|where|how|why|is|are|was|were|does|do|did|in which)\b)"
    r"|[，,]?(?:以及|并且|同时)",
    re.IGNORECASE,
)
_MIN_WORDS = 2
"""Key words that a side of a question needs to be searched for by itself."""


def expand_question(sections: Sequence[Section]) -> SearchQueries:
    """The sides of a many-sided question; of any other its key words, then the rarer half of them.

    It knows no other words for anything, so it cannot paraphrase as a language model does.
    """
    question = question_of(sections)
    sides = [side.strip() for side in _SIDES.split(question) if len(key_words(side)) >= _MIN_WORDS]
    if len(sides) > 1:
        return SearchQueries(
            kind="decompose", queries=sides, reason=f"The question has {len(sides)} sides."
        )
    phrases = _phrases(question)
    queries = [" ".join(phrases), " ".join(_rarer_half(phrases))]
    return SearchQueries(kind="paraphrase", queries=queries, reason="Its key words.")


def _phrases(question: str) -> list[str]:
    """The question's key words in order; of Chinese the runs that its pairs of characters cover."""
    words = list(key_words(question).values())
    if all(word.isascii() for word in words):
        return words
    return re.findall("|".join(map(re.escape, _runs(question, words))), question) if words else []


def _runs(question: str, pairs: Sequence[str]) -> list[str]:
    covered = {
        at
        for pair in pairs
        for found in re.finditer(f"(?={re.escape(pair)})", question)
        for at in range(found.start(), found.start() + len(pair))
    }
    kept = "".join(c if at in covered else " " for at, c in enumerate(question))
    return sorted(set(kept.split()), key=len, reverse=True)


def _rarer_half(phrases: Sequence[str]) -> list[str]:
    kept = sorted(phrases, key=rarity, reverse=True)[: max(1, len(phrases) // 2)]
    return [phrase for phrase in phrases if phrase in kept]
