"""Bytes to clean text: encodings, control characters, line ends."""

from __future__ import annotations

import re

import chardet

from ragweave.indexing.document import Unreadable

_BOMS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_SAMPLE = 200_000
_PLAUSIBLE = 0.75
"""Share of the best guess's confidence that makes another guess worth looking at."""
_RARELY = 0.95
"""Weight of the Mac encodings, where few bytes differ from those of Windows."""
_MIXED_WORD = re.compile(
    r"\b(?=\w*[A-Za-z])\w*[\u0370-\u03ff\u0400-\u04ff\u0590-\u06ff\u0e00-\u0e7f]\w*"
)
_FOREIGN_WORD = re.compile(r"\w*[^\W\x00-\x7f]\w*")
_MOST_MIXED = 0.1

_ANSI_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])")
_LINE_END = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_INVISIBLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ufeff\ufffe\uffff]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_VISIBLE = re.compile(r"[^\s\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069]")
_STRAY = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MAX_STRAY_SHARE = 0.1
_MOSTLY = 0.8


def decode(data: bytes) -> str:
    """Text of a file in whatever encoding it is.

    A byte order mark decides; then UTF-8 if it fits, even with a few broken bytes; then what
    chardet's language models find most likely, unless it mixes scripts within words. What no
    detector can know: an ISO-8859 set and its Windows superset (the superset is assumed, and
    the Mac's encodings only if they fit better).

    Raises:
        Unreadable: the bytes are no text.
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode(_encoding(data), "replace")
    if wide := _wide_encoding(data):
        return data.decode(wide, "replace")
    if _is_binary(text):
        raise Unreadable("is binary data, not text")
    return text


def clean(text: str) -> str:
    """Text without control characters, with newline as the only line end.

    Terminal escapes and invisible characters vanish; form feeds and Unicode's line and paragraph
    separators become newlines; halves of surrogate pairs become U+FFFD. Joiners, marks and
    directions stay: they carry meaning.
    """
    text = _LINE_END.sub("\n", _ANSI_ESCAPE.sub("", text))
    return _SURROGATE.sub("\ufffd", _INVISIBLE.sub("", text))


def has_text(text: str) -> bool:
    """Whether there is anything in it that a reader would see."""
    return _VISIBLE.search(text) is not None


def _encoding(data: bytes) -> str:
    if _is_mostly_utf8(data):
        return "utf-8"
    sample = data[:_SAMPLE]
    guesses = chardet.detect_all(sample, ignore_threshold=True, prefer_superset=True)
    best = guesses[0]
    if best["encoding"] is None:
        kind = best.get("mime_type") or "binary data"
        raise Unreadable(f"is {kind}, not text")
    likely = {
        str(guess["encoding"]): guess["confidence"]
        for guess in guesses
        if guess["encoding"] and guess["confidence"] >= _PLAUSIBLE * best["confidence"]
    }
    coherent = [name for name in likely if _is_coherent(sample.decode(name, "replace"))]
    return max(coherent or likely, key=lambda name: likely[name] * _weight(name))


def _weight(encoding: str) -> float:
    return _RARELY if encoding.lower().startswith("mac") else 1


def _is_coherent(text: str) -> bool:
    """Whether its words keep to one script, as those of every language do."""
    mixed, foreign = len(_MIXED_WORD.findall(text)), len(_FOREIGN_WORD.findall(text))
    return mixed <= _MOST_MIXED * foreign


def _is_mostly_utf8(data: bytes) -> bool:
    """Whether nearly all non-ASCII bytes form valid UTF-8: damaged, not another encoding."""
    high = len(data) - len(data.translate(None, bytes(range(128, 256))))
    valid = data.decode("utf-8", "ignore").encode("utf-8")
    kept = len(valid) - len(valid.translate(None, bytes(range(128, 256))))
    return high - kept <= high // 20


def _wide_encoding(data: bytes) -> str | None:
    """UTF-16 without a mark whose bytes happen to be ASCII: every other one is zero."""
    even, odd = data[0:_SAMPLE:2].count(0), data[1:_SAMPLE:2].count(0)
    pairs = min(len(data), _SAMPLE) // 2
    if max(even, odd) <= _MOSTLY * pairs or min(even, odd) > (1 - _MOSTLY) * pairs:
        return None
    return "utf-16-be" if even > odd else "utf-16-le"


def _is_binary(text: str) -> bool:
    return len(_STRAY.findall(text[:_SAMPLE])) > _MAX_STRAY_SHARE * min(len(text), _SAMPLE)
