"""The structure of a text: its headings, paragraphs, code blocks and tables, as spans."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ragweave.indexing.document import Markup

BlockKind = Literal["heading", "text", "lines"]


@dataclass(frozen=True, slots=True)
class Block:
    """One heading, paragraph, code block or table: `text[start:end]`, no white space around it."""

    start: int
    end: int
    kind: BlockKind
    """`lines`: code or a table, where line ends mean something and sentences do not."""
    level: int = 0
    """Of a heading: 1 is the outermost."""
    title: str = ""
    """Of a heading: its words without markup."""
    attached: bool = False
    """It belongs to the block before it, as code belongs to the sentence that announces it."""


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def blank(self) -> bool:
        return not self.text.strip()

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip())


_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_UNDERLINE = re.compile(r"""([=\-~^"'*+#_.:`!$%&])\1{2,}[ \t]*$""")
_SETEXT = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_TABLE_LINE = re.compile(r"\s*[|+].*[|+]\s*$|\s*={2,}( +={2,})+\s*$")
_CJK_HEADING = re.compile(r"\s*第[一二三四五六七八九十百千零〇\d]+([编章节])(?:\s.{0,40})?$")
_CJK_LEVELS = {"编": 1, "章": 2, "节": 3}
_CHAPTER = re.compile(r"\s*(?:chapter|part|book|section|appendix)\s+[\dIVXLC]+\b.{0,60}$", re.I)
_MAX_HEADING = 60
_MIN_LETTERS = 3
_MIN_UNDERLINE = 4


def find_blocks(text: str, markup: Markup) -> list[Block]:
    """Blocks of `text` in order; what lies between them is white space.

    Markdown headings (both kinds) and fences, reStructuredText headings (levels in the order of
    their first appearance) and literal blocks, chapter lines of plain and Chinese texts. Takes
    time in proportion to the text.
    """
    return _Scanner(text, markup).blocks


class _Scanner:
    def __init__(self, text: str, markup: Markup) -> None:
        self.blocks: list[Block] = []
        self._markup = markup
        self._lines = list(_lines(text))
        self._adornments: list[str] = []
        position = 0
        while position < len(self._lines):
            position = self._scan(position)

    def _scan(self, at: int) -> int:
        """Add the block that starts at a line, if any; the number of the line after it."""
        if self._lines[at].blank:
            return at + 1
        if after := self._heading(at) or self._fence(at) or self._literal(at):
            return after
        return self._paragraph(at)

    def _add(self, first: int, after: int, kind: BlockKind, **known: object) -> int:
        lines = self._lines
        while lines[after - 1].blank:
            after -= 1
        start = lines[first].start + lines[first].indent
        end = lines[after - 1].start + len(lines[after - 1].text.rstrip())
        self.blocks.append(Block(start, end, kind, **known))  # type: ignore[arg-type]
        return after

    def _heading(self, at: int) -> int:
        """The line after a heading that starts here; 0 if none does."""
        if self._markup == "markdown" and (found := _ATX.match(self._lines[at].text)):
            return self._add(at, at + 1, "heading", level=len(found[1]), title=found[2] or "")
        if self._markup == "rst" and (heading := self._rst_heading(at)):
            return heading
        return self._setext_heading(at) or self._bare_heading(at)

    def _setext_heading(self, at: int) -> int:
        if self._markup != "markdown" or not self._stands_alone(at, 2):
            return 0
        if not (found := _SETEXT.match(self._lines[at + 1].text)):
            return 0
        level = 1 if found[1][0] == "=" else 2
        title = self._lines[at].text.strip()
        return self._add(at, at + 2, "heading", level=level, title=title)

    def _rst_heading(self, at: int) -> int:
        over = int(self._is_underline(at))
        title, under = at + over, at + over + 1
        if not (self._is_underline(under) and not self._lines[title].blank):
            return 0
        mark = self._lines[under].text[0]
        words = self._lines[title].text.strip()
        short = len(self._lines[under].text.strip()) < min(len(words), _MIN_UNDERLINE)
        indented = self._lines[title].indent and not over
        unlike = over and mark != self._lines[at].text[0]
        if short or indented or unlike or _TABLE_LINE.match(words):
            return 0
        adornment = mark * (over + 1)
        if adornment not in self._adornments:
            self._adornments.append(adornment)
        level = self._adornments.index(adornment) + 1
        return self._add(at, under + 1, "heading", level=level, title=words)

    def _is_underline(self, at: int) -> bool:
        return at < len(self._lines) and bool(_UNDERLINE.match(self._lines[at].text))

    def _stands_alone(self, at: int, count: int) -> bool:
        """Whether `count` lines from here have a blank line, or an end, on both sides."""
        lines = self._lines
        after = at + count
        return (
            after <= len(lines)
            and (at == 0 or lines[at - 1].blank)
            and (after == len(lines) or lines[after].blank)
        )

    def _bare_heading(self, at: int) -> int:
        line = self._lines[at].text
        if found := _CJK_HEADING.match(line):
            title = " ".join(line.split())
            return self._add(at, at + 1, "heading", level=_CJK_LEVELS[found[1]], title=title)
        if self._markup != "plain" or not self._stands_alone(at, 1):
            return 0
        words = line.strip()
        shouted = words.isupper() and sum(map(str.isalpha, words)) >= _MIN_LETTERS
        if len(words) <= _MAX_HEADING and (_CHAPTER.match(words) or shouted):
            return self._add(at, at + 1, "heading", level=1, title=words)
        return 0

    def _fence(self, at: int) -> int:
        """The line after a fenced code block that starts here; 0 if none does."""
        opening = _FENCE.match(self._lines[at].text) if self._markup == "markdown" else None
        if not opening:
            return 0
        for number in range(at + 1, len(self._lines)):
            if self._lines[number].text.strip().startswith(opening[1]):
                return self._add(at, number + 1, "lines", attached=self._announced())
        return self._add(at, len(self._lines), "lines", attached=self._announced())

    def _announced(self) -> bool:
        return bool(self.blocks) and self.blocks[-1].kind == "text"

    def _literal(self, at: int) -> int:
        """The line after an indented literal block of reStructuredText; 0 if none starts here."""
        indent = self._lines[at].indent
        if self._markup != "rst" or not indent or not self._promises_code():
            return 0
        after = at
        while after < len(self._lines) and (
            self._lines[after].blank or self._lines[after].indent >= indent
        ):
            after += 1
        return self._add(at, after, "lines", attached=True)

    def _promises_code(self) -> bool:
        last = self.blocks[-1] if self.blocks else None
        return last is not None and last.kind == "text" and last.title == "::"

    def _paragraph(self, at: int) -> int:
        after = at + 1
        while after < len(self._lines) and not self._ends_paragraph(after):
            after += 1
        lines = [line.text for line in self._lines[at:after]]
        tabular = all(map(_TABLE_LINE.match, lines)) or _TABLE_LINE.match(lines[0])
        last = lines[-1].rstrip()
        code = last.endswith("::") or lines[0].lstrip().startswith(".. code")
        kind: BlockKind = "lines" if tabular and not code else "text"
        return self._add(at, after, kind, title="::" if code else "")

    def _ends_paragraph(self, at: int) -> bool:
        line = self._lines[at].text
        if not line.strip() or _CJK_HEADING.match(line):
            return True
        if self._markup == "markdown":
            return bool(_ATX.match(line) or _FENCE.match(line))
        return self._markup == "rst" and self._starts_heading(at)

    def _starts_heading(self, at: int) -> bool:
        """Whether a title and its underline begin here, without a blank line before them."""
        return self._is_underline(at + 1) and not self._is_underline(at)


def _lines(text: str) -> Iterator[_Line]:
    start = 0
    for line in text.split("\n"):
        yield _Line(start, line)
        start += len(line) + 1
