"""Text that the token filter holds back, and the white space around a marker that was removed."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SEPARATOR = r"\s*+(?:[,;，；、/&]\s*+)?(?:(?:and|or|以及|和|与|及)\s*+)?"
_BETWEEN_MARKERS = re.compile(_SEPARATOR)
_MAY_BE_BETWEEN = re.compile(rf"{_SEPARATOR}(?:a|an|o|以)?")
_TRAILING = re.compile(r"(?:\s|[,;，；、/&]|\b(?:and|or)\b|以及|和|与|及)*$")
_SEPARATORS = " \t\u3000,;，；、/&"
_CLOSES_UP = frozenset(".,;:!?%)]}。，、；：！？）】〕］》」』”’…")
"""Before these, white space left by a removed marker goes too."""
_EMPHASIS = frozenset("*_~")
"""Right after a removed marker these close what the marker stood in: `**bold [9]**`."""
_LONGEST_GAP = 64


def may_be_between_markers(text: str) -> bool:
    """Whether `text` is, or begins, what stands between two markers: `, `, ` and `, `、`."""
    return len(text) <= _LONGEST_GAP and _MAY_BE_BETWEEN.fullmatch(text) is not None


@dataclass(slots=True)
class HeldText:
    """Text held back: an opened bracket and what follows it, or white space outside of any.

    `cut` is where a marker was removed; after it stands nothing but a separator yet.
    """

    text: str = ""
    cut: int | None = None
    emptied: bool = False
    """Whether a marker was removed from it."""

    def add(self, character: str) -> None:
        """Add a character that is not part of a marker inside this text."""
        if self.cut is not None and not may_be_between_markers(self.text[self.cut :] + character):
            self.settle(character)
        self.text += character

    def remove_marker(self) -> None:
        """Remove a marker that stood at the end; of what separates two removed ones, all."""
        self._settle_words()
        self.text = self.text[: self.cut]
        self.cut = len(self.text)
        self.emptied = True

    def before_marker(self) -> None:
        """A marker that stays comes next: of separators around a removed one, keep the first."""
        self._settle_words()
        self.text, self.cut = self.text[: self.cut], None

    def settle(self, following: str, *, line_start: bool = False) -> None:
        """Tidy around the removed marker, now that the text after it is known (empty: the end)."""
        if self.cut is not None:
            left, right = self.text[: self.cut], self.text[self.cut :]
            self.text, self.cut = _tidied(left, right, following, line_start=line_start), None

    def _settle_words(self) -> None:
        """Settle where what began like a separator (`an`) turned out to be none."""
        if self.cut is not None and not _BETWEEN_MARKERS.fullmatch(self.text, self.cut):
            self.settle("[")


def _tidied(left: str, right: str, following: str, *, line_start: bool) -> str:
    """`left` and `right` of a removed marker joined, with the white space that should stay."""
    gap = left[_start_of_gap(left) :]
    base, rest = left[: len(left) - len(gap)], right.lstrip()
    if not rest and not following:
        return base
    if "\n" in gap:
        return base + _line_break(gap, right) + rest.lstrip(_SEPARATORS)
    if line_start and not base:
        return _line_break("\n" + gap, right)[1:] + rest.lstrip(_SEPARATORS)
    if (rest + following)[0] in _CLOSES_UP:
        return base + rest
    space = right[: len(right) - len(rest)]
    if "\n" in space:
        return base + space[space.index("\n") :] + rest
    if not space and following not in _EMPHASIS and any(map(str.isspace, gap)):
        space = gap if gap.isspace() else " "
    return base + space + rest


def _start_of_gap(left: str) -> int:
    match = _TRAILING.search(left)
    return match.start() if match else len(left)


def _line_break(before: str, after: str) -> str:
    """Where a marker stood alone on its line: the longer of the two breaks, without the line."""
    after = after[: len(after) - len(after.lstrip())]
    if "\n" not in after:
        return before
    longer = max(before, after, key=lambda gap: gap.count("\n"))
    return longer[: longer.rindex("\n") + 1] + after[after.rindex("\n") + 1 :]
