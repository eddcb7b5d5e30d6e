"""Citation markers in all the forms that models write, and what they name.

`[1]`, `[1, 2]`, `[1-3]`, `[1、2]`, `［１］`, `【2】`, `【1†source】`, `[^1]`, `[Source 2]`,
`[来源：2]`, `[cite: 1, 2]`, `[1, p. 5]`, `(Source 2)` and `（来源2）` are markers; `(2)`, `[0.5]`,
`[sic]` and `[a, b]` are not. In round brackets a word such as "Source" is needed, since `(2)`
mostly counts something. `[2020]` and `[0]` are markers that name no source.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

LONGEST = 400
"""Characters of the longest marker; anything longer is text."""

OPENERS = "[［【〔(（"
CLOSERS = "]］】〕)）"
_PAIRS = (r"[\[［]", r"[\]］]"), (r"[【〔]", r"[】〕]")
_INNER = r"[^\[\]［］【】〔〕()（）\r\n]"

_SPACE = r"[^\S\r\n]{0,2}+"
_CERTAIN_WORDS = (
    r"sources?|citations?|references?|refs?|资料来源|信息来源|参考来源|来源|参考文献|参考资料|文献"
    r"|资料|引用|出处"
)
_WORDS = (
    rf"{_CERTAIN_WORDS}|src|documents?|docs?|passages?|cites?|contexts?|excerpts?|chunks?"
    r"|footnotes?|参考|文档|文件|片段|段落"
)
_LEADS = r"see|cf\.|cf|参见|详见|见"
_COUNTERS = r"numbers?|nos?\.|nos?|nr\.|id|编号|序号"
_JOINTS = r"and|or|to|through|以及|和|与|及|至|到"
_DASH = rf"(?:{_SPACE}(?:[-–—‐‑−~～〜－]{{1,2}}|至|到|to|through){_SPACE})"
_SEPARATOR = rf"{_SPACE}(?:[,;/，；、&]{_SPACE}(?:and|or|和|与)?|and\b|or\b|以及|和|与|及)?{_SPACE}"
_LOCATORS = r"pp?\.|pages?|sec\.|sections?|§+|art\.|articles?|ch\.|chapters?|lines?|¶|第"


def _label(words: str) -> str:
    return rf"(?:{words}){_SPACE}(?:{_COUNTERS})?{_SPACE}[#:：._\-]?{_SPACE}"


_NUMBER = rf"[#^№]?{_SPACE}\d{{1,32}}+(?!\d)"
_NAMED = rf"(?:\d{{1,9}}:\d{{1,9}}(?=†)|{_NUMBER}(?:{_DASH}(?:{_label(_WORDS)})?{_NUMBER})?)"
_TAIL = r"(?:†[^\[\]【】〔〕†\r\n,，;；、]{0,80}+)?+"
_ITEM = rf"(?:{_label(_WORDS)})?{_NAMED}{_TAIL}"
_REST = (
    rf"(?:{_SEPARATOR}{_ITEM})*{_SPACE}[,;，；、]?"
    rf"(?:{_SPACE}[,:：，;；]?{_SPACE}(?:{_LOCATORS}){_INNER}{{0,40}})?{_SPACE}"
)
_LEAD = rf"{_SPACE}(?:(?:{_LEADS}){_SPACE})?"
_SQUARE = [rf"{opener}{_LEAD}{_ITEM}{_REST}{closer}" for opener, closer in _PAIRS]
_ROUND = rf"[(（]{_LEAD}{_label(_CERTAIN_WORDS)}{_NAMED}{_TAIL}{_REST}[)）]"
_MARKER = re.compile("|".join([*_SQUARE, _ROUND]), re.IGNORECASE)
_LEADING = re.compile(rf"[{re.escape(OPENERS)}]{_INNER}{{1,{LONGEST}}}[{re.escape(CLOSERS)}]")

_BEGUN = re.compile(
    rf"[{re.escape(OPENERS)}]"
    rf"(?:{_WORDS}|{_LEADS}|{_COUNTERS}|{_JOINTS}|\d|[^\S\r\n]"
    r"|[,;:/，；：、&#^№._\-–—‐‑−~～〜－])*+"
    rf"(?:[^\W\d_]{{0,12}}|(?:†|{_LOCATORS}){_INNER}{{0,80}})",
    re.IGNORECASE,
)
_COUNT = re.compile(r"[(（]\s*\d")

_PARTS = re.compile(
    rf"(?P<label>{_label(_WORDS)})?(?:(?P<foreign>\d{{1,9}}:\d{{1,9}}†)"
    rf"|[#^№]?{_SPACE}(?P<low>\d{{1,32}})"
    rf"(?:{_DASH}(?:{_label(_WORDS)})?[#^№]?{_SPACE}(?P<high>\d{{1,32}}))?){_TAIL}",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")
_LOCATOR = re.compile(rf"{_SPACE}[,:：，;；]?{_SPACE}(?:{_LOCATORS}){_INNER}*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Item:
    """One number or range of a marker, as it is written. `low` is None if it can name no source."""

    text: str
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class Marker:
    """A citation marker."""

    text: str
    items: tuple[Item, ...]

    def numbers(self, known: Collection[int]) -> list[int]:
        """The known numbers that it names, in its order, each once. A range is never expanded."""
        named = (number for item in self.items for number in _within(item, known))
        return list(dict.fromkeys(named))

    def only(self, known: Collection[int]) -> str:
        """The marker without the numbers that are not known; empty if it names no known one."""
        kept = [text for item in self.items if (text := _known_part(item, known))]
        if kept == [item.text for item in self.items]:
            return self.text
        return f"{self.text[0]}{self._separator().join(kept)}{self.text[-1]}" if kept else ""

    def renamed(self, names: Mapping[int, int]) -> str:
        """The marker with each number replaced by its new one; all its numbers have one."""
        items = [_renamed(item, names) for item in self.items]
        if items == [item.text for item in self.items]:
            return self.text
        return f"{self.text[0]}{self._separator().join(items)}{self.text[-1]}"

    def _separator(self) -> str:
        wide = self.text[0] != "[" and self.text[0] != "("
        return "，" if wide and "," not in self.text else ", "


def parse(text: str) -> Marker | None:
    """The marker that `text` is from its first to its last character, or None."""
    if len(text) > LONGEST or not _MARKER.fullmatch(text):
        return None
    inner = text[1:-1]
    locator = _LOCATOR.search(inner)
    found = _PARTS.finditer(inner, 0, locator.start() if locator else len(inner))
    return Marker(text, tuple(_item(part) for part in found))


def leading(text: str) -> Marker | None:
    """The marker that `text` starts with, or None."""
    match = _LEADING.match(text)
    return parse(match[0]) if match else None


def may_become(text: str) -> bool:
    """Whether characters added to `text`, which starts with an opener, may make it a marker."""
    return len(text) < LONGEST and _BEGUN.fullmatch(text) is not None and _COUNT.match(text) is None


def _item(part: re.Match[str]) -> Item:
    text = part[0].strip()
    if part["foreign"]:
        return Item(text, None, None)
    low = int(part["low"])
    high = int(part["high"]) if part["high"] else low
    return Item(text, min(low, high), max(low, high))


def _within(item: Item, known: Collection[int]) -> list[int]:
    if item.low is None or item.high is None:
        return []
    if item.low == item.high:
        return [item.low] if item.low in known else []
    return sorted(number for number in set(known) if item.low <= number <= item.high)


def _known_part(item: Item, known: Collection[int]) -> str:
    numbers = _within(item, known)
    if item.low is None or item.high is None or not numbers:
        return ""
    whole = len(numbers) == item.high - item.low + 1
    return item.text if whole else ", ".join(map(str, numbers))


def _renamed(item: Item, names: Mapping[int, int]) -> str:
    numbers = sorted(names[number] for number in _within(item, names))
    if len(numbers) == 1:
        return _DIGITS.sub(str(numbers[0]), item.text, count=1)
    return ", ".join(map(str, numbers))
