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
_MAC_LOOKALIKES = {"mac-roman": "cp1252", "macroman": "cp1252"}
_TIE = 0.001
_SAMPLE = 200_000

_ANSI_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\-_])")
_LINE_END = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_INVISIBLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ufeff\ufffe\uffff]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_VISIBLE = re.compile(r"[^\s\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069]")
_STRAY = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MAX_STRAY_SHARE = 0.1


def decode(data: bytes) -> str:
    """Text of a file in whatever encoding it is.

    A byte order mark decides; then UTF-8 if it fits, even with a few broken bytes; then what
    chardet's language models find most likely. Two things no detector can know: Mac Roman
    against Windows-1252 where few bytes differ (Windows is assumed), and the ISO-8859 sets
    against their Windows supersets (the supersets are assumed).

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
    if b"\x00" in data and _looks_wide(data):
        return data.decode(_encoding(data), "replace")
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
    found = chardet.detect_all(sample, ignore_threshold=True, prefer_superset=True)
    best = found[0]
    if best["encoding"] is None:
        kind = best.get("mime_type") or "binary data"
        raise Unreadable(f"is {kind}, not text")
    stand_in = _MAC_LOOKALIKES.get(best["encoding"].lower())
    near = {f["encoding"].lower() for f in found if f["encoding"] and _near(f, best)}
    if stand_in and near & {stand_in, "windows-1252"}:
        return stand_in
    return str(best["encoding"])


def _near(found: chardet.DetectionDict, best: chardet.DetectionDict) -> bool:
    return best["confidence"] - found["confidence"] < _TIE


def _is_mostly_utf8(data: bytes) -> bool:
    """Whether nearly all non-ASCII bytes form valid UTF-8: damaged, not another encoding."""
    high = len(data) - len(data.translate(None, bytes(range(128, 256))))
    valid = data.decode("utf-8", "ignore").encode("utf-8")
    kept = len(valid) - len(valid.translate(None, bytes(range(128, 256))))
    return high - kept <= high // 20


def _looks_wide(data: bytes) -> bool:
    """Whether every other byte tends to be zero, as in UTF-16 without a mark."""
    even, odd = data[0:_SAMPLE:2].count(0), data[1:_SAMPLE:2].count(0)
    return max(even, odd) > min(len(data), _SAMPLE) // 20 > min(even, odd)


def _is_binary(text: str) -> bool:
    return len(_STRAY.findall(text[:_SAMPLE])) > _MAX_STRAY_SHARE * min(len(text), _SAMPLE)
