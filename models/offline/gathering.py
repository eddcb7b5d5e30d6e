"""How the offline model makes one answer of notes that were quoted from several sources."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragweave.models.offline.quoting import MIN_GAIN, nothing_found
from ragweave.models.offline.relevance import relevance
from ragweave.models.offline.words import is_cjk
from ragweave.state.text import sentences

_CITED = re.compile(r"\[\d+\]")


def gather(question: str, notes: Sequence[str], most: int) -> str:
    """The sentences of the notes that answer best, word for word, with the sources they cite.

    Args:
        question: what they should answer.
        notes: texts that cite sources.
        most: how many sentences at most; what several notes say is said once.
    """
    said: dict[str, str] = {}
    for text in (sentence for note in notes for sentence in cited_sentences(note)):
        said.setdefault(_CITED.sub("", text), text)
    found = list(said.values())
    if not found:
        return nothing_found(question)
    scores = [item.score for item in relevance(question, found)]
    best = sorted(range(len(found)), key=lambda at: -scores[at])[:most]
    kept = [found[at] for at in sorted(best) if scores[at] >= MIN_GAIN * scores[best[0]]]
    return ("" if is_cjk(kept[0]) else " ").join(kept)


def cited_sentences(text: str) -> list[str]:
    """The sentences of a text that cite a source."""
    pieces = (text[slice(*span)] for span in sentences(text))
    return [piece for piece in pieces if _CITED.search(piece)]
