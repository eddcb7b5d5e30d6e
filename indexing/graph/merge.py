"""From what was extracted of each text unit to one set of entities, relationships and claims.

Everything is made anew from all units' extractions, in one pass: the same extractions give the
same records and ids, in whatever order documents came and went, and an update writes only what
differs from what is stored.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ragweave.indexing.graph.names import folded, same_entities
from ragweave.models.graph_schemas import ExtractedClaim, ExtractedRelationship, Extraction
from ragweave.stores.graph import Claim, Entity, Relationship

_NAMESPACE = uuid.UUID("9b1f3a52-6c6e-5a0b-8d0f-0a1d3b5c7e91")


@dataclass(slots=True)
class _Said:
    """What was said about one record, and where."""

    descriptions: dict[str, None] = field(default_factory=dict)
    """In order, each once."""
    text_unit_ids: dict[str, None] = field(default_factory=dict)

    def add(self, description: str, unit_id: str) -> None:
        if description.strip():
            self.descriptions[description.strip()] = None
        self.text_unit_ids[unit_id] = None

    @property
    def description(self) -> str:
        """All descriptions, one a line."""
        return "\n".join(self.descriptions)


@dataclass(slots=True)
class MergedEntity(_Said):
    """All that was said about one entity."""

    titles: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)

    @property
    def title(self) -> str:
        """The spelling used most; of equals the first in alphabetical order."""
        return _most_common(self.titles)

    @property
    def type(self) -> str:
        """The type given most; of equals the first in alphabetical order."""
        return _most_common(self.types)


@dataclass(slots=True)
class MergedRelationship(_Said):
    """All that was said about one directed pair of entities."""

    source_id: str = ""
    target_id: str = ""
    weight: float = 0.0
    """Sum of the strengths given to it."""


@dataclass(frozen=True, slots=True)
class MergedClaim:
    """One claim with the ids of the entity that it is about and of its text unit."""

    subject_id: str
    text_unit_id: str
    claim: ExtractedClaim


@dataclass(frozen=True, slots=True)
class MergedGraph:
    """What all units say, by id, in the order in which it was first said."""

    entities: dict[str, MergedEntity] = field(default_factory=dict)
    relationships: dict[str, MergedRelationship] = field(default_factory=dict)
    claims: dict[str, MergedClaim] = field(default_factory=dict)


def merge_extractions(units: Iterable[tuple[str, Extraction]]) -> MergedGraph:
    """Merge the extractions of text units, given with their ids.

    An end of a relationship that was not extracted as an entity becomes one, described by the
    relationship, so that no relationship leads nowhere; one of an entity with itself is dropped,
    and so is a claim about nothing extracted. Linear in the records.
    """
    units = list(units)
    ids = _ids_by_name(extraction for _, extraction in units)
    graph = MergedGraph()
    for unit_id, extraction in units:
        for entity in extraction.entities:
            _add_entity(graph, ids, entity.title, entity.type, entity.description, unit_id)
    extracted = frozenset(graph.entities)
    for unit_id, extraction in units:
        for edge in extraction.relationships:
            _add_relationship(graph, ids, extracted, edge, unit_id)
        for claim in extraction.claims:
            _add_claim(graph, ids, claim, unit_id)
    return graph


def records(
    graph: MergedGraph,
    *,
    descriptions: Mapping[str, str] | None = None,
    numbers: Mapping[str, int] | None = None,
) -> tuple[list[Entity], list[Relationship], list[Claim]]:
    """The merged graph as records of the graph index.

    Args:
        graph: what was merged.
        descriptions: by record id, what to say in place of all that was said.
        numbers: by record id, the numbers that records have already; new ones come after these.
    """
    said, known = descriptions or {}, numbers or {}
    degrees = _degrees(graph.relationships.values())
    entity_numbers = _numbered(graph.entities, known)
    edge_numbers = _numbered(graph.relationships, known)
    claim_numbers = _numbered(graph.claims, known)
    titles = {entity_id: entity.title for entity_id, entity in graph.entities.items()}
    entities = [
        Entity(
            id=entity_id,
            number=entity_numbers[entity_id],
            title=entity.title,
            type=entity.type,
            description=said.get(entity_id, entity.description),
            text_unit_ids=tuple(entity.text_unit_ids),
            frequency=len(entity.text_unit_ids),
            degree=degrees[entity_id],
        )
        for entity_id, entity in graph.entities.items()
    ]
    relationships = [
        Relationship(
            id=edge_id,
            number=edge_numbers[edge_id],
            source=titles[edge.source_id],
            target=titles[edge.target_id],
            description=said.get(edge_id, edge.description),
            weight=edge.weight,
            degree=degrees[edge.source_id] + degrees[edge.target_id],
            text_unit_ids=tuple(edge.text_unit_ids),
        )
        for edge_id, edge in graph.relationships.items()
    ]
    claims = [
        _claim(claim_id, claim_numbers[claim_id], titles[merged.subject_id], merged)
        for claim_id, merged in graph.claims.items()
    ]
    return entities, relationships, claims


def _ids_by_name(extractions: Iterable[Extraction]) -> dict[str, str]:
    """By folded name, the id of the entity that it means."""
    names = same_entities(_types_by_name(extractions))
    ids = {name: _identity("entity", name) for name in {*names.values()}}
    return {name: ids[meant] for name, meant in names.items()}


def _types_by_name(extractions: Iterable[Extraction]) -> dict[str, set[str]]:
    types: dict[str, set[str]] = {}
    for extraction in extractions:
        for entity in extraction.entities:
            types.setdefault(folded(entity.title), set()).add(folded(entity.type))
        for edge in extraction.relationships:
            types.setdefault(folded(edge.source), set())
            types.setdefault(folded(edge.target), set())
    types.pop("", None)
    return types


def _add_entity(
    graph: MergedGraph,
    ids: Mapping[str, str],
    title: str,
    kind: str,
    description: str,
    unit_id: str,
) -> None:
    """Add what is said of an entity, unless nothing is left of its name."""
    entity_id = ids.get(folded(title))
    if entity_id is None:
        return
    entity = graph.entities.setdefault(entity_id, MergedEntity())
    entity.titles[" ".join(title.split())] += 1
    if kind.strip():
        entity.types[kind.strip()] += 1
    entity.add(description, unit_id)


def _add_relationship(
    graph: MergedGraph,
    ids: Mapping[str, str],
    extracted: frozenset[str],
    edge: ExtractedRelationship,
    unit_id: str,
) -> None:
    source_id, target_id = ids.get(folded(edge.source)), ids.get(folded(edge.target))
    for title, end in ((edge.source, source_id), (edge.target, target_id)):
        if end not in extracted:
            _add_entity(graph, ids, title, "", edge.description, unit_id)
    if source_id is None or target_id is None or source_id == target_id:
        return
    edge_id = _identity("relationship", source_id, target_id)
    merged = graph.relationships.setdefault(
        edge_id, MergedRelationship(source_id=source_id, target_id=target_id)
    )
    merged.weight += max(edge.strength, 0.0)
    merged.add(edge.description, unit_id)


def _add_claim(
    graph: MergedGraph, ids: Mapping[str, str], claim: ExtractedClaim, unit_id: str
) -> None:
    subject_id = ids.get(folded(claim.subject))
    if subject_id is not None and subject_id in graph.entities:
        claim_id = _identity("claim", subject_id, unit_id, claim.model_dump_json())
        graph.claims[claim_id] = MergedClaim(subject_id, unit_id, claim)


def _claim(claim_id: str, number: int, subject: str, merged: MergedClaim) -> Claim:
    claim = merged.claim
    return Claim(
        id=claim_id,
        number=number,
        covariate_type="claim",
        type=claim.type or None,
        description=claim.description or None,
        subject=subject,
        object=claim.object or None,
        status=claim.status or None,
        start_date=claim.start_date or None,
        end_date=claim.end_date or None,
        source_text=claim.source_text or None,
        text_unit_id=merged.text_unit_id,
    )


def _degrees(relationships: Iterable[MergedRelationship]) -> Counter[str]:
    """Relationships of each entity, both directions of a pair counted once."""
    pairs = {frozenset((edge.source_id, edge.target_id)) for edge in relationships}
    return Counter(entity_id for pair in pairs for entity_id in pair)


def _numbered(ids: Iterable[str], known: Mapping[str, int]) -> dict[str, int]:
    ids = list(ids)
    following = max((known[record] for record in ids if record in known), default=-1)
    numbers: dict[str, int] = {}
    for record in ids:
        if record not in known:
            following += 1
        numbers[record] = known.get(record, following)
    return numbers


def _most_common(counted: Counter[str]) -> str:
    return min(counted, key=lambda value: (-counted[value], value), default="")


def _identity(*parts: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, "\0".join(parts)))
