"""Answering a question by quoting whole sentences, each with the number of its source."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from ragweave.models.offline.relevance import RELEVANT, relevance
from ragweave.models.offline.sections import all_of, question_of, shown_text
from ragweave.models.offline.words import key_words, rarity, stems
from ragweave.models.prompt import Section
from ragweave.state.source_quote import (
    CHINESE,
    cited_sentence,
    is_chinese,
    plain_sentence,
    unmarked,
)
from ragweave.state.text import BULLET, sentences

MAX_SENTENCES = 4
MIN_GAIN = 0.5
"""A further sentence must be worth this share of the first one."""
SHORTEST = 5
"""Words, or pairs of Chinese characters, of a sentence that is quoted whatever words it has."""
LONGEST = 700
"""Characters of a quotation, the list after a colon included; what is longer is no sentence."""
_REPEATED = 0.5
"""What it costs to repeat the question's words that an earlier sentence has, by their share."""
_ASKS = 0.3
"""What it costs a sentence to ask something itself: it is seldom an answer."""
_EXCLAIMS = 0.15
_IS_SHORT = 0.2
"""What it costs to be shorter than `SHORTEST`: of two that answer, the longer says more."""
_OTHER_SCRIPT = 0.3
"""What it costs a sentence not to be written in the script of the question."""

NOTHING_FOUND = "The sources do not answer this question."
NOTHING_FOUND_ZH = "所给资料没有回答这个问题。"

_ASKED = re.compile(r"[?？][\"'”’»)\]）」』*_`]*$")
_EXCLAIMED = re.compile(r"[!！][\"'”’»)\]）」』*_`]*$")
_ENDED = re.compile(r"[.!?。！？;；:：][\"'”’»)\]）」』*_`]*$")
_STATED = re.compile(r"(?<!\.)[.。][\"'”’»)\]）」』*_`]*$")
_DRAWN = re.compile(r"([=\-~^*#_+|])\1{3,}|^(?:>>>|@\w|import |from \w+ import |def |class )")
_PROSE = 0.6
"""Share of letters among the characters of prose; code and tables have fewer."""


@dataclass(frozen=True, slots=True)
class _Quote:
    source: int
    """Position of the source among those of the prompt."""
    place: int
    """Position of the sentence in its source."""
    number: str
    sentence: str
    whole: str
    """The sentence, and the list that it introduces."""


def quote_answer(sections: Sequence[Section]) -> str:
    """Up to four sentences of the sources that answer the question, or one that says none does.

    An answer that came together with its sources, to be mended, is given back as it is:
    quotations need no mending.
    """
    question = question_of(sections)
    sources, answer = all_of(sections, "source"), all_of(sections, "answer")
    if sources and answer:
        return answer[0].text
    chosen = _chosen(question, _supporting(question, sources))
    if not chosen:
        return nothing_found(question)
    space = "" if is_chinese(chosen[0].whole) else " "
    return space.join(cited_sentence(q.whole, q.number) for q in _in_reading_order(chosen))


def nothing_found(question: str) -> str:
    """The sentence that says that no source answers, in the question's language."""
    return NOTHING_FOUND_ZH if is_chinese(question) else NOTHING_FOUND


def _supporting(question: str, sources: Sequence[Section]) -> list[_Quote]:
    """Sentences of all sources, if at least one source answers the question; else none."""
    judged = relevance(question, [shown_text(source) for source in sources])
    if not any(item.score >= RELEVANT for item in judged):
        return []
    quotes = list(_quotes(sources))
    asked = key_words(question).keys()
    return [quote for quote in quotes if _is_quotable(quote.sentence, asked)] or quotes


def _quotes(sources: Sequence[Section]) -> Iterator[_Quote]:
    for at, source in enumerate(sources):
        number = source.attributes.get("number", str(at + 1))
        spans = sentences(source.text)
        pieces = [source.text[start:end] for start, end in spans]
        for place, piece in enumerate(pieces):
            sentence = plain_sentence(piece)
            if sentence and len(sentence) <= LONGEST:
                whole = _with_list(sentence, pieces[place + 1 :])
                yield _Quote(at, place, number, sentence, whole)


def _with_list(sentence: str, following: Sequence[str]) -> str:
    """A sentence that ends with a colon, with as much of the list after it as there is room for."""
    whole = sentence
    for item in following if sentence.endswith((":", "：")) else ():
        if not BULLET.match(item) or len(whole) + len(item) > LONGEST:
            break
        whole = f"{whole} {unmarked(item)}"
    return whole.rstrip("… ")


def _is_quotable(text: str, asked: Collection[str]) -> bool:
    """Whether it is prose, and if it is short, a statement that has a word of the question."""
    if _is_short(text) and not (_STATED.search(text) and not stems(text).isdisjoint(asked)):
        return False
    return _is_prose(text)


def _is_short(text: str) -> bool:
    return len(text.split()) < SHORTEST and len(CHINESE.findall(text)) < 2 * SHORTEST


def _is_prose(text: str) -> bool:
    if _DRAWN.search(text) or not _ENDED.search(text):
        return False
    seen = text.replace(" ", "")
    return sum(map(str.isalpha, seen)) >= _PROSE * len(seen)


def _chosen(question: str, quotes: Sequence[_Quote]) -> list[_Quote]:
    """Greedily the sentence that adds most: its score, less for words that are there already."""
    judged = relevance(question, [quote.sentence for quote in quotes])
    scores = [
        item.score - _unfit(quote.sentence, question)
        for item, quote in zip(judged, quotes, strict=True)
    ]
    words = key_words(question)
    total = sum(map(rarity, words.values())) or 1
    had = [stems(quote.sentence) & words.keys() for quote in quotes]
    covered: set[str] = set()
    chosen: list[int] = []

    def gain(at: int) -> float:
        repeated = sum(rarity(words[stem]) for stem in had[at] & covered) / total
        return scores[at] - _REPEATED * repeated

    def is_new(at: int) -> bool:
        return not any(quotes[at].sentence in quotes[earlier].whole for earlier in chosen)

    while len(chosen) < MAX_SENTENCES:
        best = max(filter(is_new, range(len(quotes))), key=gain, default=None)
        if best is None or (chosen and gain(best) < MIN_GAIN * scores[chosen[0]]):
            break
        chosen.append(best)
        covered |= had[best]
    return [quotes[at] for at in chosen]


def _unfit(sentence: str, question: str) -> float:
    """What its form takes from a sentence's score as an answer."""
    form = _ASKS if _ASKED.search(sentence) else _EXCLAIMS if _EXCLAIMED.search(sentence) else 0.0
    form += _IS_SHORT if _is_short(sentence) else 0.0
    same = is_chinese(sentence) == is_chinese(question)
    return form if same else form + _OTHER_SCRIPT


def _in_reading_order(quotes: Sequence[_Quote]) -> list[_Quote]:
    """Sources in the order of their best sentence, sentences as they stand in the source."""
    order = list(dict.fromkeys(quote.source for quote in quotes))
    return sorted(quotes, key=lambda quote: (order.index(quote.source), quote.place))
