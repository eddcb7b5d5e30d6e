"""The one analysis of text into terms that keyword search uses, whatever the backend.

Text and query go through `terms` alike; each backend stores the result in a field of its own,
split on white space and analysed no further, so that a question finds the same chunks wherever
they lie. Steps: NFKC and case folding; accents taken off Latin letters; words of Latin, Cyrillic,
Greek and Arabic script stemmed by Snowball and stop words dropped; runs of scripts written without
spaces (Chinese, Japanese, Thai and others) and of Hangul cut into overlapping bigrams.

The stemmer follows from a word's script alone, never from a guess about the text around it: a
short question and a long document would be guessed differently and then never meet. Latin words
are stemmed as English.
"""

from __future__ import annotations

import asyncio
import re
import threading
import unicodedata
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

ANALYSIS_VERSION = 1
"""Raised whenever `terms` gives other terms for some text; indexes remember theirs."""

MAX_TERM_CHARACTERS = 100
"""Longer words (base64, hashes) are cut, so that every backend keeps the same term."""

MOST_QUERY_TERMS = 1_000
"""A query is cut to so many different terms: 32,000 characters of one would take seconds."""

_SHORT = 300
"""Characters whose terms take less time than a thread does to start on them."""

_CJK = (
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035"  # iteration marks, numerals
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # kana
    "\u3105-\u312f\u31a0-\u31bf"  # bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u1100-\u11ff\u3131-\u318e\uac00-\ud7af"  # Hangul
)
_NO_SPACES = "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, ...
_INDIC = "\u0900-\u0963\u0966-\u0dff"  # with the vowel signs that `\\w` leaves out
_PIECES = re.compile(
    rf"(?P<run>[{_CJK}{_NO_SPACES}]+)|(?:[^\W_{_CJK}{_NO_SPACES}]|[{_INDIC}\u0300-\u036f])+"
)
_UNSEEN = re.compile(  # soft hyphens, joiners, variation selectors; Hebrew and Arabic points
    "[\u00ad\u200b-\u200f\u2060\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef"
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]"
)
_ACCENTED = re.compile(r"([a-z])[\u0300-\u036f]+")

_STEMMERS = (  # (first letter, last letter, Snowball algorithm)
    ("a", "\u024f", "English"),
    ("\u0370", "\u03ff", "Greek"),
    ("\u0400", "\u04ff", "Russian"),
    ("\u0600", "\u06ff", "Arabic"),
)

# Words that say how a sentence is built, not what it is about, and what an apostrophe leaves
# behind.
_STOP_WORDS = frozenset(
    """
    a an the this that these those such and but or if then than so as not no at by for from
    in into of on to with i you he she it we they me him her my your his its our their be am
    is are was were been do does did has have had will who whom whose what which when where
    why how there s t d ll m re ve
    """.split()
)
_thread = threading.local()


def terms(text: str) -> list[str]:
    """Terms of a text or of a query, in order, with repetitions; none contains white space."""
    found: list[str] = []
    for piece in _PIECES.finditer(_normalized(text)):
        if piece["run"]:
            found.extend(_bigrams(piece["run"]))
        elif (word := piece[0]) not in _STOP_WORDS:
            found.append(_stem(word[:MAX_TERM_CHARACTERS]))
    return found


async def query_terms(text: str) -> list[str]:
    """The different terms of a query, in order: no more than `MOST_QUERY_TERMS`."""
    # The stemmers are loaded from disk, which would block the event loop.
    at_once = len(text) <= _SHORT and _stemmer_classes.cache_info().currsize
    found = terms(text) if at_once else await asyncio.to_thread(terms, text)
    return list(dict.fromkeys(found))[:MOST_QUERY_TERMS]


def _normalized(text: str) -> str:
    if text.isascii():
        return text.lower()
    folded = _UNSEEN.sub("", unicodedata.normalize("NFKC", text)).casefold()
    bare = _ACCENTED.sub(r"\1", unicodedata.normalize("NFD", folded))
    return unicodedata.normalize("NFC", bare)


def _bigrams(run: str) -> list[str]:
    if len(run) == 1:
        return [run]
    return [run[at : at + 2] for at in range(len(run) - 1)]


@lru_cache(maxsize=200_000)
def _stem(word: str) -> str:
    for first, last, algorithm in _STEMMERS:
        if first <= word[0] <= last:
            return str(_stemmer(algorithm).stemWord(word))
    return word


def _stemmer(algorithm: str) -> Any:
    """A stemmer holds the word it works on, so each thread has its own."""
    stemmers = _thread.__dict__.setdefault("stemmers", {})
    if algorithm not in stemmers:
        stemmers[algorithm] = _stemmer_classes()[algorithm]()
    return stemmers[algorithm]


@cache
def _stemmer_classes() -> dict[str, Any]:
    """Snowball's own Python stemmers (a PyStemmer installed beside them may have other rules)."""
    algorithms = [algorithm for _, _, algorithm in _STEMMERS]
    modules = [import_module(f"snowballstemmer.{name.lower()}_stemmer") for name in algorithms]
    return {
        name: getattr(module, f"{name}Stemmer")
        for name, module in zip(algorithms, modules, strict=True)
    }
