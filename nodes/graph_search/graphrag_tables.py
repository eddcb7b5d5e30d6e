"""The tables of a GraphRAG prompt: a title, a header and rows of cells with `|` between."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ragweave.nodes.graph_search.context_records import ContextTable, CountTokens, Record, number_of
from ragweave.stores.graph import Claim, Entity, Relationship, Report, TextUnit


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a context with the records that it shows."""

    name: ContextTable
    header: tuple[str, ...]
    records: tuple[Record, ...] = ()
    links: Mapping[str, int] | None = None
    """By relationship id, the last column of the relationships, where they have it."""

    @property
    def head(self) -> str:
        """The lines above the rows."""
        return f"-----{self.name.capitalize()}-----\n" + "|".join(self.header) + "\n"

    def render(self) -> str:
        """The table as it stands in the prompt, ending in a line break."""
        rows = [self._cells(record) for record in self.records]
        if self.name != "reports":
            return self.head + "".join(map(_line, rows))
        # Reports have line breaks and quotes of their own: GraphRAG writes this table as CSV.
        lines = io.StringIO()
        csv.writer(lines, delimiter="|", lineterminator="\n").writerows([self.header, *rows])
        return f"-----{self.name.capitalize()}-----\n" + lines.getvalue()

    def fitted(self, records: Sequence[Record], budget: int, count: CountTokens) -> Table:
        """The table with records until one does not fit into a budget of tokens.

        The header counts, and stays even if it does not fit. Reports are counted as they would
        stand without CSV's quotes, as GraphRAG counts them.
        """
        used, *costs = count([self.head, *(_line(self._cells(record)) for record in records)])
        kept = 0
        while kept < len(records) and used + costs[kept] <= budget:
            used += costs[kept]
            kept += 1
        return replace(self, records=tuple(records[:kept]))

    def _cells(self, record: Record) -> list[str]:
        cells = [str(number_of(record)), *_columns(record)]
        if self.links is not None:
            cells.append(str(self.links.get(record.id, "")))
        return cells


REPORTS = Table("reports", ("id", "title", "content"))
ENTITIES = Table("entities", ("id", "entity", "description", "number of relationships"))
RELATIONSHIPS = Table("relationships", ("id", "source", "target", "description", "weight"))
CLAIMS = Table(
    "claims", ("id", "entity", "object_id", "status", "start_date", "end_date", "description")
)
SOURCES = Table("sources", ("id", "text"))


def with_links(links: Mapping[str, int]) -> Table:
    """`RELATIONSHIPS` with the column `links`."""
    return replace(RELATIONSHIPS, header=(*RELATIONSHIPS.header, "links"), links=links)


def _line(cells: Sequence[str]) -> str:
    return "|".join(cells) + "\n"


def _columns(record: Record) -> list[str]:
    match record:
        case Report():
            return [record.title, record.full_content]
        case Entity():
            return [record.title, record.description, str(record.degree)]
        case Relationship():
            weight = str(record.weight) if record.weight else ""
            return [record.source, record.target, record.description, weight]
        case Claim():
            about = (record.object, record.status, record.start_date, record.end_date)
            return [record.subject, *(cell or "" for cell in (*about, record.description))]
        case TextUnit():
            return [record.text]
