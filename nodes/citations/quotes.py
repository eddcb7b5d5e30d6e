"""Finding the words of a source that support a sentence, without a model.

A sentence and the passages of a source are compared by their terms (those of keyword search:
stemmed words, Chinese bigrams) and by their numbers. The passage is the run of at most
`LONGEST_QUOTE` sentences of the source that holds the largest share of the sentence's terms; each
sentence more costs a little, so the shortest of equal runs wins. Near misses get a second look by
spelling (rapidfuzz): words that differ by a letter or two, then the two texts as wholes.

This is evidence of words, not of meaning: a negation that was turned round, or two names that
changed places, are not seen.

Long sources: at most `MOST_UNITS` sentences of a source are compared with one sentence. They are
picked by an index of word beginnings, those sharing the most first, with their neighbours.
"""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from heapq import nlargest
from itertools import accumulate, filterfalse

from rapidfuzz import fuzz, process

from ragweave.nodes.citations import numbers
from ragweave.state.quotation import without_loose_marks
from ragweave.state.text import Span, cut, sentences
from ragweave.stores.analysis import terms

SUPPORTED = 0.6
"""Share of a sentence's terms that a quote must hold. Chosen on half of the questions of CLAP-NQ
and CMRC 2018; `benchmarks/citations.py` measures it on the other half."""
SPELLED_ALIKE = 0.7
"""Or: similarity of the two texts as wholes, letter by letter."""
LONGEST_QUOTE = 3
"""Sentences of a quote at most."""
EXTRA_SENTENCE = 0.05
"""Share of the terms that each sentence after the first must add to be worth it."""
LONGEST_UNIT = 400
"""Characters of a sentence of a source; longer ones (tables, text without stops) are cut."""
MOST_UNITS = 48
"""Sentences of one source that are compared with one sentence of the answer."""
_MOST_LOOKED_AT = 6
_ABOUT = 0.05
_WORTH_COPYING = 0.8
_WORTH_SPELLING = 0.35
_SAME_WORD = 86
"""rapidfuzz ratio above which two words are the same, up to an ending or a slip."""
_SHORTEST_ALIKE = 5
_LEAST_TOLD = 0.5
"""Share of the terms that the text itself must hold before the title can stand for others."""
_OTHER_SCRIPT = 0.8
"""Share needed where only names and numbers can be compared, since the scripts differ."""
_FEWEST_ALIKE = 2
"""Names and numbers needed at least, in that case."""
_FEW_LETTERS, _MANY_LETTERS = 0.05, 0.2
_SAMPLE = 20_000

_LONGEST_CLAIM = 4_000
_SHORTEST_COPY = 8
"""Letters from which a sentence copied word for word is quoted exactly, not with what is around."""
_MOST_POSTINGS = 5_000

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_UNINFORMATIVE = frozenset(
    terms(
        """
        about according after against all also although am among any because been before being
        between both can could did do document documents does doing done down during each either
        etc even every few from further had has have having he her here hers him himself his how
        however i indeed its itself just like mainly many may me mentioned might more most much
        must my namely nor now off once only other others our out over own passage per provided
        rather same says shall she should since so some source sources stated states still such
        text than them themselves therefore those though through thus too under until up upon us
        very via was we were what when where whether which while who whom whose why within without
        would yes yet you your
        """
    )
)
_EMPTY = frozenset("的了在是和与及或等之其为被所由以于也都而并且就把将这那此个")
"""A bigram with one of these says little about what a Chinese text is about."""
_UPPER, _LOWER = "A-Z\u00c0-\u00de", "a-z\u00df-\u024f"
_FULL_NAME = re.compile(
    rf"(?<![\w.\-'’])[{_UPPER}][{_LOWER}]+"
    rf"(?:[\s\-](?:(?:van|von|de|da|di|der|den|la|le|bin|al)\s){{0,2}}[{_UPPER}][{_LOWER}]+)+"
)
_IDENTIFIER = re.compile(r"\b\w*(?:[a-z_][A-Z]|[A-Z]{2}|_|[A-Za-z]\d)\w*")
_LABEL = re.compile(rf"(?<=[{_LOWER}\d,;] )[{_UPPER}]\w+|《[^》]{{1,40}}》|{_IDENTIFIER.pattern}")
_ADDRESS = re.compile(r"\(?https?://[^\s<>\"]+")
_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")
_OPENED = re.compile(r"(?:[\"'“‘「『«`*]+[-/$@#.]*|(?<!\S)[-/$@#.]+)\Z")
_ENDED = re.compile(r"(?:\(\)|\[\])?[\"'”’」』»`*]*(?:[.!?…]+(?!\w)|[。！？]+)?[\"'”’」』»`*]*")
"""What stands around the words of a sentence and belongs to it: marks of speech, code and emphasis,
and its stop."""
_WORD = re.compile(r"\w{2,}")
_ROUGH = re.compile(r"[^\W\d_]{2,}|\d+")


@dataclass(frozen=True, slots=True)
class Claim:
    """What a sentence of an answer, or the part of it that cites a source, states."""

    text: str
    terms: frozenset[str]
    """Informative terms; numbers as `#5`."""
    special: frozenset[str]
    """Terms that are the same in every language: numbers, identifiers."""
    labels: frozenset[str]
    """Terms that only name what is talked about: these, names, titles in 《》."""
    numbers: frozenset[str]
    names: frozenset[str]
    """Full names in Latin script, folded."""


@dataclass(frozen=True, slots=True, order=True)
class Passage:
    """A run of sentences of a source, as support for a claim."""

    share: float
    """Share of the claim's terms that it holds, less the cost of its length."""
    preference: tuple[int, int, int]
    """Of equal shares the one with the most of the terms itself, the shortest, the first."""
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Quote:
    """The best passage of a source for a claim: characters `[start:end]` of the source's text."""

    start: int
    end: int
    found: frozenset[str]
    """Terms of the claim that it holds."""
    grounded: bool
    """Whether it supports the claim, numbers and names aside."""


@lru_cache(maxsize=1_024)
def claim_of(text: str) -> Claim:
    """The claim made by a piece of an answer, markers taken out."""
    text = _ADDRESS.sub(" ", text[:_LONGEST_CLAIM])
    stated = frozenset(numbers.claimed(text))
    words = _informative(text)
    special = frozenset(word for word in words if not _CJK.search(word))
    if special == words:  # in Latin script itself, where most words are words of a language
        special = _informative(" ".join(_IDENTIFIER.findall(text)))
    return Claim(
        text,
        terms=words | _tagged(stated),
        special=special | _tagged(stated),
        labels=special | _tagged(stated) | _informative(" ".join(_LABEL.findall(text))),
        numbers=stated,
        names=frozenset(_folded(match[0]) for match in _FULL_NAME.finditer(text)),
    )


class SourceText:
    """One source's text and title, analysed as far as the claims need it."""

    def __init__(self, text: str, title: str | None = None) -> None:
        self.text = text
        self._whole = f"{title}\n{text}" if title else text
        self._known = _terms_and_numbers(title or "")
        self._analysed: dict[int, frozenset[str]] = {}

    @cached_property
    def numbers(self) -> set[str]:
        """Every number that the text or the title holds."""
        return numbers.held(self._whole)

    def names(self, names: Iterable[str]) -> set[str]:
        """Those of the folded names of which the text or the title holds at least one word."""
        return {name for name in names if any(map(self._letters.__contains__, _WORD.findall(name)))}

    def quote(self, claim: Claim) -> Quote | None:
        """The passage that supports the claim best; None where no term is shared."""
        quote = self._passage(claim)
        if quote is None or quote.grounded or not (copy := self._copy(claim)):
            return quote
        return Quote(*without_loose_marks(self.text, copy), claim.terms, grounded=True)

    def _passage(self, claim: Claim) -> Quote | None:
        """The best run of a few sentences."""
        wanted, needed = self._comparable(claim)
        best = nlargest(_MOST_LOOKED_AT, self._passages(claim, wanted)) if wanted else []
        if not best:
            return None
        if best[0].share < _WORTH_SPELLING:
            return Quote(*self._span(best[0]), wanted & self._held(best[0]), grounded=False)
        if best[0].share < needed:
            best = [self._spelled(claim, wanted, passage) for passage in best]
        passage = self._likest(claim, best)
        start, end = self._span(passage)
        if passage.share >= _WORTH_COPYING and (copy := _copied(claim.text, self.text[start:end])):
            start, end = start + copy.start, start + copy.end
        start, end = without_loose_marks(self.text, Span(start, end))
        found = wanted & self._held(passage)
        return Quote(start, end, found, passage.share >= needed)

    def _copy(self, claim: Claim) -> Span | None:
        """Where the text holds the claim word for word, such as a list of many items."""
        ours = _alphanumeric(claim.text)
        at = "".join(self._letters_of_units).find(ours) if len(ours) >= _SHORTEST_COPY else -1
        if at < 0:
            return None
        ends = list(accumulate(map(len, self._letters_of_units)))
        first, last = bisect_right(ends, at), bisect_left(ends, at + len(ours))
        start, end = self._units[first].start, self._units[last].end
        copy = _copied(claim.text, self.text[start:end])
        return copy and Span(start + copy.start, start + copy.end)

    def shares_script(self, claim: Claim) -> bool:
        """Whether the source is written in the claim's script, so that words can be compared."""
        words = [term for term in claim.terms if not term.startswith("#")]
        if any(map(_CJK.search, words)):
            return self._cjk_share > _FEW_LETTERS
        return self._cjk_share < 1 - _MANY_LETTERS or not words

    def _comparable(self, claim: Claim) -> tuple[frozenset[str], float]:
        """The terms to look for, and the share of them to be found."""
        if self.shares_script(claim):
            return claim.terms, SUPPORTED
        if len(claim.special) < _FEWEST_ALIKE:
            return frozenset(), 1
        return claim.special, _OTHER_SCRIPT

    def _passages(self, claim: Claim, wanted: frozenset[str]) -> Iterator[Passage]:
        held = {unit: self._terms(unit) & wanted for unit in self._candidates(claim)}
        for first, found in held.items():
            together: set[str] = set()
            for last in range(first, first + LONGEST_QUOTE if found else first):
                if last not in held:
                    break
                if last == first or not held[last] <= together:
                    together |= held[last]
                    cost = EXTRA_SENTENCE * (last - first)
                    share = self._share(claim, wanted, together) - cost
                    preference = (len(together), first - last, -first)
                    yield Passage(share, preference, first, last)

    def _share(self, claim: Claim, wanted: frozenset[str], found: set[str]) -> float:
        """Share of the wanted terms found. What the title names need not be named again."""
        share = len(found) / len(wanted)
        if share < _LEAST_TOLD:
            return share
        untold = (claim.labels & wanted & self._known) - found
        return len(found) / (len(wanted) - len(untold))

    def _spelled(self, claim: Claim, wanted: frozenset[str], passage: Passage) -> Passage:
        """The passage judged again by spelling."""
        held = self._held(passage)
        alike = {term for term in wanted - held if _spelled_alike(term, held)}
        cost = EXTRA_SENTENCE * (passage.last - passage.first)
        share = self._share(claim, wanted, set(wanted & held) | alike) - cost
        if share < SUPPORTED:
            text = self.text[slice(*self._span(passage))]
            share = max(share, SUPPORTED if _texts_alike(claim.text, text) else 0)
        return replace(passage, share=share)

    def _likest(self, claim: Claim, passages: Sequence[Passage]) -> Passage:
        """Of the passages that hold about as much as the best, the one spelled most alike."""
        best = max(passages)
        close = [
            passage
            for passage in passages
            if passage.share >= best.share - _ABOUT and passage.preference[0] == best.preference[0]
        ]
        if len(close) == 1:
            return best
        ours = _alphanumeric(claim.text)
        texts = [_alphanumeric(self.text[slice(*self._span(passage))]) for passage in close]
        alike = [fuzz.ratio(ours, text) for text in texts]
        return close[alike.index(max(alike))]

    def _span(self, passage: Passage) -> Span:
        return Span(self._units[passage.first].start, self._units[passage.last].end)

    def _held(self, passage: Passage) -> frozenset[str]:
        units = range(passage.first, passage.last + 1)
        return frozenset[str]().union(*map(self._terms, units))

    @cached_property
    def _units(self) -> list[Span]:
        spans = sentences(self.text)
        return [piece for span in spans for piece in cut(self.text, span, LONGEST_UNIT)]

    def _terms(self, unit: int) -> frozenset[str]:
        if unit not in self._analysed:
            self._analysed[unit] = _terms_and_numbers(self.text[slice(*self._units[unit])])
        return self._analysed[unit]

    def _candidates(self, claim: Claim) -> list[int]:
        """Sentences worth comparing, in order: all, or the likeliest of a long source."""
        if len(self._units) <= MOST_UNITS:
            return list(range(len(self._units)))
        postings = [self._index[key] for key in _rough(claim.text) & self._index.keys()]
        likely: Counter[int] = Counter()
        looked_at = 0
        for units in sorted(postings, key=len):  # rare beginnings first: they tell the most
            looked_at += len(units)
            if likely and looked_at > _MOST_POSTINGS:
                break
            rarity = math.log(len(self._units) / len(units))
            likely.update(dict.fromkeys(units[:_MOST_POSTINGS], rarity))
        best = nlargest(MOST_UNITS // 3, likely, key=lambda unit: (likely[unit], -unit))
        near = {unit + offset for unit in best for offset in (-1, 0, 1)}
        return sorted(unit for unit in near if 0 <= unit < len(self._units))

    @cached_property
    def _index(self) -> dict[str, list[int]]:
        index: dict[str, list[int]] = defaultdict(list)
        for unit, span in enumerate(self._units):
            for key in _rough(self.text[slice(*span)]):
                index[key].append(unit)
        return index

    @cached_property
    def _letters_of_units(self) -> list[str]:
        return [_squeezed(self.text[slice(*unit)]) for unit in self._units]

    @cached_property
    def _letters(self) -> str:
        return _folded(self._whole)

    @cached_property
    def _cjk_share(self) -> float:
        """Share of CJK characters among the letters at the beginning of the text."""
        sample = self._whole[:_SAMPLE]
        cjk, latin = len(_CJK.findall(sample)), len(_LATIN.findall(sample))
        return cjk / max(1, cjk + latin)


def _terms_and_numbers(text: str) -> frozenset[str]:
    return _informative(text) | _tagged(numbers.held(text))


def _informative(text: str) -> frozenset[str]:
    return frozenset(term for term in terms(text) if _is_informative(term))


@lru_cache(maxsize=100_000)
def _is_informative(term: str) -> bool:
    return not (term in _UNINFORMATIVE or term.isdigit() or _EMPTY.intersection(term))


def _tagged(found: Iterable[str]) -> frozenset[str]:
    return frozenset(f"#{number}" for number in found)


def _rough(text: str) -> set[str]:
    """Beginnings of the words, and pairs of Chinese characters."""
    keys: set[str] = set()
    for match in _ROUGH.finditer(text):
        word = match[0].casefold()
        if _CJK.match(word):
            keys.update(word[at : at + 2] for at in range(len(word) - 1))
        else:
            keys.add(word[:4])
    return keys


def _folded(text: str) -> str:
    """Lower case, without accents."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return "".join(filterfalse(unicodedata.combining, decomposed))


def _spelled_alike(term: str, others: Iterable[str]) -> bool:
    if len(term) < _SHORTEST_ALIKE or term.startswith("#") or _CJK.match(term):
        return False
    return process.extractOne(term, others, scorer=fuzz.ratio, score_cutoff=_SAME_WORD) is not None


def _texts_alike(claim: str, passage: str) -> bool:
    """Whether the claim, letter by letter, is much like a part of the passage."""
    ours, theirs = _alphanumeric(claim), _alphanumeric(passage)
    alike = fuzz.partial_ratio if len(ours) <= len(theirs) else fuzz.ratio
    return alike(ours, theirs) >= 100 * SPELLED_ALIKE


def _copied(claim: str, passage: str) -> Span | None:
    """Where the passage holds the claim word for word, whatever the case and punctuation."""
    ours = _alphanumeric(claim)
    at = _alphanumeric(passage).find(ours) if len(ours) >= _SHORTEST_COPY else -1
    if at < 0:
        return None
    places = [place for place, character in enumerate(passage) for _ in _squeezed(character)]
    start, end = places[at], places[at + len(ours) - 1] + 1
    around = _OPENED.search(passage, 0, start), _ENDED.match(passage, end)
    return Span(around[0].start() if around[0] else start, around[1].end() if around[1] else end)


def _squeezed(text: str) -> str:
    """Letters and digits alone, folded; that of a text is that of its characters, joined."""
    return _NOT_ALPHANUMERIC.sub("", _folded(text))


_alphanumeric = lru_cache(maxsize=2_048)(_squeezed)
