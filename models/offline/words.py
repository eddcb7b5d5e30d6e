"""The words of a text that carry meaning, and how rare they are: what the offline model goes by.

Unlike the index's terms these leave out the words that only ask (which, how many, 多少, 什么): the
document that answers a question seldom repeats them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from ragweave.models.static import static_model

_PIECE = re.compile(r"(?P<cjk>[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+)|[^\W_]+")
_ASKING = re.compile("什么|多少|哪一?|多久|怎么?样?|如何|[的了吗呢]")
_SUFFIX = re.compile(r"(?<=\w{3})(?:ies|ing|ed|es|ly|s|e)$")
_FUNCTION_WORDS = frozenset(
    (
        "a about an and any are as at be been before but by can could did do does each for from "
        "give had has have how i if in into is it its kind list many may me most much must my name "
        "no not of on one or our please say should so such tell than that the their them then "
        "there these they this those to two three was we were what when where which who whom whose "
        "why will with would you your "
        "d ll m re s t ve"  # what an apostrophe leaves behind
    ).split()
)


def key_words(text: str) -> dict[str, str]:
    """By stem, the words of a question as it writes them, without those that only ask."""
    asked = _ASKING.sub(" ", text)
    return {stem: word for stem, word in _words(asked) if word.casefold() not in _FUNCTION_WORDS}


def stems(text: str) -> set[str]:
    """Stems of all words of a text; of Chinese, Japanese and Korean all pairs of characters."""
    return {stem for stem, _ in _words(text)}


@lru_cache(maxsize=50_000)
def rarity(word: str) -> int:
    """How much a word tells: the number of tokens it takes, from 1.

    The tokenizer's vocabulary holds what is frequent in a large corpus, so a word without a token
    of its own is rarer than one that has it. No corpus of ours is needed.
    """
    model = static_model()
    return max(1, sum(token != model.word_start for token in model.tokens([word])[0]))


def _words(text: str) -> Iterable[tuple[str, str]]:
    for piece in _PIECE.finditer(unicodedata.normalize("NFKC", text)):
        word = piece[0]
        if not piece["cjk"]:
            yield _SUFFIX.sub("", word.casefold()), word
        elif len(word) == 1:
            yield word, word
        else:
            yield from ((word[at : at + 2],) * 2 for at in range(len(word) - 1))
