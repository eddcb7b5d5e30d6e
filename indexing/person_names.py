"""Which persons of a graph go by a full name and by their surname: Ebenezer Scrooge, Scrooge."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

PERSON = "person"
_WORD = re.compile(r"[^\W\d_]{3,}")
_TITLES = frozenset("mr mr. mister sir dr dr. doctor prof. professor".split())
"""Said of somebody who is named otherwise too."""
_OTHER = frozenset("mrs mrs. miss ms ms. lady madam master".split())
"""Said to tell somebody from the one who goes by the surname alone."""
_NO_NAMES = frozenset(
    """
    young younger old older elder little poor dear late family former fat drunken other another
    first second third last two three four five six seven eight nine ten many several some all
    man men woman women boy boys girl girls child children baby people person persons lord king
    queen prince princess gentleman gentlemen ghost ghosts spirit spirits phantom stranger friend
    friends father mother brother brothers sister sisters son sons daughter daughters uncle aunt
    nephew niece cousin husband wife widow clerk servant servants doctor officer officers captain
    soldier soldiers agent agents mayor minister president judge member members leader owner
    manager director author user users customer customers merchant merchants master schoolmaster
    """.split()
)
"""With one of these a name may be no name, of somebody else, or of the same at another time."""


def surnames(kinds: Mapping[str, Collection[str]]) -> Iterator[tuple[str, str]]:
    """Pairs of a person's full name and the surname that means the same.

    A full name has two words, a title like Mr. aside. All names of persons with the surname must
    be of that one person: with two Cratchits, or a Mr. and a Mrs. Cratchit, a mere Cratchit is
    nobody's. What is unsure stays apart, since two people made one cannot be told apart again.

    Args:
        kinds: by folded name, the folded types that were given to it.
    """
    persons = [name for name, types in kinds.items() if set(types) - {""} == {PERSON}]
    by_word: dict[str, dict[tuple[str, ...], list[str]]] = defaultdict(lambda: defaultdict(list))
    for name in persons:
        known = tuple(word for word in name.split() if word not in _TITLES)
        for word in {*known}:
            if name != word and not _NO_NAMES.intersection(known):
                by_word[word][known].append(name)
    for surname in persons:
        named = by_word.get(surname, {})
        full = [words for words in named if words != (surname,)]
        if len(full) == 1 and _is_name_of(full[0], surname):
            yield from ((name, surname) for names in named.values() for name in names)


def _is_name_of(full: tuple[str, ...], surname: str) -> bool:
    plain = all(_WORD.fullmatch(word) for word in full) and not _OTHER.intersection(full)
    return plain and len(full) == 2 and full[1] == surname
