"""Community reports: what a model is shown to write one, and one made of quotations without it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence

from ragweave.indexing.split import TokenCounter
from ragweave.models.graph_schemas import CommunityReport, ReportFinding
from ragweave.state.text import sentences
from ragweave.stores.graph import Community, Finding, GraphTables, Report

_NAMESPACE = uuid.UUID("c2d1a2b6-8b0f-5c7d-9a53-3f5d8a0b4e10")
MOST_FINDINGS = 6
"""Findings of a report without a model."""


def report_id(community: Community) -> str:
    """Id of a community's report: an unchanged community keeps it."""
    return str(uuid.uuid5(_NAMESPACE, community.id))


def community_text(
    graph: GraphTables,
    community: Community,
    reports: Mapping[int, CommunityReport],
    count: TokenCounter,
    max_tokens: int,
) -> str:
    """What is known of a community: its entities and relationships, the most connected first.

    Where they take more than `max_tokens`, the reports of its children come first, if there are
    any, and then as many records as still fit.
    """
    records = _records(graph, community)
    if sum(count(records)) <= max_tokens:
        return "\n".join(records)
    children = [reports[child] for child in community.children if child in reports]
    summaries = [f"Report: {report.title}. {report.summary}" for report in children]
    shown: list[str] = []
    left = max_tokens
    lines = [*summaries, *records]
    for line, tokens in zip(lines, count(lines), strict=True):
        if tokens <= left:
            shown.append(line)
            left -= tokens + 1
    return "\n".join(shown)


def counted_once(count: TokenCounter) -> TokenCounter:
    """A counter that remembers the tokens of every text it has counted."""
    known: dict[str, int] = {}

    def counted(texts: Sequence[str]) -> list[int]:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, count(new), strict=True))
        return [known[text] for text in texts]

    return counted


def quoted_report(graph: GraphTables, community: Community) -> CommunityReport:
    """A report made without a model: the chief entities and what is said of them."""
    members = [graph.entity_by_id[entity_id] for entity_id in community.entity_ids]
    members.sort(key=lambda entity: (-entity.degree, entity.title))
    findings = [
        ReportFinding(summary=entity.title, explanation=entity.description)
        for entity in members[:MOST_FINDINGS]
    ]
    names = ", ".join(entity.title for entity in members[:3])
    first = members[0].description if members else ""
    spans = sentences(first)
    return CommunityReport(
        title=names,
        summary=first[slice(*spans[0])] if spans else first,
        rating=round(min(10.0, 1 + sum(entity.degree for entity in members) ** 0.5), 1),
        rating_explanation="By the number of relationships.",
        findings=findings,
    )


def report_record(community: Community, written: CommunityReport) -> Report:
    """A report as a record, its text laid out as GraphRAG does."""
    sections = [f"## {item.summary}\n\n{item.explanation}" for item in written.findings]
    full = "\n\n".join([f"# {written.title}", written.summary, *sections])
    return Report(
        id=report_id(community),
        number=community.number,
        community=community.community,
        level=community.level,
        parent=community.parent,
        children=community.children,
        title=written.title,
        summary=written.summary,
        full_content=full,
        rank=written.rating,
        rating_explanation=written.rating_explanation,
        findings=tuple(Finding(item.summary, item.explanation) for item in written.findings),
        full_content_json=json.dumps(written.model_dump(), ensure_ascii=False),
        period=community.period,
        size=community.size,
    )


def by_level(communities: Sequence[Community]) -> list[list[Community]]:
    """Communities level by level, the finest first: a report may rest on those of its children."""
    levels = sorted({community.level for community in communities}, reverse=True)
    return [[item for item in communities if item.level == level] for level in levels]


def _records(graph: GraphTables, community: Community) -> list[str]:
    members = [graph.entity_by_id[entity_id] for entity_id in community.entity_ids]
    edges = [graph.relationship_by_id[edge_id] for edge_id in community.relationship_ids]
    members.sort(key=lambda entity: (-entity.degree, entity.title))
    edges.sort(key=lambda edge: (-edge.degree, edge.source, edge.target))
    return [
        *(f"Entity: {_line(entity.title)} – {_line(entity.description)}" for entity in members),
        *(
            f"Relationship: {_line(edge.source)} – {_line(edge.target)}: {_line(edge.description)}"
            for edge in edges
        ),
    ]


def _line(text: str) -> str:
    return " ".join(text.split())
