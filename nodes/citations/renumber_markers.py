"""Moving an answer from the numbering of the sources it was written from to another numbering."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ragweave.nodes.citations.token_filter import TokenFilter
from ragweave.state.markers import parse


def renumber_markers(text: str, numbers: Mapping[int, int]) -> str:
    """`text` with every number in its markers replaced by the one it has in `numbers`.

    Numbers that are not in `numbers` name no source and are removed, as the final answer's are.
    """
    kept = TokenFilter(numbers, source_lists=False)
    shown = kept.feed(text) + kept.close()
    pieces = []
    done = 0
    for mention in sorted(kept.mentions, key=lambda mention: mention.start):
        marker = parse(shown[mention.start : mention.end])
        if marker is not None:
            pieces += [shown[done : mention.start], marker.renamed(numbers)]
            done = mention.end
    return "".join([*pieces, shown[done:]])


def cited_numbers(text: str, known: Collection[int]) -> list[int]:
    """The known numbers that markers in `text` name, in order, each once."""
    kept = TokenFilter(known, source_lists=False)
    kept.feed(text)
    kept.close()
    return list(dict.fromkeys(n for mention in kept.mentions for n in mention.numbers))
