"""Which names in a graph mean the same entity: case, plural, acronym, and their Chinese kin."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache

from ragweave.indexing.person_names import surnames

_MARKS = re.compile("[™®©]")
_APART = re.compile(r"[《》\s]|(?<=\w)-(?=\w)")
_ARTICLE = re.compile(r"^(?:the|an|a) (?=\S)")
_POSSESSIVE = re.compile(r"['’]s?$")
_EDGES = re.compile(r"^[\W_]+|[^\w)\]+#]+$")
_BRACKETED = re.compile(r"^(?P<full>.+?)\s*\((?P<short>[^()]+)\)$")
_SHORT_FOR = re.compile(r"^(?:以下简称|以下称|简称|下称|also known as|a\.?k\.?a\.?|or)\s*")
_SMALL_WORDS = frozenset(("of", "the", "and", "for", "on", "in", "to", "a", "an", "de", "&"))
_STATE = ("中华人民共和国", "中国")
"""Left out where a Chinese name is used inside the country: 中华人民共和国证券法, 证券法."""
_LAST_WORD = re.compile(r"[a-z]{3,}$")


@lru_cache(maxsize=65_536)
def folded(title: str) -> str:
    """A name without what does not tell entities apart: case, width, quotes, article, white space.

    An empty string where nothing is left.
    """
    name = unicodedata.normalize("NFKC", _MARKS.sub("", title)).casefold().replace("’", "'")
    name = " ".join(_APART.sub(" ", name).split())
    name = _EDGES.sub("", _ARTICLE.sub("", _EDGES.sub("", name)))
    return _POSSESSIVE.sub("", name)


def same_entities(kinds: Mapping[str, Collection[str]]) -> dict[str, str]:
    """For each folded name that is in the graph, the name that its entity goes by.

    Two names are joined only if both are there: a plural and its singular, unless they are
    persons (Adams is not many an Adam); a name with its acronym or short form in brackets, that
    name alone, and the short form alone; a Chinese name with and without the state before it; a
    person's full name and the surname that is nobody else's. Linear in the names.

    Args:
        kinds: by folded name, the folded types that were given to it.
    """
    groups = _Groups(kinds)
    for name in kinds:
        for other in _variants(name, kinds):
            groups.join(name, other)
    for full, surname in surnames(kinds):
        groups.join(full, surname)
    return groups.names()


def _variants(name: str, kinds: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Other names in the graph that mean the same as `name`."""
    candidates = [*_bracketed(name), *(name.removeprefix(state) for state in _STATE)]
    yield from (other for other in candidates if len(other) > 1 and other in kinds)
    for singular in _singulars(name):
        if singular in kinds and _may_be_plural(kinds[name], kinds[singular]):
            yield singular


def _bracketed(name: str) -> Iterator[str]:
    """Both names in `full (short)`, where one is short for the other."""
    match = _BRACKETED.match(name)
    if match is None:
        return
    full, said = match["full"], _SHORT_FOR.match(match["short"])
    short = folded(match["short"][said.end() :] if said else match["short"])
    if said or _is_short_for(short, full):
        yield folded(full)
        yield short


def _is_short_for(short: str, full: str) -> bool:
    """Whether `short` is made of the first letters of `full`, or of its characters in order."""
    words = [word for word in re.split(r"[\s\-]+", full) if word and word not in _SMALL_WORDS]
    letters = "".join(word[0] for word in words)
    if short.replace(".", "") == letters:
        return len(short) > 1
    rest = iter(full)
    chinese = re.fullmatch(r"[\u4e00-\u9fff]+", short) is not None
    return chinese and all(character in rest for character in short)


def _singulars(name: str) -> Iterator[str]:
    """What the last English word of a name may be the plural of."""
    match = _LAST_WORD.search(name)
    if match is None or not name.endswith("s") or name.endswith(("ss", "us", "is")):
        return
    yield name[:-1]
    if name.endswith("es"):
        yield name[:-2]
    if name.endswith("ies"):
        yield name[:-3] + "y"
    if name.endswith("ves"):
        yield from (name[:-3] + "f", name[:-3] + "fe")


def _may_be_plural(plural: Iterable[str], singular: Iterable[str]) -> bool:
    kinds = [{kind for kind in names if kind} for names in (plural, singular)]
    if "person" in kinds[0] | kinds[1]:
        return False
    return not all(kinds) or bool(kinds[0] & kinds[1])


class _Groups:
    """Disjoint sets of names, each known by its first name in alphabetical order."""

    def __init__(self, names: Iterable[str]) -> None:
        self._parents = {name: name for name in names}

    def join(self, one: str, other: str) -> None:
        first, second = sorted((self._root(one), self._root(other)))
        self._parents[second] = first

    def names(self) -> dict[str, str]:
        return {name: self._root(name) for name in self._parents}

    def _root(self, name: str) -> str:
        while self._parents[name] != name:
            self._parents[name] = name = self._parents[self._parents[name]]
        return name
