"""The graph index contract: what DRIFT search reads and what the graph index is built into.

The records follow the tables of GraphRAG 3.x, column by column, so that its output can be read and
written without loss. A graph is small beside its corpus (20,000 entities and their relationships
take some 60 MB), so readers take all tables at once and keep them; only vectors are searched in
the store.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol

from ragweave.state.errors import IndexSchemaMismatch
from ragweave.stores.base import IndexSpec

TableName = Literal[
    "documents", "text_units", "entities", "relationships", "communities", "reports", "claims"
]
TABLES: tuple[TableName, ...] = (
    "documents",
    "text_units",
    "entities",
    "relationships",
    "communities",
    "reports",
    "claims",
)
Embedded = Literal["entities", "reports"]
EMBEDDED: tuple[Embedded, ...] = ("entities", "reports")
"""Tables with vectors: entities by `Entity.embedded_text`, reports by their full content."""


@dataclass(frozen=True, slots=True)
class GraphDocument:
    """A document that text units were cut from."""

    id: str
    number: int
    """GraphRAG's `human_readable_id`: what a context shows and an answer cites."""
    title: str
    text: str
    creation_date: str | None = None
    content_hash: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """`path` and `url` where they are known, and whatever else the loader gave."""


@dataclass(frozen=True, slots=True)
class TextUnit:
    """A piece of a document that entities and relationships were extracted from."""

    id: str
    number: int
    text: str
    tokens: int | None
    document_id: str | None
    entity_ids: tuple[str, ...] = ()
    relationship_ids: tuple[str, ...] = ()
    claim_ids: tuple[str, ...] = ()
    start: int | None = None
    """First character of `own_text` in its document; None where it was not found there."""
    prefix: int = 0
    """Characters of metadata that were put before the document's text, such as `title: a.txt.`"""

    @property
    def own_text(self) -> str:
        """The text as it stands in the document."""
        return self.text[self.prefix :]


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing that documents speak of. Titles are unique in a graph."""

    id: str
    number: int
    title: str
    type: str
    description: str
    text_unit_ids: tuple[str, ...] = ()
    frequency: int = 0
    """Text units that mention it."""
    degree: int = 0
    """Relationships that it is an end of."""

    @property
    def embedded_text(self) -> str:
        """What the entity's vector is made from."""
        return f"{self.title}:{self.description}"


@dataclass(frozen=True, slots=True)
class Relationship:
    """An edge between two titles. In GraphRAG's output an end may be a title of no entity."""

    id: str
    number: int
    source: str
    target: str
    description: str
    weight: float = 1.0
    degree: int = 0
    """Degrees of both ends together."""
    text_unit_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Community:
    """A group of entities on one level of the hierarchy; level 0 is the coarsest."""

    id: str
    number: int
    community: int
    """The number that parents, children and reports refer to."""
    level: int
    parent: int
    """Community number of the parent; -1 at level 0."""
    children: tuple[int, ...]
    title: str
    entity_ids: tuple[str, ...] = ()
    relationship_ids: tuple[str, ...] = ()
    text_unit_ids: tuple[str, ...] = ()
    period: str | None = None
    """Date it was made, as `YYYY-MM-DD`."""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """One insight of a report."""

    summary: str
    explanation: str


@dataclass(frozen=True, slots=True)
class Report:
    """What a model wrote about a community."""

    id: str
    number: int
    community: int
    level: int
    parent: int
    children: tuple[int, ...]
    title: str
    summary: str
    full_content: str
    """The report as Markdown: title, summary and findings."""
    rank: float | None = None
    """How important the community is, from 0 to 10."""
    rating_explanation: str = ""
    findings: tuple[Finding, ...] = ()
    full_content_json: str = ""
    period: str | None = None
    size: int = 0


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement about an entity (GraphRAG's covariate). Real models leave any field out."""

    id: str
    number: int
    covariate_type: str
    type: str | None
    description: str | None
    subject: str
    """Title of the entity it is about, or whatever the model wrote in its place."""
    object: str | None = None
    status: str | None = None
    start_date: str | None = None
    end_date: str | None = None
    source_text: str | None = None
    text_unit_id: str | None = None


@dataclass(frozen=True, eq=False)
class GraphTables:
    """All tables of a graph, in the order of the store, with the look-ups that readers need.

    Compared by identity: a store gives the same object until something was written.
    """

    documents: tuple[GraphDocument, ...] = ()
    text_units: tuple[TextUnit, ...] = ()
    entities: tuple[Entity, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    communities: tuple[Community, ...] = ()
    reports: tuple[Report, ...] = ()
    claims: tuple[Claim, ...] = ()

    @cached_property
    def document_by_id(self) -> Mapping[str, GraphDocument]:
        """Documents by id."""
        return {document.id: document for document in self.documents}

    @cached_property
    def unit_by_id(self) -> Mapping[str, TextUnit]:
        """Text units by id."""
        return {unit.id: unit for unit in self.text_units}

    @cached_property
    def entity_by_id(self) -> Mapping[str, Entity]:
        """Entities by id."""
        return {entity.id: entity for entity in self.entities}

    @cached_property
    def entity_by_title(self) -> Mapping[str, Entity]:
        """Entities by title."""
        return {entity.title: entity for entity in self.entities}

    @cached_property
    def community_by_number(self) -> Mapping[int, Community]:
        """Communities by number."""
        return {community.community: community for community in self.communities}

    @cached_property
    def report_by_community(self) -> Mapping[int, Report]:
        """Reports by the number of their community."""
        return {report.community: report for report in self.reports}

    @cached_property
    def report_by_id(self) -> Mapping[str, Report]:
        """Reports by id."""
        return {report.id: report for report in self.reports}

    @cached_property
    def relationship_by_id(self) -> Mapping[str, Relationship]:
        """Relationships by id."""
        return {edge.id: edge for edge in self.relationships}

    @cached_property
    def claim_by_id(self) -> Mapping[str, Claim]:
        """Claims by id."""
        return {claim.id: claim for claim in self.claims}

    def reports_up_to(self, level: int | None, ids: Sequence[str]) -> list[bool]:
        """For each report id, whether its community is of `level` or a coarser one."""
        reports = self.report_by_id
        return [level is None or reports[report_id].level <= level for report_id in ids]

    @cached_property
    def relationships_of(self) -> Mapping[str, Sequence[int]]:
        """By entity title, positions in `relationships` of those it is an end of."""
        positions: dict[str, list[int]] = {}
        for position, edge in enumerate(self.relationships):
            for title in {edge.source, edge.target}:
                positions.setdefault(title, []).append(position)
        return positions

    @cached_property
    def communities_of(self) -> Mapping[str, Sequence[Community]]:
        """Communities by the id of a member, in the order of the table."""
        members: dict[str, list[Community]] = {}
        for community in self.communities:
            for entity_id in community.entity_ids:
                members.setdefault(entity_id, []).append(community)
        return members

    @cached_property
    def claims_of(self) -> Mapping[str, Sequence[Claim]]:
        """Claims by the title that they are about."""
        claims: dict[str, list[Claim]] = {}
        for claim in self.claims:
            claims.setdefault(claim.subject, []).append(claim)
        return claims


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One result of a vector search."""

    id: str
    score: float
    """Higher is nearer."""


def check_dimension(vector: Sequence[float], dimension: int) -> None:
    """Check that a question's vector can be compared with those of a graph.

    Raises:
        IndexSchemaMismatch: it has another dimension.
    """
    if len(vector) != dimension:
        raise IndexSchemaMismatch(
            f"The graph's vectors have {dimension} dimensions, the question's vector has "
            f"{len(vector)}. Use the embeddings that the graph was made with."
        )


@dataclass(frozen=True, slots=True)
class GraphChanges:
    """One write. Deletions come last, so that a write cut short leaves no record unresolved."""

    upsert: GraphTables = field(default_factory=GraphTables)
    delete: Mapping[TableName, Collection[str]] = field(default_factory=dict)
    """Ids to delete, by table; with a record of an embedded table goes its vector."""
    vectors: Mapping[Embedded, Mapping[str, Sequence[float]]] = field(default_factory=dict)
    """New vectors by table and id. Records written without one keep the vector they have."""

    def applied_to(self, tables: GraphTables) -> GraphTables:
        """The tables after this write, each by number."""
        after = {}
        for name in TABLES:
            records = {record.id: record for record in getattr(tables, name)}
            records.update((record.id, record) for record in getattr(self.upsert, name))
            for record_id in self.delete.get(name, ()):
                records.pop(record_id, None)
            after[name] = tuple(sorted(records.values(), key=lambda record: record.number))
        return GraphTables(**after)


class GraphReader(Protocol):
    """A knowledge graph to search: its tables, and vector search over entities and reports.

    Every call carries its own deadline and raises only the index errors of
    `ragweave.state.errors`.
    """

    name: str
    """The string it was opened by, such as `graphrag:PATH`."""

    async def spec(self) -> IndexSpec | None:
        """Dimension and embeddings of its vectors; None if it has none.

        An empty name of the embeddings says that the graph does not know what made its vectors.
        """

    async def tables(self) -> GraphTables:
        """All tables; the same object as before until something was written.

        Raises:
            IndexMissing: there is no graph.
        """

    async def nearest_entities(self, vector: Sequence[float], k: int) -> list[Neighbour]:
        """The `k` entities nearest to a vector, scored 1 - squared L2 distance, best first.

        Raises:
            IndexSchemaMismatch: the graph has no vectors, or they have another dimension.
        """

    async def nearest_reports(
        self, vector: Sequence[float], k: int, *, max_level: int | None = None
    ) -> list[Neighbour]:
        """The `k` reports nearest to a vector by cosine, best first.

        With `max_level`, only reports of communities of that level or a coarser one.

        Raises:
            IndexSchemaMismatch: the graph has no vectors, or they have another dimension.
        """

    async def vectors(self, table: Embedded) -> dict[str, list[float]]:
        """All vectors of a table by id, for copying; empty if it has none."""

    async def ping(self) -> str:
        """Reach the store and return its name and version, for `doctor`."""

    async def aclose(self) -> None:
        """Release what the running event loop holds. Safe to call twice."""


class GraphIndex(GraphReader, Protocol):
    """A knowledge graph to search and to build. Writing the same thing twice changes nothing."""

    async def ensure(self, spec: IndexSpec) -> None:
        """Create the graph's tables if they are not there.

        Raises:
            IndexSchemaMismatch: they are there, for other embeddings or another dimension.
        """

    async def write(self, changes: GraphChanges) -> None:
        """Write and delete records.

        Raises:
            WriteFailed: some were refused; nothing dangles, and the write can be repeated.
        """
