"""Numbers in English and Chinese text, brought to one form, so that they can be compared.

`1,000`, `１０００`, `1 thousand` and `一千` are the same number; so are `5%` and `百分之五`.
`28-Aug-2019` and `2019年8月28日` have the same three. `3.10` is not `3.1` (versions).

What a sentence claims is read strictly and what a source holds generously: "one of the" claims no
number, but a source with "three" or "third" does support a 3. Units, signs and roundings are not
compared.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal

_SCALES = {
    **{"hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9, "trillion": 10**12},
    **{"bn": 10**9, "十": 10, "百": 100, "千": 1_000, "万": 10**4, "萬": 10**4},
    **{"亿": 10**8, "億": 10**8},
}
_SCALE = (
    r"(?:\s?-?(?P<scale>(?:hundred|thousand|million|billion|trillion|bn)\b"
    r"|[十百千]?[万萬亿億]|[百千]))?"
)
_DIGITS = r"(?P<digits>\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?P<decimals>(?:\.\d+){0,4})"
_SUFFIX = r"(?:st|nd|rd|th|s|x|k?m|cm|mm|k?g|[kmgt]b|k?hz|ms|min|h|am|pm)"
_CLAIMED = re.compile(
    rf"(?<![A-Za-z\u00c0-\u024f_\d])(?<!\d[.,]){_DIGITS}{_SCALE}"
    rf"(?:{_SUFFIX}(?![A-Za-z])|(?![A-Za-z_]))",
    re.IGNORECASE,
)
_HELD = re.compile(_DIGITS + _SCALE, re.IGNORECASE)

_ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_WORDS = {
    **{word: value for value, word in enumerate(_ONES.split())},
    **{word: 10 * value for value, word in enumerate(_TENS.split(), 2)},
}
_ENGLISH_WORD = rf"(?:{'|'.join(sorted(_WORDS, key=len, reverse=True))})"
_ENGLISH = re.compile(
    rf"\b{_ENGLISH_WORD}(?:(?:\s+|-|\s+and\s+)(?:{_ENGLISH_WORD}|hundred|thousand|million))*\b",
    re.IGNORECASE,
)
_SINGLE = _WORDS | {word: value for value, word in enumerate(_ORDINALS.split(), 1)}
_SINGLE_WORD = re.compile(rf"\b(?:{'|'.join(_SINGLE)})\b", re.IGNORECASE)
_SMALL_WORD = 12
"""English words up to this are claims of nothing: "one of the", "two sides of a coin"."""
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = re.compile(
    r"(?:\d[\s,.\-/]{0,2}(?:st|nd|rd|th|of|\s){0,3}[\s\-/]{0,2}(?P<after>[A-Za-z]{3,9})"
    r"|(?P<before>[A-Za-z]{3,9})[\s.\-/]{0,2}\d)"
)

_CHINESE_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
    "兩": 2,
}
_CHINESE = re.compile(r"[零〇一二两兩三四五六七八九十百千万萬亿億]{1,24}")
_MEASURE = re.compile(
    r"\s?(?:[年月日天周岁元美欧条款项章节编个名人家位次倍种类期股届号级度米吨%％]"
    r"|小时|分钟|分之|以上|以下|公里)"
)
_INDEFINITE = re.compile(r"一[个种类家名位次些样般项条期度级届号]|[百千万]分之|万一")
_SAME = ("统", "同", "唯", "单", "某", "每", "任")
"""Before 一 these make a word that states no number."""
_VAGUE = ("数", "几", "上", "成")
"""Before 十, 百, 千 or 万 these make a rough number."""


def claimed(text: str) -> set[str]:
    """Numbers that a sentence states."""
    text = unicodedata.normalize("NFKC", text)
    numbers = {_form(match) for match in _CLAIMED.finditer(text)}
    numbers |= {str(value) for value in _english(text) if value > _SMALL_WORD}
    numbers |= {
        str(value)
        for match in _CHINESE.finditer(text)
        if (value := _stated(text, match)) is not None
    }
    return numbers


def held(text: str) -> set[str]:
    """Numbers that a source's text supports: as written, and read in any other likely way."""
    text = unicodedata.normalize("NFKC", text)
    numbers = set()
    for match in _HELD.finditer(text):
        plain = _plain(match["digits"]) + match["decimals"]
        numbers |= {_form(match), plain, *_parts(plain)}
    numbers |= {str(value) for value in _english(text)}
    numbers |= {str(_SINGLE[word.lower()]) for word in _SINGLE_WORD.findall(text)}
    numbers |= set(_months(text))
    numbers |= {
        str(value) for run in _CHINESE.findall(text) if (value := _chinese(run)) is not None
    }
    return numbers


def _form(match: re.Match[str]) -> str:
    digits, decimals, scale = _plain(match["digits"]), match["decimals"], match["scale"]
    if not scale or decimals.count(".") > 1 or len(digits) > 20:
        return digits + decimals
    value = Decimal(digits + decimals)
    for part in [scale.lower()] if scale.isascii() else scale:
        value *= _SCALES[part]
    return f"{value.normalize():f}"


def _plain(digits: str) -> str:
    """ASCII digits without separators and leading zeros."""
    return "".join(str(int(digit)) for digit in digits if digit != ",").lstrip("0") or "0"


def _parts(number: str) -> Iterator[str]:
    """Of `3.11.2` also `3.11`; of `2019.8.28` also its parts; `1.000.000` is also 1000000."""
    pieces = number.split(".")
    if len(pieces) < 3:
        return
    yield from (_plain(piece) for piece in pieces)
    yield ".".join(pieces[:2])
    if all(len(piece) == 3 for piece in pieces[1:]):
        yield "".join(pieces)


def _english(text: str) -> Iterator[int]:
    """Values of number words: `twenty-five`, `two hundred and six`."""
    for match in _ENGLISH.finditer(text):
        total = current = 0
        for word in re.findall(r"[a-z]+", match[0].lower()):
            if word in _WORDS:
                current += _WORDS[word]
            elif word == "hundred":
                current *= 100
            elif word in _SCALES:
                total, current = total + current * _SCALES[word], 0
        yield total + current


def _months(text: str) -> Iterator[str]:
    for match in _MONTH.finditer(text):
        name = (match["after"] or match["before"]).lower()[:3]
        if name in _MONTHS:
            yield str(_MONTHS.index(name) + 1)


def _stated(text: str, match: re.Match[str]) -> int | None:
    """Value of Chinese numerals where they state a number, and are not part of a word."""
    run, before = match[0], text[max(0, match.start() - 3) : match.start()]
    if before.endswith(("第", "分之")):
        return _chinese(run)
    if not _MEASURE.match(text, match.end()) or _INDEFINITE.match(text, match.start()):
        return None
    if before[-1:].isdigit() or (run == "一" and before.endswith(_SAME)):
        return None
    if run[0] in "十百千万亿" and before.endswith(_VAGUE):
        return None
    return _chinese(run)


def _chinese(run: str) -> int | None:
    """Value of numerals such as 三千二百, 二〇一九 or 五十万; None where they are no number."""
    if not set(run) & set("十百千万萬亿億"):
        digits = "".join(str(_CHINESE_DIGITS[digit]) for digit in run)
        return int(digits) if len(digits) <= 12 else None
    total = section = digit = 0
    for character in run:
        if character in _CHINESE_DIGITS:
            digit = _CHINESE_DIGITS[character]
        elif character in "十百千":
            section += (digit or 1) * _SCALES[character]
            digit = 0
        elif character in "亿億":
            total = (total + section + digit or 1) * _SCALES[character]
            section = digit = 0
        else:
            total += (section + digit or 1) * _SCALES[character]
            section = digit = 0
    return total + section + digit
