"""Lists of sources as models append them: "Sources:", "## References", "参考文献：" and entries."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from ragweave.state.markers import leading

_LABEL = re.compile(
    r"[\s>#*_\-•]*(?:sources?|references?|citations?|works\s+cited|bibliography|footnotes?"
    r"|参考文献|参考资料|参考来源|资料来源|信息来源|引用来源|引用文献|参考|来源|出处|引用|文献|脚注)"
    r"(?:\s+(?:used|cited))?[\s*_]*[:：]?[\s*_]*",
    re.IGNORECASE,
)
_BARE = re.compile(r"[\s*_]*\d{1,9}(?:\s*[,;，；、\s]\s*\d{1,9})*[\s*_.。]*")
_BULLET = re.compile(r"[\s>]*[-*+•·]\s+")
_COUNTED = re.compile(r"[\s>*_]*(?P<number>\d{1,3})[.)、．:：](?!\d)\s*")
_FOOTNOTE = re.compile(r"^[ \t]*(?P<marker>\[\^\d{1,9}\])[:：].*$", re.MULTILINE)
_NUMBER = re.compile(r"\d+")
_LINK = re.compile(r"\s*<?https?://")


def footnotes(text: str) -> dict[int, tuple[int, int]]:
    """Spans of the lines that look like footnotes (`[^1]: Title`), by where their bracket is."""
    return {match.start("marker"): match.span() for match in _FOOTNOTE.finditer(text)}


def is_label(line: str) -> bool:
    """Whether a line so far announces a list of sources and says nothing else."""
    return _LABEL.fullmatch(line) is not None


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a list, as it is kept: empty if it is dropped."""

    text: str
    counts: list[tuple[int, int]] = field(default_factory=list)
    """Spans in it of numbers that name sources without a marker."""
    invalid: list[str] = field(default_factory=list)


def read_entry(line: str, text: str, known: Collection[int], *, labelled: bool) -> Entry | None:
    """What a line of a list becomes; None if it is no part of the list, which then is over.

    Args:
        line: the line as the model wrote it.
        text: the same without invalid markers and the line break.
        known: numbers of the sources.
        labelled: whether it is the rest of the label's own line.
    """
    if "`" in line or "~" in line:
        return None
    if not line.strip(" \t\r\n*_"):
        return Entry(text)
    if _has_marker(line) or _has_marker(text):
        return Entry(text if _has_marker(text) else "")
    if labelled:
        return _bare(text, known) if _BARE.fullmatch(text) else None
    if count := _COUNTED.match(text):
        if int(count["number"]) in known:
            return Entry(text, [count.span("number")])
        return Entry("", invalid=[count["number"]])
    return Entry(text) if _BULLET.match(text) or _LINK.match(text) else None


def _bare(text: str, known: Collection[int]) -> Entry:
    """Numbers alone after a label, such as "1, 9"."""
    numbers = _NUMBER.findall(text)
    kept = [number for number in numbers if int(number) in known]
    if kept != numbers:
        indent = text[: len(text) - len(text.lstrip())]
        text = indent + ", ".join(kept) if kept else ""
    counts = [match.span() for match in _NUMBER.finditer(text)]
    return Entry(text, counts, [number for number in numbers if number not in kept])


def _has_marker(line: str) -> bool:
    """Whether an entry starts with a marker, after a bullet or a count."""
    for prefix in (_BULLET, _COUNTED):
        if match := prefix.match(line):
            line = line[match.end() :]
    return leading(line.lstrip(" \t\u3000*_>")) is not None
