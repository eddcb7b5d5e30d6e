"""Cutting texts to a number of tokens where sentences end."""

from __future__ import annotations

from collections.abc import Sequence

from ragweave.nodes.graph_search.context_records import CountTokens
from ragweave.state.records import Source
from ragweave.state.text import sentences


def excerpt(text: str, limit: int, count: CountTokens) -> str:
    """The beginning of `text` in at most `limit` tokens; empty if none of it fits.

    It ends with a sentence, or with a word where that would lose too much.
    """
    [tokens] = count([text])
    if tokens <= limit:
        return text
    ends = [span.end for span in sentences(text)]
    shown = text
    while shown and tokens > limit:
        reach = min(int(len(shown) * max(limit, 0) / tokens), len(shown) - 1)
        end = max((end for end in ends if end <= reach), default=0)
        shown = text[: end if end > reach / 2 else _word_end(text, reach)]
        [tokens] = count([shown])
    return shown


def excerpts(sources: Sequence[Source], room: int, count: CountTokens) -> dict[str, str]:
    """By id, what is shown of the sources that are cut so that all fit into `room` tokens."""
    texts = [source["text"] for source in sources]
    sizes = count(texts)
    return {
        source["id"]: excerpt(text, share, count)
        for source, text, size, share in zip(
            sources, texts, sizes, fair_shares(sizes, room), strict=True
        )
        if share < size
    }


def fair_shares(sizes: Sequence[int], room: int) -> list[int]:
    """How much of `room` each of several texts gets: what small ones leave goes to the long ones.

    Every share is at most the size asked for, and all together are at most `room`.
    """
    shares = [0] * len(sizes)
    left, waiting = room, len(sizes)
    for place in sorted(range(len(sizes)), key=lambda place: sizes[place]):
        shares[place] = min(sizes[place], left // waiting)
        left, waiting = left - shares[place], waiting - 1
    return shares


def _word_end(text: str, reach: int) -> int:
    """End of the last word before `reach`; `reach` itself where words are not spaced."""
    space = text.rfind(" ", reach // 2, reach)
    return space if space > 0 else reach
