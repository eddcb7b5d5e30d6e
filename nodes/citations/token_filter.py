"""The streaming filter that lets through only citation markers which name a source.

It is a machine over single characters, so the pieces in which text arrives change nothing, and the
streamed tokens add up to the final answer. What cannot be decided yet is held back: an opened
bracket while it may become a marker, white space that goes with a marker, a code span until it
closes or its line ends, and the lines of a list of sources.

Where a decision depends on the line so far, that is the line of the OUTPUT. So a filtered text,
filtered again, stays as it is, whatever a removed marker stood in the middle of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from ragweave.nodes.citations.held_text import HeldText, may_be_between_markers
from ragweave.nodes.citations.source_lists import Entry, footnotes, is_label, read_entry
from ragweave.state.markers import CLOSERS, OPENERS, Marker, may_become, parse

_WORD = r"[^\s`~:：\[［【〔(（]+"
_PLAIN = re.compile(rf"{_WORD}(?:[ \t]+{_WORD})*")
_CODE_PIECE = re.compile(r"`+|~+|\n|[^`~\n]+")
_LINE_START = re.compile(r"[ \t>]*")
_EMPTIED = re.compile(
    r".\s*(?:sources?|citations?|references?|refs?|see|cf\.?|资料来源|来源|参见|详见|见)?"
    r"\s*[:：]?[\s,;，；、/&]*.",
    re.IGNORECASE,
)
_LINK = re.compile(r"\((?:https?://|www\.|mailto:|[#/])[^\s()]{0,2000}\)")
_LINK_BEGUN = re.compile(
    r"\((?:[a-z]{0,6}:?/{0,2}|www\.?|(?:https?://|www\.|mailto:|[#/])[^\s()]{0,2000})"
)
_CLOSING_FENCE = re.compile(r"[ \t>]*(?P<run>`{3,}|~{3,})[ \t\r]*")
_SHORTEST_FENCE = 3
_MARKDOWN = frozenset({"markdown", "md"})
"""Fences around text: some models wrap the whole answer in one."""
_LONGEST_GAP = 64
_LONGEST_LINE = 200
"""Characters of the current line that are remembered: fences and labels are shorter."""


@dataclass(frozen=True, slots=True)
class Mention:
    """Where the filtered text names sources: a marker, or a number in a list of them."""

    start: int
    end: int
    numbers: tuple[int, ...]
    listed: bool = False


@dataclass(frozen=True, slots=True)
class Filtered:
    """A whole text, filtered, and where in it what stands."""

    text: str
    invalid: list[str]
    mentions: list[Mention]
    entries: list[tuple[int, int]]
    """Spans of the lines of a list of sources."""
    wrapping: list[tuple[int, int]]
    """Spans of the fences of a block of Markdown, which is read as text."""


def filtered(text: str, numbers: Collection[int]) -> Filtered:
    """Filter a whole text at once."""
    tokens = TokenFilter(numbers)
    text = tokens.feed(text) + tokens.close()
    notes = footnotes(text)
    mentions: list[Mention] = []
    note_ends = 0
    for mention in sorted(tokens.mentions, key=lambda mention: mention.start):
        if mention.start in notes:
            note_ends = notes[mention.start][1]
            tokens.entries.append(notes[mention.start])
        mentions.append(replace(mention, listed=mention.listed or mention.start < note_ends))
    return Filtered(text, tokens.invalid, mentions, sorted(tokens.entries), tokens.wrapping)


class TokenFilter:
    """Filters an answer as it is written: `feed` it pieces, then `close` it.

    What `feed` and `close` return, joined, is the answer that `verify` gives, whatever the pieces.
    `invalid` holds, verbatim, the markers that named no source and were removed. Brackets in code
    are never markers.
    """

    def __init__(self, numbers: Collection[int], *, source_lists: bool = True) -> None:
        self.invalid: list[str] = []
        self.mentions: list[Mention] = []
        self.entries: list[tuple[int, int]] = []
        self.wrapping: list[tuple[int, int]] = []
        self._numbers = frozenset(numbers)
        self._source_lists = source_lists
        self._mode: Callable[[str, int], tuple[int, str]] = self._in_prose
        self._out: list[str] = []
        self._length = 0
        self._line = ""
        self._last = ""
        self._held = [HeldText()]
        self._after_marker = False
        self._raw: list[str] = []
        """Pieces of a line that may be code, or an entry of a list, so far."""
        self._opening = self._ticks = 0
        """Ticks that `_raw` began with, once they are over, and that it ends with now."""
        self._fence = ""
        self._wrapper = ""

    def feed(self, text: str) -> str:
        """Take the next piece of the answer; return what can be shown now."""
        self._run(text)
        return self._taken()

    def close(self) -> str:
        """End the answer; return what was still held back."""
        while self._raw:
            self._run(self._end_code() if self._mode == self._in_code else self._end_entry())
        self._flush("")
        return self._taken()

    def _taken(self) -> str:
        text = "".join(self._out)
        self._out.clear()
        return text

    def _run(self, text: str) -> None:
        """Read `text`. A mode may give text back, which is then read before the rest."""
        todo = [(text, 0)]
        while todo:
            piece, at = todo.pop()
            while at < len(piece):
                at, again = self._mode(piece, at)
                if again:
                    todo += [(piece, at), (again, 0)]
                    break

    def _emit(self, text: str) -> None:
        if text:
            self._out.append(text)
            self._length += len(text)
            self._last = text[-1]
            self._line = (self._line + text).rpartition("\n")[2][:_LONGEST_LINE]

    # --- prose ------------------------------------------------------------------------------

    def _in_prose(self, piece: str, at: int) -> tuple[int, str]:
        nothing_held = len(self._held) == 1 and not self._held[0].text and not self._after_marker
        if nothing_held and self._held[0].cut is None and (plain := _PLAIN.match(piece, at)):
            self._emit(plain[0])
            return plain.end(), ""
        self._read(piece[at])
        return at + 1, ""

    def _read(self, character: str) -> None:
        if character in OPENERS:
            self._held.append(HeldText(character))
        elif character == "`" or (character == "~" and len(self._held) == 1):
            self._flush(character)
            self._begin_code(character)
        elif len(self._held) > 1:
            self._held[-1].add(character)
            self._judge(character)
        else:
            self._pass(character)

    def _judge(self, character: str) -> None:
        """Decide about the innermost open bracket, to which `character` was added."""
        held, around = self._held[-1], self._held[-2]
        may_link = around.cut is not None and around.cut == len(around.text)
        if character not in CLOSERS:
            linking = may_link and _LINK_BEGUN.fullmatch(held.text)
            if not linking and not may_become(held.text):
                self._give_up()
        elif marker := parse(held.text):
            self._held.pop()
            self._resolve(marker)
        elif (held.emptied and _EMPTIED.fullmatch(held.text)) or (
            may_link and _LINK.fullmatch(held.text)
        ):
            self._held.pop()
            around.remove_marker()
        else:
            self._give_up()

    def _resolve(self, marker: Marker) -> None:
        kept = marker.only(self._numbers)
        if kept != marker.text:
            self.invalid.append(marker.text)
        if not kept:
            self._held[-1].remove_marker()
            return
        self._held[-1].before_marker()
        self._give_up()
        self._flush(kept[0])
        start = self._length
        self._emit(kept)
        self.mentions.append(Mention(start, self._length, tuple(marker.numbers(self._numbers))))
        self._after_marker = True

    def _give_up(self) -> None:
        """No open bracket can become a marker any more: they are text."""
        if len(self._held) == 1:
            return
        for held, following in zip(self._held, self._held[1:], strict=False):
            held.settle(following.text[0], line_start=held is self._held[0] and self._is_blank())
        text = "".join(held.text for held in self._held)
        shown = text.rstrip()
        self._emit(shown)
        self._held = [HeldText(text[len(shown) :])]
        self._after_marker = False

    def _pass(self, character: str) -> None:
        """Text outside of brackets: white space and separators of markers are held back."""
        held = self._held[0]
        between = self._after_marker or held.cut is not None
        since = held.text[held.cut :]
        if character.isspace() or (between and may_be_between_markers(since + character)):
            held.add(character)
            if held.cut is None and len(held.text) > _LONGEST_GAP:
                self._flush("x")
            elif character == "\n":
                self._end_line()
            return
        footnote = held.cut is not None and self.invalid[-1].startswith("[^")
        if character in ":：" and footnote and not held.text[held.cut :] and self._at_line_start():
            self._mode = self._in_dropped
            return
        self._flush(character)
        self._emit(character)
        if character in ":：" and self._is_label():
            self._mode = self._in_list

    def _flush(self, following: str) -> None:
        """Let all that is held go, before `following` (empty at the end)."""
        self._give_up()
        held = self._held[0]
        removed = held.cut is not None
        held.settle(following, line_start=self._is_blank())
        if removed and not held.text and following == self._last and following in "`~":
            held.text = " "  # else two runs of ticks would become one, and what is code change
        self._emit(held.text)
        self._held = [HeldText()]
        self._after_marker = False

    def _end_line(self) -> None:
        """A line break was added to what is held: a label such as "## References" opens a list."""
        held = self._held[0]
        if held.text.isspace() and held.text.count("\n") == 1 and self._is_label():
            self._flush("x")
            self._mode = self._in_list

    def _is_label(self) -> bool:
        return self._source_lists and is_label(self._line)

    def _in_dropped(self, piece: str, at: int) -> tuple[int, str]:
        """A footnote whose marker named no source goes with its line."""
        end = piece.find("\n", at) + 1
        if end:
            self._mode = self._in_prose
        return end or len(piece), ""

    def _at_line_start(self) -> bool:
        """Whether only white space stands before what is held, on its line."""
        return not (self._line + self._held[0].text).rpartition("\n")[2].strip()

    def _is_blank(self) -> bool:
        """Whether the current line of the output is blank."""
        return _LINE_START.fullmatch(self._line) is not None

    # --- code -------------------------------------------------------------------------------

    def _begin_code(self, character: str) -> None:
        """A tick, or a tilde: a code span or a fence may begin. All is held to the line's end."""
        self._raw, self._opening, self._ticks = [character], 0, 1
        self._mode = self._in_code

    def _in_code(self, text: str, at: int) -> tuple[int, str]:
        match = _CODE_PIECE.match(text, at)
        piece = match[0] if match else text[at]
        begins = self._raw[0]
        if piece[0] != begins:
            if not self._opening:
                self._opening, self._ticks = self._ticks, 0
            elif self._is_span():
                self._end_span()
                return at, ""
        self._ticks = self._ticks + len(piece) if piece[0] == begins else 0
        self._raw.append(piece)
        ended = piece == "\n" or (begins == "~" and 0 < self._opening < _SHORTEST_FENCE)
        return at + len(piece), self._end_code() if ended else ""

    def _is_span(self) -> bool:
        """Whether what is held is a span of code: it ends with as many ticks as it began with."""
        return self._raw[0] == "`" and 0 < self._opening == self._ticks

    def _end_span(self) -> None:
        self._emit("".join(self._raw))
        self._raw, self._mode = [], self._in_prose

    def _end_code(self) -> str:
        """The line or the answer ended in what began with ticks; gives back what is not code."""
        opening = self._opening or self._ticks
        if self._is_span():
            self._end_span()
            return ""
        raw = "".join(self._raw)
        self._raw, self._mode = [], self._in_prose
        run, info = raw[:opening], raw[opening:]
        if opening < _SHORTEST_FENCE or not self._is_blank() or (run[0] == "`" and "`" in info):
            self._emit(run)
            return info
        start = self._length
        self._emit(raw)
        closes_wrapper = bool(self._wrapper) and run.startswith(self._wrapper) and not info.strip()
        if closes_wrapper or (not self._wrapper and info.strip().lower() in _MARKDOWN):
            self._wrapper = "" if closes_wrapper else run
            self.wrapping.append((start, self._length))
        else:
            self._fence, self._mode = run, self._in_fence
        return ""

    def _in_fence(self, piece: str, at: int) -> tuple[int, str]:
        end = piece.find("\n", at) + 1 or len(piece)
        self._emit(piece[at:end].removesuffix("\n"))
        if piece[end - 1] == "\n":
            closing = _CLOSING_FENCE.fullmatch(self._line)
            if closing and closing["run"].startswith(self._fence):
                self._mode = self._in_prose
            self._emit("\n")
        return end, ""

    # --- lists of sources ---------------------------------------------------------------------

    def _in_list(self, piece: str, at: int) -> tuple[int, str]:
        end = piece.find("\n", at) + 1 or len(piece)
        self._raw.append(piece[at:end])
        return end, self._end_entry() if piece[end - 1] == "\n" else ""

    def _end_entry(self) -> str:
        """A line of a list ended: keep it, drop it, or give it back if it is no part of the list.

        An entry is dropped with its line when what it starts with names no source.
        """
        line, self._raw = "".join(self._raw), []
        body, ending = line.removesuffix("\n"), "\n" if line.endswith("\n") else ""
        held = self._held[0]
        labelled = bool(self._line) and "\n" not in held.text
        inner = TokenFilter(self._numbers, source_lists=False)
        text = inner.feed(body) + inner.close()
        entry = read_entry(body, text, self._numbers, labelled=labelled)
        if entry is None:
            self._mode = self._in_prose
            return line
        self.invalid += [*inner.invalid, *entry.invalid]
        if entry.text:
            self._flush("x")
            self._remember(entry, inner.mentions)
            self._emit(entry.text)
        if entry.text or labelled or not body:
            self._held[0].text += ending
        elif not ending:  # the last line is dropped, so the one before it becomes the last
            held.text = held.text.removesuffix("\n")
        return ""

    def _remember(self, entry: Entry, marked: list[Mention]) -> None:
        """Where the entry that comes next stands in the output, and what it names."""
        start = self._length
        self.entries.append((start, start + len(entry.text)))
        counted = [Mention(*span, (int(entry.text[slice(*span)]),)) for span in entry.counts]
        self.mentions += [
            replace(mention, start=start + mention.start, end=start + mention.end, listed=True)
            for mention in [*marked, *counted]
        ]
