"""Cutting sources into smaller ones with exact spans, and packing them into batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ragweave.indexing.split import TokenCounter, split
from ragweave.models.prompt import sources_section
from ragweave.state.records import Source
from ragweave.state.text import Span, sentences


def rendered(source: Source) -> str:
    """A source as it stands in a prompt."""
    return sources_section([source]).render()


def cut_source(source: Source, spans: Sequence[tuple[int, int]]) -> list[Source]:
    """Sources of the spans of a source's text, which are spans of its document as well.

    A source of which nothing is cut off is left as it is.
    """
    if len(spans) == 1 and spans[0] == (0, len(source["text"])):
        return [source]
    offset = source["start"] or 0
    return [
        {
            **source,
            "id": f"{source['id']}:{start}-{end}",
            "text": source["text"][start:end],
            "start": offset + start,
            "end": offset + end,
        }
        for start, end in spans
    ]


def fill(text: str, count: TokenCounter, max_tokens: int, overlap: int) -> list[Span]:
    """Spans of as many whole sentences as fit, one after the other, in linear time.

    Args:
        overlap: tokens, at most, of the sentences that a span repeats from the one before it.
    """
    pieces = _sentences(text, count, max_tokens)
    spans: list[Span] = []
    first = used = 0
    for at, (piece, tokens) in enumerate(pieces):
        gap = text.count("\n", pieces[at - 1][0].end, piece.start) if at else 0
        if at > first and used + gap + tokens > max_tokens:
            spans.append(Span(pieces[first][0].start, pieces[at - 1][0].end))
            first, used = _repeated(pieces, at, min(overlap, max_tokens - tokens))
            gap = 0
        used += gap + tokens
    if pieces:
        spans.append(Span(pieces[first][0].start, pieces[-1][0].end))
    return spans


def pack(sources: Iterable[tuple[Source, int]], room: int) -> Iterator[list[Source]]:
    """Sources, given with their tokens, in batches of at most `room` tokens, in order.

    A single source of more tokens is a batch by itself.
    """
    batch: list[Source] = []
    used = 0
    for source, tokens in sources:
        if batch and used + tokens > room:
            yield batch
            batch, used = [], 0
        batch.append(source)
        used += tokens
    if batch:
        yield batch


def _sentences(text: str, count: TokenCounter, max_tokens: int) -> list[tuple[Span, int]]:
    """Sentences with their tokens; those that are too long in pieces."""
    spans = sentences(text)
    pieces: list[Span] = []
    for span, tokens in zip(spans, count([text[slice(*span)] for span in spans]), strict=True):
        if tokens <= max_tokens:
            pieces.append(span)
            continue
        parts = split(text[slice(*span)], count, max_tokens=max_tokens)
        pieces += [Span(span.start + part.start, span.start + part.end) for part in parts]
    return list(zip(pieces, count([text[slice(*piece)] for piece in pieces]), strict=True))


def _repeated(pieces: Sequence[tuple[Span, int]], at: int, overlap: int) -> tuple[int, int]:
    """The first piece to repeat before piece `at`, and the tokens from there to it."""
    first, used = at, 0
    while first and used + pieces[first - 1][1] <= overlap:
        first -= 1
        used += pieces[first][1]
    return first, used
