"""Answering a question by quoting whole sentences of the sources, each with its number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragweave.models.prompt import Section
from ragweave.models.relevance import PARTLY, relevance
from ragweave.models.sections import all_of, question_of, shown_text
from ragweave.models.words import key_words, rarity, stems
from ragweave.state.text import sentences

MAX_SENTENCES = 4
MIN_GAIN = 0.5
"""A further sentence must be worth this share of the first one's score."""
SHORTEST, LONGEST = 12, 600
"""Characters; a sentence of fewer is a heading, one of more is a table or code."""
_REPEATED = 0.5
"""What a question's word counts that an earlier sentence has already."""

_MARKER = re.compile(
    r"\s*(?:\[\^?\d[\d\s,;–-]*\]_?|【\d[^】]*】|\[(?:source|sources|ref)\.?\s*\d[^\]]*\])",
    re.IGNORECASE,
)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

NOTHING_FOUND = "The sources do not answer this question."
NOTHING_FOUND_ZH = "所给资料没有回答这个问题。"


@dataclass(frozen=True, slots=True)
class _Quote:
    source: int
    """Position of the source in the prompt."""
    number: str
    place: int
    """Position of the sentence in its source."""
    text: str


def quote_answer(sections: Sequence[Section]) -> str:
    """Up to four sentences that answer the question, or one that says that none does."""
    question = question_of(sections)
    sources = all_of(sections, "source")
    judged = relevance(question, [shown_text(source) for source in sources])
    supported = any(item.score >= PARTLY for item in judged)
    quotes = _best(question, list(_quotes(sources))) if supported else []
    if not quotes:
        return NOTHING_FOUND_ZH if _CJK.search(question) else NOTHING_FOUND
    space = "" if _CJK.search(quotes[0].text) else " "
    return space.join(_cited(quote) for quote in _in_reading_order(quotes))


def _quotes(sources: Sequence[Section]) -> Iterator[_Quote]:
    for at, source in enumerate(sources):
        for place, (start, end) in enumerate(sentences(source.text)):
            # What looks like a citation in a source is not one of ours.
            text = " ".join(_MARKER.sub("", source.text[start:end]).split())
            if SHORTEST <= len(text) <= LONGEST:
                yield _Quote(at, source.attributes.get("number", str(at + 1)), place, text)


def _best(question: str, quotes: Sequence[_Quote]) -> list[_Quote]:
    """Greedily the sentence that adds most: its score, less for words that are there already."""
    scores = [item.score for item in relevance(question, [quote.text for quote in quotes])]
    words = key_words(question)
    total = sum(map(rarity, words.values())) or 1
    had = [stems(quote.text) & words.keys() for quote in quotes]
    covered: set[str] = set()
    chosen: list[int] = []
    first = 0.0

    def gain(at: int) -> float:
        repeated = sum(rarity(words[stem]) for stem in had[at] & covered) / total
        return scores[at] - _REPEATED * repeated

    while len(chosen) < MAX_SENTENCES:
        left = [at for at in range(len(quotes)) if at not in chosen]
        best = max(left, key=gain, default=None)
        if best is None or (chosen and gain(best) < MIN_GAIN * first):
            break
        first = first or gain(best)
        chosen.append(best)
        covered |= had[best]
    return [quotes[at] for at in chosen]


def _in_reading_order(quotes: Sequence[_Quote]) -> list[_Quote]:
    """Sources in the order of their best sentence, sentences as they stand in the source."""
    order = list(dict.fromkeys(quote.source for quote in quotes))
    return sorted(quotes, key=lambda quote: (order.index(quote.source), quote.place))


def _cited(quote: _Quote) -> str:
    """The sentence with its number before the full stop, where that belongs to it alone."""
    text, chinese = quote.text, bool(_CJK.search(quote.text))
    body = text.rstrip(".。")
    stop = text[len(body) :] or ("。" if chinese else ".")
    return f"{body}{'' if chinese else ' '}[{quote.number}]{stop}"
