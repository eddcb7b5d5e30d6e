"""Leaving out what a reasoning model thinks aloud before it answers.

Most servers keep thoughts apart; some local ones send them as `<think>...</think>` in front of the
answer.
"""

from __future__ import annotations

_OPEN, _CLOSE = "<think>", "</think>"


class ThoughtFilter:
    """Passes a streamed text on, without the thoughts that it may begin with."""

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False
        self._answering = False

    def feed(self, text: str) -> str:
        """What of the text so far can be shown now, and was not shown before."""
        if self._answering:
            return text
        self._held += text
        if self._thinking:
            return self._after_thoughts()
        start = self._held.lstrip()
        if start.startswith(_OPEN):
            self._thinking = True
            return self._after_thoughts()
        return "" if _OPEN.startswith(start) else self._released(self._held)

    def close(self) -> str:
        """What was held back and turned out to be no thought."""
        return "" if self._thinking else self._released(self._held)

    def _after_thoughts(self) -> str:
        _, closed, answer = self._held.partition(_CLOSE)
        if not closed or not answer.strip():
            return ""
        return self._released(answer.lstrip())

    def _released(self, text: str) -> str:
        self._answering, self._thinking, self._held = True, False, ""
        return text


def without_thoughts(text: str) -> str:
    """The text without the thoughts that it may begin with."""
    thoughts = ThoughtFilter()
    return thoughts.feed(text) + thoughts.close()
