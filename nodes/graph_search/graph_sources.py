"""Records of a graph as sources, so that answers cite them like any other text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ragweave.nodes.graph_search.context_records import ContextTable, Record, number_of
from ragweave.state.records import Source
from ragweave.stores.graph import Claim, Entity, GraphTables, Relationship, Report, TextUnit

_REFERENCES = re.compile(r"[ \t]*\[Data: [^\]\n]*\]")
"""A report's own citations of records. They take a fifth of its tokens, and are not ours."""


def source_of_record(graph: GraphTables, record: Record) -> Source:
    """A record as a source that has no number yet.

    Its metadata name the table, the number there and the text units that it rests on. A text unit
    knows its place in its document; the others belong to the document of their first unit.
    """
    units = units_of(graph, record)
    text = text_of(record)
    start = record.start if isinstance(record, TextUnit) else None
    document_id = units[0].document_id if units else None
    document = graph.document_by_id.get(document_id or "")
    about = document.metadata if document else {}
    table = table_of(record)
    return Source(
        number=0,
        id=f"{table}:{record.id}",
        document_id=document_id or "",
        text=text,
        title=title_of(graph, record),
        url=about.get("url"),
        path=about.get("path"),
        page=None,
        start=start,
        end=None if start is None else start + len(text),
        score=None,
        score_kind=None,
        metadata={
            "table": table,
            "number": number_of(record),
            "text_unit_ids": [unit.id for unit in units],
        },
    )


def sources_by_id(graph: GraphTables, source_ids: Iterable[str]) -> list[Source]:
    """Sources of the records that were sources before, by those sources' ids; unknown left out."""
    records = [_record(graph, source_id) for source_id in source_ids]
    return [source_of_record(graph, record) for record in records if record is not None]


def _record(graph: GraphTables, source_id: str) -> Record | None:
    table, _, record_id = source_id.partition(":")
    match table:
        case "reports":
            return graph.report_by_id.get(record_id)
        case "entities":
            return graph.entity_by_id.get(record_id)
        case "relationships":
            return graph.relationship_by_id.get(record_id)
        case "claims":
            return graph.claim_by_id.get(record_id)
        case _:
            return graph.unit_by_id.get(record_id)


def units_of(graph: GraphTables, record: Record) -> list[TextUnit]:
    """The text units that a record was made from."""
    match record:
        case TextUnit():
            return [record]
        case Claim():
            ids: Sequence[str] = [record.text_unit_id] if record.text_unit_id else []
        case Report():
            community = graph.community_by_number.get(record.community)
            ids = community.text_unit_ids if community else []
        case _:
            ids = record.text_unit_ids
    return [graph.unit_by_id[unit_id] for unit_id in ids if unit_id in graph.unit_by_id]


def table_of(record: Record) -> ContextTable:
    """The table that shows a record."""
    match record:
        case Report():
            return "reports"
        case Entity():
            return "entities"
        case Relationship():
            return "relationships"
        case Claim():
            return "claims"
        case TextUnit():
            return "sources"


def title_of(graph: GraphTables, record: Record) -> str | None:
    """What a record is called: an entity's name, both ends of a relationship, a document."""
    match record:
        case Report() | Entity():
            return record.title
        case Relationship():
            return f"{record.source} – {record.target}"
        case Claim():
            return record.subject
        case TextUnit():
            document = graph.document_by_id.get(record.document_id or "")
            return document.title if document else None


def text_of(record: Record) -> str:
    """What a record says."""
    match record:
        case Report():
            return _REFERENCES.sub("", record.full_content)
        case Claim():
            return record.description or record.source_text or record.subject
        case TextUnit():
            return record.own_text
        case _:
            return record.description
