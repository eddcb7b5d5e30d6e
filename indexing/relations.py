"""Which documents are related: by their links, by a declared field, by file or folder."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any, Literal
from urllib.parse import unquote, urljoin, urlsplit

Relation = Literal["links", "file", "folder"]
Pairs = list[tuple[int, int]]

_SERIES_FILE = re.compile(r"^(pep|rfc)-?0*(\d{1,5})(?:\.\w+)?$", re.IGNORECASE)
_NUMBER = re.compile(r"(\d+|(?<=第)[〇零一二三四五六七八九十百千]+)")
_CHINESE_DIGITS = "〇一二三四五六七八九零"
_CHINESE_UNITS = {"十": 10, "百": 100, "千": 1000}
_CHINESE_FIGURES = {*_CHINESE_DIGITS, *_CHINESE_UNITS}


@dataclass(frozen=True, slots=True)
class Related:
    """What relations are found by: a document without its text."""

    id: str
    path: str | None = None
    url: str | None = None
    title: str | None = None
    links: Sequence[str] = ()
    """Targets of its links, as they are written in it."""
    metadata: Mapping[str, Any] = field(default_factory=dict)


def reading_order(document: Related) -> tuple[object, ...]:
    """Sort key of the order of reading: by path, then by id, numbers compared as numbers."""
    return _natural(document.path or ""), _natural(document.id)


def relations(
    documents: Sequence[Related], kinds: Iterable[Relation], declared: str | None = None
) -> list[Pairs]:
    """Pairs of positions of related documents: one list for each kind, the strongest kind first.

    `links` relates documents that link to each other, whichever name the target goes by. `file`,
    then `folder`, relates each document to the next one of the same file or folder; this is weaker
    evidence, so only documents that have no stronger relation are related by it.

    Args:
        documents: in reading order.
        kinds: those to look for.
        declared: name of a metadata field, the strongest relation of all. Its values name related
            documents (by id, path, address or title), or else are shared by related ones.
    """
    wanted = set(kinds)
    names = _names(documents)
    found = [_declared(documents, declared, names)] if declared else []
    if "links" in wanted:
        found.append(list(_linked(documents, names)))
    for kind, group_of in (("file", _file), ("folder", _folder)):
        if kind in wanted:
            found.append(_neighbours(documents, group_of, _related(found)))
    return found


def _related(found: Iterable[Pairs]) -> set[int]:
    """Documents that are related to another one."""
    return {end for pairs in found for pair in pairs if pair[0] != pair[1] for end in pair}


def _names(documents: Sequence[Related]) -> dict[str, int]:
    """Position of the document that each name belongs to; the first one's, if it is shared."""
    names: dict[str, int] = {}
    for position, document in enumerate(documents):
        for name in _own_names(document):
            names.setdefault(name, position)
    return names


def _own_names(document: Related) -> Iterator[str]:
    yield f"id:{document.id}"
    if document.title:
        yield f"title:{document.title.casefold()}"
    if document.path:
        path = posixpath.normpath(document.path)
        yield f"path:{path}"
        yield f"path:{posixpath.splitext(path)[0]}"
        yield from _series(posixpath.basename(path))
    if document.url:
        yield _address(document.url)
        yield from _series(_last_segment(document.url))


def _linked(documents: Sequence[Related], names: Mapping[str, int]) -> Iterator[tuple[int, int]]:
    for position, document in enumerate(documents):
        for target in document.links:
            for name in _names_of_target(target, document):
                if (other := names.get(name)) is not None:
                    yield position, other
                    break


def _names_of_target(target: str, document: Related) -> Iterator[str]:
    """Names that a target may mean, as seen from the document that it stands in."""
    if target.startswith(("pep:", "rfc:")):
        yield target
        return
    bare = target.partition("#")[0].partition("?")[0]
    if not bare:
        return
    if target.startswith(("http://", "https://", "//")):
        yield _address(target)
    else:
        path = unquote(bare)
        folder = posixpath.dirname(document.path or "")
        resolved = posixpath.normpath(posixpath.join(folder, path.lstrip("/")))
        yield f"path:{resolved}"
        yield f"path:{posixpath.splitext(resolved)[0]}"
        if document.url:
            yield _address(document.url, target)
        yield f"id:{path}"
        yield f"title:{path.replace('_', ' ').casefold()}"
    yield from _series(_last_segment(bare))


def _address(url: str, target: str = "") -> str:
    """A web address, or what `target` means on its page, without what does not change the page."""
    try:
        parts = urlsplit(urljoin(url, target))
    except ValueError:  # brackets that are no IPv6 address
        return f"url:{url}"
    return f"url:{parts.netloc.casefold().removeprefix('www.')}{unquote(parts.path).rstrip('/')}"


def _last_segment(url: str) -> str:
    return url.rstrip("/").rpartition("/")[2]


def _series(name: str) -> Iterator[str]:
    if match := _SERIES_FILE.match(name):
        yield f"{match[1].lower()}:{int(match[2])}"


def _declared(documents: Sequence[Related], name: str, names: Mapping[str, int]) -> Pairs:
    pairs: Pairs = []
    shared: dict[str, list[int]] = {}
    for position, document in enumerate(documents):
        for value in _values(document.metadata.get(name)):
            candidates = (f"id:{value}", *_names_of_target(value, document))
            others = [names[candidate] for candidate in candidates if candidate in names]
            if others:
                pairs.append((position, others[0]))
            else:
                shared.setdefault(value, []).append(position)
    return [*pairs, *chain.from_iterable(map(pairwise, shared.values()))]


def _values(value: Any) -> list[str]:
    items = value if isinstance(value, list | tuple) else [value]
    return [str(item) for item in items if isinstance(item, str | int | float) and str(item)]


def _neighbours(
    documents: Sequence[Related],
    group_of: Callable[[Related], str | None],
    without: AbstractSet[int],
) -> Pairs:
    """Each document with the next one of the same group: enough to join them all."""
    members: dict[str, list[int]] = {}
    for position, document in enumerate(documents):
        if position not in without and (group := group_of(document)) is not None:
            members.setdefault(group, []).append(position)
    return list(chain.from_iterable(map(pairwise, members.values())))


def _file(document: Related) -> str | None:
    return document.path


def _folder(document: Related) -> str | None:
    return None if document.path is None else posixpath.dirname(document.path)


def _natural(text: str) -> tuple[tuple[int, int | str], ...]:
    """`a10` after `a2`, and 第十条 after 第九条."""
    return tuple(
        (1, part) if (number := _number(part)) is None else (0, number)
        for part in _NUMBER.split(text)
        if part
    )


def _number(text: str) -> int | None:
    """Value of a numeral, in figures or in Chinese characters (below ten thousand)."""
    if text.isdecimal():
        return int(text)
    if not set(text) <= _CHINESE_FIGURES:
        return None
    total, figure = 0, 0
    for character in text:
        if unit := _CHINESE_UNITS.get(character):
            total, figure = total + (figure or 1) * unit, 0
        else:
            figure = _CHINESE_DIGITS.index(character) % 10
    return total + figure
