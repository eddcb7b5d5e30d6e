"""How many tokens the records of one graph take in a prompt, counted once and remembered.

The questions of a run come back to the same records again and again; counting them anew each time
would cost more than everything else that a local search computes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from ragweave.models.prompt import Section
from ragweave.nodes.excerpt import excerpt
from ragweave.nodes.graph_search.context_records import CountTokens, Record
from ragweave.nodes.graph_search.graph_sources import text_of, title_of
from ragweave.state.text import sentences
from ragweave.stores.graph import GraphTables

WIDEST = 999
"""Numbers are given later; each record is counted as if it had this one."""


@dataclass(slots=True)
class Row:
    """A record as a prompt shows it, whole, and what it takes."""

    record: Record
    title: str | None
    text: str
    tokens: int = 0
    """Of all of it, as `render` gives it."""
    frame: int = 0
    """Of what stands around the text."""
    cuts: list[tuple[int, int]] = field(default_factory=list)
    """Ends of sentences with the tokens of the text up to there, at most; made when needed."""

    def render(self, number: int = WIDEST, text: str | None = None) -> str:
        """The record as `sources_section` renders its source, with `text` instead of its own."""
        attributes = {"number": str(number)}
        if self.title:
            attributes["title"] = self.title
        shown = self.text if text is None else text
        return Section("source", shown, attributes).render() + "\n"


class RowSizes:
    """The rows of one graph, by a tokenizer."""

    def __init__(self, graph: GraphTables, count: CountTokens) -> None:
        self._graph = graph
        self._count = count
        self._rows: dict[tuple[type[Record], str], Row] = {}

    def rows(self, records: Sequence[Record]) -> list[Row]:
        """The rows of some records, in their order."""
        new = [record for record in records if (type(record), record.id) not in self._rows]
        made = [Row(record, title_of(self._graph, record), text_of(record)) for record in new]
        wholes = self._count([row.render() for row in made])
        frames = self._count([row.render(text="") for row in made])
        for row, tokens, frame in zip(made, wholes, frames, strict=True):
            row.tokens, row.frame = tokens, frame
            self._rows[type(row.record), row.record.id] = row
        return [self._rows[type(record), record.id] for record in records]

    def shortened(self, row: Row, limit: int) -> tuple[str, int]:
        """As much of a row's text as fits with its frame into `limit` tokens, and what they take.

        It is cut where a sentence ends, or a word where that would lose too much.
        """
        if row.tokens <= limit:
            return row.text, row.tokens
        room = limit - row.frame
        if not row.cuts:
            row.cuts = self._sentence_ends(row.text)
        fitting = bisect_right(row.cuts, room, key=lambda cut: cut[1])
        end, tokens = row.cuts[fitting - 1] if fitting else (0, 0)
        if tokens >= room / 2:
            return row.text[:end], row.frame + tokens
        text = excerpt(row.text, room, self._count)
        return text, self._count([row.render(text=text)])[0]

    def _sentence_ends(self, text: str) -> list[tuple[int, int]]:
        # Sentences counted one by one take no fewer tokens than together.
        ends = [span.end for span in sentences(text)]
        pieces = [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]
        return list(zip(ends, accumulate(self._count(pieces)), strict=True))
