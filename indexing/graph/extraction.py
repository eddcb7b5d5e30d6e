"""Reading what models extract from texts, however they write it down.

Asked for JSON or not, models answer in GraphRAG's delimiter format as well,
`("entity"<|>"SCROOGE"<|>"person"<|>"A miser.")##`: with records numbered, in curly quotes, under
headings, with a delimiter broken, a field missing, or cut off at the end. Every record is kept
that names what it is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import json_repair

from ragweave.models.graph_schemas import (
    CommunityReport,
    ExtractedClaim,
    ExtractedEntity,
    ExtractedRelationship,
    Extraction,
    ReportFinding,
)

_QUOTES = "\"'“”„‘’«»「」『』`*"
_DELIMITER = re.compile(r"\s*(?:<[/|]*)?\|>\s*")
_RECORD = re.compile(
    rf"\(\s*[{_QUOTES}]*(entity|relation|relationship|claim)[{_QUOTES}]*\s*(?:<[/|]*)?\|>",
    re.IGNORECASE,
)
_COMPLETE = re.compile(r"<\|complete\|>", re.IGNORECASE)
_END = re.compile(rf"[{_QUOTES}\s]*\)(?=\s*(?:[#*`<]|\d+\.|$))[^()]*$")
"""The end of a record with what stands between it and the next one: `")##`, a heading, `2.`"""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def parse_extraction(text: str) -> Extraction:
    """What an answer says was extracted, in either format; nothing where it is plain prose."""
    text = _COMPLETE.sub("", text)
    if _RECORD.search(text):
        return _from_records(text)
    return _from_json(text)


def salvage_extraction(text: str) -> Extraction | None:
    """`parse_extraction` for `ask_structured`: None where there is nothing to save."""
    extraction = parse_extraction(text)
    return extraction if extraction.entities or extraction.relationships else None


def parse_report(text: str) -> CommunityReport | None:
    """A report that was written as JSON, whatever stands around it; None of anything else."""
    value = json_repair.loads(text) if "{" in text else None
    if isinstance(value, list):
        value = next((item for item in value if isinstance(item, dict)), None)
    if not isinstance(value, dict) or not _field(value, "title"):
        return None
    return CommunityReport(
        title=_field(value, "title"),
        summary=_field(value, "summary"),
        rating=_strength(value.get("rating"), 0.0),
        rating_explanation=_field(value, "rating_explanation"),
        findings=[_finding(item) for item in _list(value.get("findings"))],
    )


def _from_records(text: str) -> Extraction:
    extraction = Extraction()
    starts = list(_RECORD.finditer(text))
    ends = [*(start.start() for start in starts[1:]), len(text)]
    for start, end in zip(starts, ends, strict=True):
        fields = [_bare(field) for field in _DELIMITER.split(_END.sub("", text[start.end() : end]))]
        if fields[0]:
            _add_record(extraction, start[1].lower(), fields)
    return extraction


def _add_record(extraction: Extraction, kind: str, fields: list[str]) -> None:
    if kind == "entity":
        title, type_, *rest = [*fields, "", ""]
        description = " ".join(filter(None, rest))
        extraction.entities.append(
            ExtractedEntity(title=title, type=type_, description=description)
        )
    elif kind == "claim":
        names = list(ExtractedClaim.model_fields)
        extraction.claims.append(ExtractedClaim(**dict(zip(names, fields, strict=False))))
    elif len(fields) > 1 and fields[1]:
        last = fields.pop() if len(fields) > 3 else ""
        extraction.relationships.append(
            ExtractedRelationship(
                source=fields[0],
                target=fields[1],
                description=" ".join(fields[2:]),
                strength=_strength(last, 1.0),
            )
        )


def _from_json(text: str) -> Extraction:
    value = json_repair.loads(text) if "{" in text or "[" in text else None
    extraction = Extraction()
    for item in _objects(value):
        source = _field(item, "source", "source_entity", "from")
        target = _field(item, "target", "target_entity", "to")
        title = _field(item, "title", "name", "entity_name", "entity")
        description = _field(item, "description", "entity_description", "relationship_description")
        if source and target:
            strength = next((item[name] for name in ("strength", "weight") if name in item), None)
            extraction.relationships.append(
                ExtractedRelationship(
                    source=source,
                    target=target,
                    description=description,
                    strength=_strength(strength, 1.0),
                )
            )
        elif _field(item, "subject", "subject_id"):
            known = {name: _field(item, name) for name in ExtractedClaim.model_fields}
            known["subject"] = _field(item, "subject", "subject_id")
            known["object"] = _field(item, "object", "object_id")
            extraction.claims.append(ExtractedClaim(**known))
        elif title:
            kind = _field(item, "type", "entity_type", "category")
            extraction.entities.append(
                ExtractedEntity(title=title, type=kind, description=description)
            )
    return extraction


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """The innermost objects of any JSON: records stand in lists, under whatever name."""
    if isinstance(value, list):
        for item in value:
            yield from _objects(item)
    elif isinstance(value, Mapping):
        nested = [item for item in value.values() if isinstance(item, list | Mapping)]
        if not nested:
            yield value
        for item in nested:
            yield from _objects(item)


def _finding(value: Any) -> ReportFinding:
    if isinstance(value, Mapping):
        return ReportFinding(
            summary=_field(value, "summary"), explanation=_field(value, "explanation")
        )
    return ReportFinding(summary=str(value))


def _list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return [] if value in (None, "") else [value]


def _field(item: Mapping[str, Any], *names: str) -> str:
    """The first of these fields that holds something, as text."""
    for name in names:
        if (value := item.get(name)) not in (None, ""):
            return " ".join(map(str, value)) if isinstance(value, list) else str(value).strip()
    return ""


def _bare(field: str) -> str:
    """A field without the quotes and emphasis around it."""
    return field.strip().strip(_QUOTES + " \t\n").strip()


def _strength(value: Any, default: float) -> float:
    """A number, also from `8/10` or `"9"`; `default` where there is none."""
    match = _NUMBER.search(str(value))
    return float(match[0]) if match else default
