"""Chinese and Japanese text that is typeset or scanned with a space between all characters.

`中 华 人 民 共 和 国` reads like `中华人民共和国` but has none of its words, so neither search nor
quotation would find them. Only what cannot be meant is closed up: names (`王 伟`), numbers among
words (`第 1 条`), lists of a few characters, code and tables stay as they are. Korean, which has
spaces between its words, is no part of this.
"""

from __future__ import annotations

import re

from ragweave.indexing.blocks import find_blocks
from ragweave.indexing.document import Markup

_LETTER = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
_WIDE = "\u3001-\u3004\u3008-\u301f\uff01-\uff65“”‘’—…·"
_SPACE = "[ \u00a0\u3000]"
_MARK = r"(?:[^\w\s|]|_)"
_ALONE = rf"(?:{_MARK}{{0,6}}[{_LETTER}]{_MARK}{{0,6}}|[{_WIDE}]{{1,6}})"
"""A letter by itself, with the punctuation and the markup that touch it; or only punctuation."""

_UNMISTAKABLE = 7
"""Letters, each with one space after it, that nobody writes so on purpose."""
_FEWEST = 2
"""The same in a text that is spaced throughout."""
_THROUGHOUT = 0.8
"""Share of the letters that stand alone in such a text."""

_SERIES = frozenset(
    "日月火水木金土一二三四五六七八九十零〇甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉戌亥"
)
"""Letters that do stand in a row by themselves: weekdays, numerals, stems and branches."""

_ANY_LETTER = re.compile(f"[{_LETTER}]")
_LONE_LETTER = re.compile(rf"(?<!\S){_MARK}{{0,6}}[{_LETTER}]{_MARK}{{0,6}}(?!\S)")
_WORD = re.compile(r"[0-9A-Za-z]{2}")
_INLINE_CODE = re.compile(r"(`+[^`]+`+)")
_HINT = re.compile(rf"[{_LETTER}]{_MARK}{{0,6}}{_SPACE}[{_LETTER}]{_MARK}{{0,6}}{_SPACE}")


def _run(first: str, further: str) -> re.Pattern[str]:
    """Two tokens or more with the same single space between them."""
    return re.compile(rf"(?<!\S){first}(?P<space>{_SPACE}){further}(?:(?P=space){further})*(?!\S)")


_LETTERS = _run(_ALONE, _ALONE)
_ALL = _run(rf"(?:{_ALONE}|[0-9A-Za-z])", rf"(?:{_ALONE}|[^\s|])")
"""Also figures, Latin letters and other marks: for lines where these stand alone as well."""


def close_up(text: str, markup: Markup = "plain") -> str:
    """Text without the spaces between characters where it is unmistakably spaced out."""
    if not _HINT.search(text):  # so it is with nearly every text
        return text
    runs = (run[0] for line in text.split("\n") for run in _runs(line).finditer(line))
    if max(map(_length, runs), default=0) < _UNMISTAKABLE:
        return text
    alone = sum(1 for _ in _LONE_LETTER.finditer(text))
    least = _FEWEST if alone >= _THROUGHOUT * _letters(text) else _UNMISTAKABLE
    pieces, end = [], 0
    for block in find_blocks(text, markup):
        if block.kind != "lines":
            lines = text[block.start : block.end].split("\n")
            pieces += [text[end : block.start], "\n".join(_closed(line, least) for line in lines)]
            end = block.end
    return "".join([*pieces, text[end:]])


def _closed(line: str, least: int) -> str:
    def close(run: re.Match[str]) -> str:
        return run[0].replace(run["space"], "") if _length(run[0]) >= least else run[0]

    runs = _runs(line)
    pieces = _INLINE_CODE.split(line)
    pieces[::2] = [runs.sub(close, piece) for piece in pieces[::2]]
    closed = "".join(pieces)
    return closed if closed == line else closed.rstrip()


def _runs(line: str) -> re.Pattern[str]:
    return _LETTERS if _WORD.search(line) else _ALL


def _length(run: str) -> int:
    """Letters of a run; none of one that is a series."""
    return 0 if _SERIES.issuperset(_ANY_LETTER.findall(run)) else _letters(run)


def _letters(text: str) -> int:
    return len(_ANY_LETTER.findall(text))
