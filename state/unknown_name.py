"""What is said of a name that does not exist: one line, with the nearest ones that do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


def unknown(
    kind: str, name: str, known: Iterable[str], *, listed: Sequence[str] = (), more: str = ""
) -> str:
    """One line about a name that does not exist, with the nearest ones that do.

    Args:
        kind: what it should be a name of, such as "technique".
        name: what was given.
        known: the names that there are.
        listed: what `ragweave settings` lists them by; without it all are named if none is near.
        more: where else all are listed, as a sentence.
    """
    names = list(known)
    near = _nearest(name, names)
    said = [f'There is no {kind} "{name}".']
    if near:
        said.append(f"Did you mean {' or '.join(near)}?")
    if listed:
        commands = " and ".join(f"`ragweave settings {subject}`" for subject in listed)
        said.append(f"{commands} {'lists' if len(listed) == 1 else 'list'} all.")
    elif more:
        said.append(more)
    elif not near:
        said.append(f"There are: {', '.join(names)}.")
    return " ".join(said)


def _nearest(name: str, names: Sequence[str]) -> list[str]:
    """Names that are spelled alike, or else that share a word with it."""
    words = set(name.lower().replace("-", "_").split("_"))
    sharing = [known for known in names if words & set(known.split("_"))]
    return get_close_matches(name, names, n=3) or sharing[:3]
