"""Reading a list of queries out of a reply that is not in the structure asked for."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from typing import Any

_MARKER = re.compile(
    r"""^(?:
        \(?\d{1,2}[.)）、:：](?!\d)\s*         # 1.  1)  (1)  1、
      | [-*+•·–—▪●]\s+                         # bullets
      | (?:sub-?)?(?:query|question|q)\s*\#?\d{1,2}\s*[.:)：]\s*
      | (?:子?问题|查询)\s*[\d一二三四五六七八九十]{1,2}\s*[.:：、]\s*
      | [一二三四五六七八九十]{1,2}[、.]\s*
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_LABEL = re.compile(r"^\*\*[^*]{1,60}?(?:[:：]\*\*|\*\*\s*[:：])\s*(?=\S)")
_EMPHASIS = re.compile(r"^(\*\*|__|[*_`])(.+)\1$")
_QUOTES = ('""', "''", "“”", "‘’", "「」", "『』", "《》", "«»", "„“")
_CHATTER = re.compile(
    r"""^(?:
        (?:sure|certainly|of\ course|okay|ok)\s*(?:[,.!]|$)
      | (?:here|below)(?:\ (?:is|are)|['’]s)\b
      | (?:the\ following|these)\ (?:\w+\ )?(?:queries|questions)\b
      | (?:please\ )?let\ me\ know\b | feel\ free\b | (?:i\ )?hope\ (?:this|these|that|it)\b
      | (?:please\ )?note\ that\b | (?:i['’]m\ )?sorry\b | unfortunately\b
      | i\ (?:cannot|can['’]t|am\ unable|have\ (?:generated|written|created|prepared))\b
      | 当然 | 好的 | 以下 | 下面是 | 希望 | 如需 | 如果您 | 如有 | 请告诉
      | 这些(?:查询|问题) | 抱歉 | 对不起
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_FENCE = re.compile(r"^(?:```|~~~)")
_HEADING = re.compile(r"^#{1,6}\s+")


def parse_queries(text: str) -> list[str]:
    """The queries that a reply lists, in order, each once; none if it lists none.

    Understood are JSON lists, numbered and bulleted lists, and plain lines. In a list only its
    items count, so that a preamble or a closing remark is never a query.
    """
    if (listed := _from_json(text)) is not None:
        return unique_queries(listed)
    lines = [line.strip() for line in text.splitlines()]
    items = [item for item in map(_item, lines) if item]
    plain = [line for line in lines if line and not _is_chatter(line)]
    return unique_queries(map(_bare, items or plain))


def unique_queries(queries: Iterable[str]) -> list[str]:
    """The queries on one line each, without those that repeat an earlier one."""
    kept: dict[str, str] = {}
    for query in queries:
        line = " ".join(query.split())
        if key := query_key(line):
            kept.setdefault(key, line)
    return list(kept.values())


def query_key(query: str) -> str:
    """What makes two queries the same: not case, width, spacing or the mark at the end."""
    folded = " ".join(unicodedata.normalize("NFKC", query).casefold().split())
    return folded.rstrip(" .?!。？！;；,，")


def _from_json(text: str) -> list[str] | None:
    body = "\n".join(line for line in text.splitlines() if not _FENCE.match(line.strip()))
    try:
        value: Any = json.loads(body)
    except ValueError:
        return None
    if isinstance(value, dict):
        value = next((item for item in value.values() if isinstance(item, list)), None)
    if not isinstance(value, list):
        return None
    return [item for item in value if isinstance(item, str)]


def _item(line: str) -> str | None:
    """What follows the marker, if the line is an item of a list."""
    unmarked = _HEADING.sub("", line)
    for form in (unmarked, _unwrapped(unmarked)):
        if marker := _MARKER.match(form):
            return form[marker.end() :]
    return None


def _is_chatter(line: str) -> bool:
    bare = _unwrapped(line)
    return bool(
        _FENCE.match(line)
        or _HEADING.match(line)
        or bare.endswith((":", "："))
        or _CHATTER.match(bare)
        or set(line) <= set("-*_=#")
    )


def _bare(item: str) -> str:
    """The query itself, without labels, emphasis and quotation marks around it."""
    return _unwrapped(_LABEL.sub("", item.strip()))


def _unwrapped(text: str) -> str:
    while True:
        bare = text.strip()
        if match := _EMPHASIS.match(bare):
            bare = match[2]
        elif len(bare) > 2 and bare[0] + bare[-1] in _QUOTES:
            bare = bare[1:-1]
        if bare == text:
            return text
        text = bare
