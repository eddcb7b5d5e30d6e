"""The sentences of an answer, each with the sources that it cites and what it states of them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from ragweave.nodes.citations.statements import is_lead_in, states_something
from ragweave.nodes.citations.token_filter import Filtered, Mention
from ragweave.state.text import BULLET, Span, sentences, trimmed

_JOINT = re.compile(r"[\s,;，；、/&]*(?:and|or|和|与|及|以及)?[\s,;，；、/&]*")
_STOP = re.compile(r"\s*[.!?。！？…]?[\"'”’」』)）*_]*")
_END_OF_LINE = re.compile(r"[ \t\r.。;；]*\n")
_AFTER_MARKERS = re.compile(r"[\s.,;。，；]*")
_SUBJECT = re.compile(
    r"\s*(?:[a-z]|(?:还|也|则|均|都|中|里)?(?:指出|规定|认为|表明|说明|提到|显示|介绍|描述|要求))"
)
"""What follows a marker that is the subject of a sentence: `[1] says`, `[1]规定`."""
_TABLE_RULE = re.compile(r"\|?[\s:|]*-[\s:|\-]*$")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a sentence and the numbers of the sources that it cites together."""

    text: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an answer."""

    text: str
    """As it stands in the answer, without a bullet."""
    parts: tuple[Part, ...]
    """What it says up to each of its markers; one part without numbers if it cites nothing."""
    states: bool
    """Whether it states something that a source could support."""
    leads: bool
    """Whether it only announces the list that follows."""
    item: bool
    """Whether it is in an item of a list."""

    @property
    def numbers(self) -> list[int]:
        """The sources that it cites, each once."""
        return list(dict.fromkeys(number for part in self.parts for number in part.numbers))

    @property
    def claim(self) -> str:
        """What it says, markers taken out."""
        return "".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a list of sources."""

    text: str
    numbers: tuple[int, ...]


def read_answer(answer: Filtered) -> tuple[list[Sentence], list[Entry]]:
    """The sentences of an answer, and the lines of the list of sources in it."""
    cited = [mention for mention in answer.mentions if not mention.listed]
    spans = _sentence_spans(answer, cited)
    read: list[Sentence] = []
    for at, span in enumerate(spans):
        following = answer.text[slice(*spans[at + 1])] if at + 1 < len(spans) else ""
        same_line = at > 0 and "\n" not in answer.text[spans[at - 1].end : span.start]
        inside = _inside(cited, span)
        in_item = same_line and read[-1].item
        read.append(_sentence(answer.text, span, inside, following, in_item=in_item))
    return read, list(_entries(answer))


def _sentence(
    answer: str, span: Span, cited: Sequence[Mention], following: str, *, in_item: bool
) -> Sentence:
    bullet = BULLET.match(answer, span.start, span.end)
    if bullet and bullet.end() < span.end:
        span = Span(bullet.end(), span.end)
    text = answer[slice(*span)]
    parts = tuple(_parts(answer, span, cited))
    bare = "".join(part.text for part in parts).strip()
    heads_table = text.startswith("|") and _TABLE_RULE.match(following) is not None
    return Sentence(
        text,
        parts,
        states=states_something(bare) and not heads_table,
        leads=is_lead_in(bare),
        item=in_item or bullet is not None,
    )


def _parts(answer: str, span: Span, cited: Sequence[Mention]) -> Iterator[Part]:
    at = span.start
    runs = list(_runs(answer, cited))
    if not runs:
        yield Part(answer[at : span.end], ())
    for start, end, numbers in runs:
        tail = answer[end : span.end] if end == runs[-1][1] else ""
        yield Part(answer[at:start] + tail, numbers)
        at = end


def _runs(answer: str, cited: Sequence[Mention]) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """Markers with nothing but a separator between them, taken together."""
    run: list[Mention] = []
    for mention in cited:
        if run and not _JOINT.fullmatch(answer, run[-1].end, mention.start):
            yield _run(run)
            run = []
        run.append(mention)
    if run:
        yield _run(run)


def _run(mentions: Sequence[Mention]) -> tuple[int, int, tuple[int, ...]]:
    numbers = dict.fromkeys(number for mention in mentions for number in mention.numbers)
    return mentions[0].start, mentions[-1].end, tuple(numbers)


def _entries(answer: Filtered) -> Iterator[Entry]:
    listed = [mention for mention in answer.mentions if mention.listed]
    for start, end in answer.entries:
        inside = _inside(listed, Span(start, end))
        numbers = dict.fromkeys(number for mention in inside for number in mention.numbers)
        if numbers:
            line = answer.text.rfind("\n", 0, start) + 1
            yield Entry(answer.text[line:end].strip(), tuple(numbers))


# --- where sentences begin and end ------------------------------------------------------------


def _sentence_spans(answer: Filtered, cited: Sequence[Mention]) -> list[Span]:
    """Sentences outside of lists of sources, each with the markers that belong to it."""
    lines = [Span(answer.text.rfind("\n", 0, start) + 1, end) for start, end in answer.entries]
    cuts = sorted({*chain(*lines), *_line_ends(answer.text, cited)})
    spans = _split(answer.text, sentences(_unwrapped(answer)), cuts)
    starts = [line.start for line in lines]
    spans = [span for span in spans if not _is_in(span, lines, starts)]
    return _with_markers(answer.text, _joined_over_markers(spans, cited), cited)


def _unwrapped(answer: Filtered) -> str:
    """The text with the fences around Markdown blanked: what is inside is no code."""
    pieces, end = [], 0
    for start, stop in answer.wrapping:
        pieces += [answer.text[end:start], re.sub(r"\S", " ", answer.text[start:stop])]
        end = stop
    return "".join([*pieces, answer.text[end:]])


def _line_ends(answer: str, cited: Sequence[Mention]) -> Iterator[int]:
    """Line breaks right after a marker: models do not wrap lines, so they end a sentence there."""
    for mention in cited:
        end = _END_OF_LINE.match(answer, mention.end)
        if end and not answer[end.end() : end.end() + 1].islower():
            yield end.end()


def _split(text: str, spans: Sequence[Span], cuts: Sequence[int]) -> list[Span]:
    pieces = []
    for span in spans:
        inside = cuts[bisect_right(cuts, span.start) : bisect_left(cuts, span.end)]
        pieces += [trimmed(text, Span(*pair)) for pair in pairwise([span.start, *inside, span.end])]
    return [piece for piece in pieces if piece.start < piece.end]


def _is_in(span: Span, lines: Sequence[Span], starts: Sequence[int]) -> bool:
    at = bisect_right(starts, span.start) - 1
    return at >= 0 and span.start < lines[at].end


def _joined_over_markers(spans: Sequence[Span], cited: Sequence[Mention]) -> list[Span]:
    """Undo the cuts inside a marker, such as at the full stop of `[1, p. 5]`."""
    joined: list[Span] = []
    starts = [mention.start for mention in cited]
    for span in spans:
        at = bisect_left(starts, span.start) - 1
        if joined and at >= 0 and span.start < cited[at].end:
            span = Span(joined.pop().start, span.end)
        joined.append(span)
    return joined


def _with_markers(answer: str, spans: Sequence[Span], cited: Sequence[Mention]) -> list[Span]:
    """Give markers after a full stop to the sentence before it: `Fact.[1] Next.`"""
    given: list[Span] = []
    for span in spans:
        end = _end_of_leading(answer, span, cited)
        if given and end > span.start and _belongs_before(answer, given[-1], span, end, cited):
            given[-1] = Span(given[-1].start, end)
            rest = _AFTER_MARKERS.match(answer, end, span.end)
            span = Span(rest.end() if rest else end, span.end)
        if span.start < span.end:
            given.append(span)
    return given


def _end_of_leading(answer: str, span: Span, cited: Sequence[Mention]) -> int:
    """Where the markers end that a sentence starts with; its start if it has none there."""
    end = span.start
    for mention in _inside(cited, span):
        if mention.start != span.start and not _JOINT.fullmatch(answer, end, mention.start):
            break
        if mention.start != span.start and end == span.start:
            break
        end = mention.end
    return end


def _belongs_before(
    answer: str, before: Span, span: Span, end: int, cited: Sequence[Mention]
) -> bool:
    """Whether the markers `answer[span.start:end]` cite for the sentence before them."""
    rest = answer[end : span.end]
    if not any(map(str.isalnum, rest)):
        return True
    if "\n" in answer[before.end : span.start] or _SUBJECT.match(rest):
        return False
    last = _inside(cited, before)[-1:]
    return not (last and _STOP.fullmatch(answer, last[0].end, before.end))


def _inside(mentions: Sequence[Mention], span: Span) -> Sequence[Mention]:
    first = bisect_left(mentions, span.start, key=_start)
    return mentions[first : bisect_left(mentions, span.end, key=_start)]


def _start(mention: Mention) -> int:
    return mention.start
