"""Splitting a document into chunks along its own structure.

A text that is larger than a chunk is cut in two at the best place that it offers, before a
heading, else between paragraphs, sentences, lines, clauses, words, and each half again. Among
equally good places the content itself chooses, by a hash of what follows, as in content-defined
chunking (Muthitacharoen et al., "A Low-bandwidth Network File System", 2001). So an edit moves the
places near it and no others, and unchanged chunks need not be embedded again.
"""

from __future__ import annotations

import re
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import regex  # type: ignore[import-untyped]

from ragweave.indexing.blocks import Block, find_blocks
from ragweave.indexing.document import Markup

TokenCounter = Callable[[Sequence[str]], list[int]]
"""Number of tokens of each of several texts."""

VERSION = 1
"""Counts up when the same text would be split at other places."""


@dataclass(frozen=True, slots=True)
class Span:
    """A chunk's place: `text[start:end]`."""

    start: int
    end: int
    headings: tuple[str, ...] = ()
    """Titles of the sections that its first words lie in, outermost first."""


_BEFORE_HEADING, _PARAGRAPH, _ATTACHED, _SENTENCE, _LINE, _CLAUSE, _WORD, _AFTER_HEADING = (
    10, 5, 4, 3, 2, 1, 0, -1
)  # fmt: skip
_HEADING_LEVELS = 6
LEAST_FILL = 0.25
"""Share of the greatest size that a chunk has at least, where the text lets it."""
_MARGIN = 16
"""A chunk is counted piece by piece; one part in so many is kept free for what joins them."""


@dataclass(slots=True)
class _Piece:
    """What is never cut: a whole block, or a part of one that is larger than a chunk."""

    start: int
    end: int
    strength: int
    """How good a place the start of this piece is to begin a chunk."""
    block: int
    tokens: int = 0


def split(
    text: str,
    count: TokenCounter,
    *,
    markup: Markup = "plain",
    max_tokens: int = 256,
    overlap: int = 0,
    fill: float = LEAST_FILL,
) -> list[Span]:
    """Spans of the chunks of `text`, in order, none empty and none with white space around it.

    Args:
        count: counts the tokens of many texts at once; called at most six times, and the time
            taken grows in proportion to the text.
        markup: which headings and code blocks to look for.
        max_tokens: greatest size of a chunk. Only a single grapheme cluster may be larger.
        overlap: tokens, at most, of the sentences that a chunk repeats from the one before it.
        fill: share of the greatest size that a chunk has at least, where the text lets it. A great
            share makes fewer chunks, and puts small sections together; it leaves less choice of
            where to cut.
    """
    blocks = find_blocks(text, markup)
    limit = max_tokens - overlap - max_tokens // _MARGIN
    pieces = _pieces(text, blocks, count, limit, overlap)
    sections = _sections(blocks)
    spans = []
    for first, after in _chunks(text, pieces, limit, fill):
        begin = _with_overlap(text, pieces, first, overlap)
        body = _body(blocks, pieces[first:after])
        spans.append(Span(pieces[begin].start, pieces[after - 1].end, sections[body.block]))
    return spans


# --- from blocks to pieces ----------------------------------------------------------------------

_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|vs|etc|No|Fig|Eq|cf|al|e\.g|i\.e|[A-Z]))\.$"
)
_SENTENCE_END = re.compile(
    r"""[.!?]+["'”’»)\]]*\s+(?=["'“‘«(\[]*[^\Wa-z])"""
    r"""|[。！？；｡؟۔।॥]+["'”’」』）】》〉]*\s*"""
    r"""|…+["'”’」』）】》〉]+\s*"""
    r"""|\n(?=\s*(?:[-*+•·]|\d{1,3}[.)、]|[（(][一二三四五六七八九十\d]{1,3}[)）])\s*)"""
)
_LINE_END = re.compile(r"\n\s*")
_CLAUSE_END = re.compile(r"[,;:]\s+|[，、：—,]\s*|[)）\]】]\s*")
_WORD_END = re.compile(r"\s+")
_GRAPHEME = regex.compile(r"\X")
_EXTENDS = regex.compile(r"[\p{M}\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]")
_ATOM = 32
"""Characters of the smallest pieces: at four tokens a character they still fit a small chunk."""


def _pieces(
    text: str, blocks: Sequence[Block], count: TokenCounter, limit: int, overlap: int
) -> list[_Piece]:
    pieces = [
        _Piece(_whole(text, block.start), block.end, _strength(blocks, number), number)
        for number, block in enumerate(blocks)
    ]
    _count(text, pieces, count, limit)
    pieces = _divide(text, pieces, blocks, count, overlap or limit, _SENTENCE, limit)
    for strength in (_LINE, _CLAUSE, _WORD):
        pieces = _divide(text, pieces, blocks, count, limit, strength, limit)
    return _divide_words(text, pieces, count, limit)


def _whole(text: str, start: int) -> int:
    """`start`, or the space before it if that carries a mark which begins the block."""
    marks_a_space = start and text[start - 1] != "\n" and _EXTENDS.match(text, start)
    return start - 1 if marks_a_space else start


def _strength(blocks: Sequence[Block], number: int) -> int:
    block = blocks[number]
    if number and blocks[number - 1].kind == "heading" and block.kind != "heading":
        return _AFTER_HEADING
    if block.kind == "heading":
        follows_heading = number and blocks[number - 1].kind == "heading"
        deeper = follows_heading and blocks[number - 1].level < block.level
        level = min(block.level, _HEADING_LEVELS)
        return _AFTER_HEADING if deeper else _BEFORE_HEADING - level + 1
    return _ATTACHED if block.attached else _PARAGRAPH


def _count(text: str, pieces: Sequence[_Piece], count: TokenCounter, limit: int) -> None:
    """Count the tokens of pieces; those that are surely too large are not even read."""
    small = [piece for piece in pieces if piece.end - piece.start <= limit * 20]
    for piece in pieces:
        piece.tokens = limit + 1
    counts = count([text[piece.start : piece.end] for piece in small]) if small else []
    for piece, tokens in zip(small, counts, strict=True):
        piece.tokens = tokens


def _divide(
    text: str,
    pieces: Sequence[_Piece],
    blocks: Sequence[Block],
    count: TokenCounter,
    larger_than: int,
    strength: int,
    limit: int,
) -> list[_Piece]:
    """Pieces with those `larger_than` so many tokens cut at every place of one kind."""
    divided: list[_Piece] = []
    parts: list[_Piece] = []
    for piece in pieces:
        whole = blocks[piece.block].kind == "lines" and strength == _SENTENCE
        if piece.tokens <= larger_than or whole:
            divided.append(piece)
            continue
        new = list(_parts(text, piece, strength))
        divided += new
        parts += new
    _count(text, parts, count, limit)
    return divided


def _parts(text: str, piece: _Piece, strength: int) -> Iterator[_Piece]:
    start, own = piece.start, piece.strength
    for cut in _cuts(text, piece.start, piece.end, strength):
        if part := _stripped(text, start, cut):
            yield _Piece(*part, own, piece.block)
            own = strength
        start = cut
    if part := _stripped(text, start, piece.end):
        yield _Piece(*part, own, piece.block)


def _cuts(text: str, start: int, end: int, strength: int) -> Iterator[int]:
    places = {
        _SENTENCE: _SENTENCE_END, _LINE: _LINE_END, _CLAUSE: _CLAUSE_END, _WORD: _WORD_END
    }[strength]  # fmt: skip
    for found in places.finditer(text, start, end):
        cut = found.end()
        if strength == _SENTENCE and _ABBREVIATION.search(
            text[max(start, cut - 12) : cut].rstrip()
        ):
            continue
        if cut < end and not _EXTENDS.match(text, cut) and text[cut - 1] != "\u200d":
            yield cut


def _divide_words(
    text: str, pieces: Sequence[_Piece], count: TokenCounter, limit: int
) -> list[_Piece]:
    """Pieces with words that are still too large cut between grapheme clusters."""
    divided: list[_Piece] = []
    parts: list[_Piece] = []
    for piece in pieces:
        if piece.tokens <= limit:
            divided.append(piece)
            continue
        new = list(_atoms(text, piece))
        divided += new
        parts += new
    _count(text, parts, count, limit)
    return divided


def _atoms(text: str, piece: _Piece) -> Iterator[_Piece]:
    start, own = piece.start, piece.strength
    for grapheme in _GRAPHEME.finditer(text, piece.start, piece.end):
        cut = grapheme.start()
        if grapheme.end() - start > _ATOM and (part := _stripped(text, start, cut)):
            yield _Piece(*part, own, piece.block)
            start, own = cut, _WORD
    if part := _stripped(text, start, piece.end):
        yield _Piece(*part, own, piece.block)


def _stripped(text: str, start: int, end: int) -> tuple[int, int] | None:
    while end > start and text[end - 1].isspace():
        end -= 1
    while start < end and text[start].isspace() and not _EXTENDS.match(text, start + 1):
        start += 1
    return (start, end) if start < end else None


# --- from pieces to chunks ----------------------------------------------------------------------


def _chunks(text: str, pieces: Sequence[_Piece], limit: int, fill: float) -> list[tuple[int, int]]:
    """First piece and piece after the last of each chunk, in order.

    Whatever is larger than `limit` tokens is cut in two at the best place within it, and its
    halves again.
    """
    starts, ends = _positions(text, pieces)
    places = [_place(text, piece) for piece in pieces]
    chunks = []
    waiting = [(0, len(pieces))] if pieces else []
    while waiting:
        first, after = waiting.pop()
        size = ends[after - 1] - starts[first]
        if size <= limit or after - first == 1:
            chunks.append((first, after))
            continue
        cut = _best_cut(places, starts, ends, first, after, limit, fill)
        waiting += [(cut, after), (first, cut)]
    return chunks


def _best_cut(
    places: Sequence[tuple[int, int]],
    starts: Sequence[int],
    ends: Sequence[int],
    first: int,
    after: int,
    limit: int,
    fill: float,
) -> int:
    """The piece to begin the second half with, where both halves make chunks that are full enough.

    Of equally good places, such as those between equal paragraphs, the one nearest the middle.
    """
    least = int(LEAST_FILL * limit)
    lowest = bisect_left(ends, starts[first] + least, first, after) + 1
    highest = bisect_right(starts, ends[after - 1] - least, first, after) - 1
    cuts: Sequence[int] = range(lowest, highest + 1) or range(first + 1, after)
    if fill > LEAST_FILL:
        lacking = [
            _lacking(ends[cut - 1] - starts[first], limit, fill)
            + _lacking(ends[after - 1] - starts[cut], limit, fill)
            for cut in cuts
        ]
        fewest = min(lacking)
        cuts = [cut for cut, lack in zip(cuts, lacking, strict=True) if lack == fewest]
    middle = (starts[first] + ends[after - 1]) / 2
    return max(cuts, key=lambda cut: (places[cut], -abs(starts[cut] - middle)))


def _lacking(size: int, limit: int, fill: float) -> int:
    """Tokens that `size` is short of filling each of as few chunks as can hold it."""
    return max(0, -(-size // limit) * int(fill * limit) - size)


def _positions(text: str, pieces: Sequence[_Piece]) -> tuple[list[int], list[int]]:
    """Tokens of the text before the start, and before the end, of each piece."""
    starts: list[int] = []
    ends: list[int] = []
    for number, piece in enumerate(pieces):
        gap = _gap(text, pieces[number - 1].end, piece.start) if number else 0
        starts.append((ends[-1] if ends else 0) + gap)
        ends.append(starts[-1] + piece.tokens)
    return starts, ends


def _place(text: str, piece: _Piece) -> tuple[int, int]:
    """How good it is to begin a chunk with a piece: its strength, and a hash of its words."""
    words = text[piece.start : min(piece.end, piece.start + _ATOM)]
    return piece.strength, zlib.crc32(words.encode("utf-8", "surrogatepass"))


def _gap(text: str, start: int, end: int) -> int:
    """Tokens of the white space between two pieces: the line ends, and what is around them."""
    newlines = text.count("\n", start, end)
    return newlines and newlines + 1 + text.startswith(" ", start)


def _with_overlap(text: str, pieces: Sequence[_Piece], first: int, overlap: int) -> int:
    """Number of the first piece of a chunk that also repeats what came before piece `first`."""
    size = 0
    while first:
        before = pieces[first - 1]
        size += before.tokens + _gap(text, before.end, pieces[first].start)
        if size > overlap:
            break
        first -= 1
    return first


def _body(blocks: Sequence[Block], pieces: Sequence[_Piece]) -> _Piece:
    """The first piece that is no heading; a chunk of nothing but headings is in the first's."""
    return next((piece for piece in pieces if blocks[piece.block].kind != "heading"), pieces[0])


def _sections(blocks: Sequence[Block]) -> list[tuple[str, ...]]:
    """For each block, the titles of the sections it lies in, outermost first."""
    sections, path = [], list[Block]()
    for block in blocks:
        if block.kind == "heading":
            path = [*(outer for outer in path if outer.level < block.level), block]
        sections.append(tuple(heading.title for heading in path))
    return sections
