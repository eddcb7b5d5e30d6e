"""A source with all its fields, of which tests of citations need few."""

from __future__ import annotations

from ragweave.state.records import Source


def made_source(
    number: int, text: str, *, title: str | None = None, start: int | None = 0
) -> Source:
    """A source `s<number>`; `start` is its first character in its document, None if unknown."""
    return Source(
        number=number,
        id=f"s{number}",
        document_id="d",
        text=text,
        title=title,
        url=None,
        path=None,
        page=None,
        start=start,
        end=None if start is None else start + len(text),
        score=None,
        score_kind=None,
        metadata={},
    )
