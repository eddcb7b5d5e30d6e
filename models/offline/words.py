"""The words of a text that carry meaning, and how rare they are: what the offline model goes by.

Unlike the index's terms these leave out the words that only ask (which, how many, 多少, 什么): the
document that answers a question seldom repeats them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache

from ragweave.models.static import static_model

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_PIECE = re.compile(rf"(?P<cjk>{_CJK.pattern})|[^\W_]+")
_NAME = 3
"""What a name in Latin letters counts in a Chinese or Japanese question."""
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


_GREETING = re.compile(
    r"\b(?:hello|hi|hey|hiya|greetings|good (?:morning|afternoon|evening|night|day)|(?:good)?bye|"
    r"thanks?|thx|cheers|ok|okay|yes|yeah|yep|nope|sure|great|nice|cool|fine|welcome|sorry)\b"
    r"|(?:你|您|大家|早上?|上午|中午|下午|晚上?)好|[早晚]安|哈[喽啰罗]|[嗨嘿]|[谢多感]谢|谢|再[见会]|拜拜"
    r"|好[的吧]|对[的吧]|没事|没关系|不客气|辛苦|在吗"
    r"|こんにち[はわ]|こんばん[はわ]|おはよう(?:ございます)?|ありがとう(?:ございま(?:す|した))?|さようなら|はい",
    re.IGNORECASE,
)
"""What people say to each other and not of anything, in English, Chinese and Japanese."""
_BESIDE_IT = re.compile(
    r"\b(?:very|lot|well|all|everyone|friend|today|again|later|soon|see|meet|doing|going|up|help)\b"
    r"|非常|请问|帮助?|[你您我他她们很太都也是谁啊呀哦嗯哈吧了一下]",
    re.IGNORECASE,
)
"""What may stand beside it."""


def asks_nothing(text: str) -> bool:
    """Whether there is no word in a text that a document could have: `Who are you?`, `Thanks!`."""
    return not key_words(_BESIDE_IT.sub(" ", _GREETING.sub(" ", text)))


def is_small_talk(text: str) -> bool:
    """Whether a text is a greeting or thanks and nothing else."""
    return bool(_GREETING.search(text)) and asks_nothing(text)


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


def weights(words: Mapping[str, str]) -> dict[str, int]:
    """By stem, how much each of a question's words tells: its rarity.

    In Chinese or Japanese a character counts with each of its neighbours, and a name in Latin
    letters is what the question is about: such a word counts three times.
    """
    in_pairs = any(len(stem) > 1 and is_cjk(stem) for stem in words)
    return {
        stem: rarity(word) * (_NAME if in_pairs and not (word.isdigit() or is_cjk(word)) else 1)
        for stem, word in words.items()
    }


def is_cjk(text: str) -> bool:
    """Whether there is Chinese, Japanese or Korean in it."""
    return _CJK.search(text) is not None


def _words(text: str) -> Iterable[tuple[str, str]]:
    for piece in _PIECE.finditer(unicodedata.normalize("NFKC", text)):
        word = piece[0]
        if not piece["cjk"]:
            yield _SUFFIX.sub("", word.casefold()), word
        elif len(word) == 1:
            yield word, word
        else:
            yield from ((word[at : at + 2],) * 2 for at in range(len(word) - 1))
