"""Sentences of a source as part of an answer: without the markers of its author, with one of ours.

An author's `[2]` in an answer would be read as a citation of our source 2.
"""

from __future__ import annotations

import re

from ragweave.state.markers import CLOSERS, LONGEST, OPENERS, leading
from ragweave.state.quotation import without_loose_marks
from ragweave.state.text import BULLET, Span

_DEEPEST = 4
"""How deep markers may stand in each other."""
_OPENER = re.compile(f"[{re.escape(OPENERS)}]")
_BRACKET = re.compile(f"[{re.escape(OPENERS + CLOSERS)}]")
_GOES_WITH_IT = re.compile(r"\((?:https?://|[#/])[^\s()]*\)|_(?!\w)")
"""What follows a marker and is part of it: a link, or the end of a footnote of reStructuredText."""
_BETWEEN = re.compile(r"\s*(?:[,;，；、/&]|and\b|or\b|和|与|及)?\s*", re.IGNORECASE)
CHINESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_STOP = re.compile(r"[.!?。！？]+[\"'”’»)\]）」』*_`]*$")


def plain_sentence(piece: str) -> str:
    """A sentence of a source on one line, without bullet, markers and loose quotation marks."""
    bullet = BULLET.match(piece)
    line = unmarked(piece[bullet.end() :] if bullet else piece).strip("… ")
    return line[slice(*without_loose_marks(line, Span(0, len(line))))]


def unmarked(text: str) -> str:
    """`text` on one line, without anything that would be read as a citation marker.

    What is left when a marker is gone may be one itself, as of `[1[2]]`, and goes too. Of text
    that nests them deeper than any author does, the brackets go: time stays linear in the text.
    """
    line = " ".join(text.split())
    for _ in range(_DEEPEST):
        shorter = _without_markers(line)
        if shorter == line:
            return line
        line = shorter
    return _BRACKET.sub("", line)


def cited_sentence(sentence: str, number: int | str) -> str:
    """The sentence with its citation before its full stop; one that has none is given one."""
    chinese = is_chinese(sentence)
    stop = _STOP.search(sentence)
    body = sentence[: stop.start()] if stop else sentence.rstrip(";；:：")
    end = stop[0] if stop else "。" if chinese else "."
    return f"{body}{'' if chinese else ' '}[{number}]{end}"


def is_chinese(text: str) -> bool:
    """Whether there are Chinese or Japanese characters in it: words are not spaced then."""
    return CHINESE.search(text) is not None


def _without_markers(line: str) -> str:
    pieces: list[str] = []
    done = 0
    for opener in _OPENER.finditer(line):
        start = opener.start()
        marker = leading(line[start : start + LONGEST + 2]) if start >= done else None
        if marker is None:
            continue
        end = start + len(marker.text)
        if line[start - 1 : start] == "[" and line[end : end + 1] == "]":  # [[1]](link)
            start, end = start - 1, end + 1
        before = line[done:start]
        if not (pieces and _BETWEEN.fullmatch(before)):
            pieces.append(before.rstrip())
        follows = _GOES_WITH_IT.match(line, end)
        done = follows.end() if follows else end
    return "".join([*pieces, line[done:]]).strip()
