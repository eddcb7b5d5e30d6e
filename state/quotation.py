"""Quotation marks whose partner is missing, as where a sentence was cut out of somebody's speech.

“ ” ‘ ’ 「 」 『 』 « » say which side they are of. Of the straight ones " and ' the characters
around them tell; between two letters ' is an apostrophe.
"""

from __future__ import annotations

import re

from ragweave.state.text import Span, trimmed

_PARTNERS = {"“": "”", "‘": "’", "「": "」", "『": "』", "«": "»", '"': '"', "'": "'"}
_CLOSING = frozenset(_PARTNERS.values())
_MARK = re.compile(r"[“”‘’「」『』«»\"']")
_LAST_MARK = re.compile(r"([”’」』»\"'“‘「『«])[.!?。！？…,，;；:：]*\Z")


def without_loose_marks(text: str, span: Span) -> Span:
    """`span` without the quotation marks at its ends that have no partner in it."""
    start, end = trimmed(text, span)
    while loose := _loose(text, start, end):
        last = _LAST_MARK.search(text, start, end)
        if start in loose:
            start += 1
        elif last and last.start() in loose:
            end = last.start()
        else:
            break
        start, end = trimmed(text, Span(start, end))
    return Span(start, end)


def _loose(text: str, start: int, end: int) -> set[int]:
    """Places in `[start:end]` of quotation marks without a partner there."""
    loose: set[int] = set()
    opened: list[int] = []
    for match in _MARK.finditer(text, start, end):
        at, mark = match.start(), match[0]
        before, after = text[at - 1 : at], text[at + 1 : at + 2]
        if mark in "'’" and before.isalnum() and after.isalnum():
            continue
        partner = next((i for i in reversed(opened) if _PARTNERS[text[i]] == mark), None)
        if mark in _CLOSING and (mark not in _PARTNERS or _closes(before, after, partner)):
            if partner is None:
                loose.add(at)
            else:  # what was opened in between has no end
                loose.update(opened[opened.index(partner) + 1 :])
                del opened[opened.index(partner) :]
        else:
            opened.append(at)
    return loose | set(opened)


def _closes(before: str, after: str, partner: int | None) -> bool:
    """Whether a straight mark between these characters closes; where both fit, it alternates."""
    after_word, before_word = bool(before.strip()), after.isalnum()
    if after_word != before_word:
        return after_word
    return partner is not None
