"""Sentences of English and Chinese text, as spans: for strips, for quotes and for checking answers.

A full stop ends a sentence only where the words around it agree: `3.14`, `e.g. this`, `J. Smith`,
`Dr. Who` and `v. 2` do not. 。！？ end one anywhere. Closing quotes and brackets belong to the
sentence before them. Headings, list items, table rows and fenced code stand by themselves; a line
break inside a paragraph is white space, unless its line is too short to have been wrapped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

_NUMERAL = r"[一二三四五六七八九十]{1,3}"
BULLET = re.compile(
    r"[ \t>]*(?:(?:[-*+•·]|\(?\d{1,3}[.)])(?:[ \t]+|$)"
    rf"|(?:[（(]{_NUMERAL}[）)]|(?:{_NUMERAL}|\d{{1,3}})、)[ \t\u3000]*)",
    re.MULTILINE,
)
"""What a list item starts with: `-`, `1.`, `(2)`, `（三）`, `四、`."""

_FENCE = re.compile(r"[ \t>]*(`{3,}(?=[^`]*$)|~{3,})", re.MULTILINE)
_UNDERLINE = re.compile(r"[ \t]*([=\-~^*#\"'`:.+_])\1{2,}[ \t]*$")
_HEADING_OR_ROW = re.compile(
    r"[ \t]*(?:#{1,6}[ \t]|\||第[一二三四五六七八九十百零〇\d]{1,8}[编章节]\s)"
)
_ROW = re.compile(r"[ \t]*\|")
_ARTICLE = re.compile(r"[ \t\u3000]*第[一二三四五六七八九十百零〇\d]{1,8}条")

_CLOSERS = r"[\"'”’»)\]}」』】）》〉*_`]*"
_STOP = re.compile(rf"(?:(?P<wide>[。！？｡।॥؟۔]+)|(?P<narrow>[.!?…]+)){_CLOSERS}")
_OPENERS = re.compile(r"[\s\"'“‘(（\[【「『《*_`]*")
_LAST_WORD = re.compile(r"[^\s(（\[\"“‘']*$")
_BREAK = re.compile(r"[，；、,;:：]\s*|\s+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef]")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEVER_LAST = _words(
    """
    mr mrs ms dr prof rev hon st mt gen gov sen rep lt col capt sgt maj messrs fig figs sec secs
    art arts eq eqs ref refs no nos vol vols ch chs pp p cf vs v e.g i.e eg ie viz approx ca al
    resp incl esp par ed eds transl trans u.s u.k u.n
    """
)
"""Abbreviations that a sentence does not end with."""
_SELDOM_LAST = _words(
    """
    etc inc ltd co corp jr sr a.m p.m dept est jan feb mar apr jun jul aug sep sept oct nov dec
    ph.d b.c a.d
    """
)
"""Abbreviations that a sentence may end with: it does where a capital follows."""
_CONTEXT = 40
"""Characters around a stop that are looked at."""


class Span(NamedTuple):
    """Characters `[start:end]` of a text."""

    start: int
    end: int


def sentences(text: str) -> list[Span]:
    """Spans of the sentences, in order, without the white space around them.

    Together they hold every character that is not white space. Time is linear in the text.
    """
    return [
        kept
        for block in _blocks(text)
        for span in _in_block(text, block)
        if (kept := trimmed(text, span)).start < kept.end
    ]


def strips(text: str, size: int) -> list[Span]:
    """Spans of `size` consecutive sentences each; the last may have fewer."""
    spans = sentences(text)
    groups = (spans[at : at + size] for at in range(0, len(spans), size))
    return [Span(group[0].start, group[-1].end) for group in groups]


def trimmed(text: str, span: Span) -> Span:
    """`span` without the white space at its ends."""
    piece = text[slice(*span)]
    return Span(span.end - len(piece.lstrip()), span.start + len(piece.rstrip()))


def cut(text: str, span: Span, limit: int) -> list[Span]:
    """`span` in pieces of at most `limit` characters, cut after punctuation or white space.

    Where neither is in the second half of a piece, it is cut at the limit.
    """
    pieces = []
    start, end = span
    while end - start > limit:
        half = start + limit // 2
        breaks = [match.end() for match in _BREAK.finditer(text, half, start + limit)]
        middle = breaks[-1] if breaks else start + limit
        pieces.append(Span(start, middle))
        start = middle
    return [*pieces, Span(start, end)]


def _blocks(text: str) -> Iterator[list[Span]]:
    """Lines that may share a sentence: a paragraph, a list item, a heading, a block of code."""
    block: list[Span] = []
    fence, end = "", 0
    for match in re.finditer(r"[^\r\n]+", text):
        line, gap = match[0], text[end : match.start()].replace("\r\n", "\n")
        span, end = Span(*match.span()), match.end()
        mark = _FENCE.match(line)
        if fence:  # code goes on to the closing fence, whatever it holds
            block[-1] = Span(block[-1].start, span.end)
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
            continue
        if block and (len(gap) > 1 or mark or not line.strip() or _starts_block(text, block, line)):
            yield block
            block = []
        if line.strip():
            block.append(span)
            fence = mark[1] if mark else ""
    yield block


def _starts_block(text: str, block: list[Span], line: str) -> bool:
    """Whether `line` begins a new block after the lines of `block`."""
    if _UNDERLINE.match(line):
        return False
    last = text[slice(*block[-1])]
    if _UNDERLINE.match(last) or _HEADING_OR_ROW.match(last) or _FENCE.match(last):
        return True
    return any(start.match(line) for start in (BULLET, _HEADING_OR_ROW, _ARTICLE))


def _in_block(text: str, lines: list[Span]) -> Iterator[Span]:
    """Sentences of one block, white space included."""
    if not lines:
        return
    start, end = lines[0].start, lines[-1].end
    if _FENCE.match(text, start, end) or _ROW.match(text, start, end):
        yield Span(start, end)
        return
    bullet = BULLET.match(text, start, end)
    stops = _STOP.finditer(text, bullet.end() if bullet else start, end)
    cuts = {stop.end() for stop in stops if _ends_sentence(text, stop, start, end)}
    for first, last in pairwise(sorted({start, end, *cuts, *_ended_lines(text, lines)})):
        yield Span(first, last)


def _ended_lines(text: str, lines: list[Span]) -> Iterator[int]:
    """Ends of lines that were not wrapped: under half of the longest, and a capital follows."""
    longest = max(line.end - line.start for line in lines)
    for line, following in pairwise(lines):
        first = text[following.start : following.end].lstrip()[:1]
        if 2 * (line.end - line.start) < longest and first.isalnum() and not first.islower():
            yield line.end


def _ends_sentence(text: str, stop: re.Match[str], start: int, end: int) -> bool:
    after = text[stop.end() : min(end, stop.end() + _CONTEXT)]
    if stop["wide"] or not after.strip():
        return True
    spaced = after[0].isspace()
    marks = stop["narrow"]
    if not spaced and (marks[0] == "…" or marks.startswith("..")):
        return False
    if not spaced and after[0] not in "[【（" and not _CJK.match(after):
        return False
    opening = _OPENERS.match(after)
    following = after[opening.end() if opening else 0 :][:1]
    if following.islower():
        return False
    return marks != "." or not _abbreviates(
        text[max(start, stop.start() - _CONTEXT) : stop.start()], following
    )


def _abbreviates(before: str, following: str) -> bool:
    """Whether a full stop after `before` only shortens its last word."""
    match = _LAST_WORD.search(before)
    word = match[0] if match else ""
    if word.lower() in _NEVER_LAST:
        return True
    if word.lower() in _SELDOM_LAST:
        return not following.isupper()
    return len(word) == 1 and word.isascii() and word.isupper() and word != "I"
