"""The index contract that every backend keeps: LanceDB, Weaviate, or any LangChain retriever.

All calls are async, carry their own deadline, and raise only the index errors of
`ragweave.state.errors`. Writing the same thing twice changes nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from ragweave.state.context import DEFAULT_EMBEDDINGS
from ragweave.state.errors import IndexSchemaMismatch
from ragweave.state.records import ScoreKind

SearchMode = Literal["vector", "keyword", "hybrid"]
Fusion = Literal["relative", "rrf"]
FieldType = Literal["text", "int", "number", "bool", "date"]
Filters = Mapping[str, Any]
"""`{"field": value}`, `{"field": [values]}` or `{"field": {"$gte": 1, "$lt": 9}}`, all of which
must hold. Operators: `$eq $ne $in $nin $gt $gte $lt $lte`. Fields: `BUILT_IN_FIELDS` and those
declared in the index's spec; any other raises `IndexSchemaMismatch`."""

BUILT_IN_FIELDS = ("id", "document_id", "parent_id", "path")


@dataclass(frozen=True, slots=True)
class IndexSpec:
    """What an index is made for. Stored with it; opening it with another spec is an error."""

    dimension: int
    embeddings: str
    """Name of the embeddings that made the vectors, such as `offline` or `openai:MODEL`; empty if
    the index embeds for itself."""
    fields: Mapping[str, FieldType] = field(default_factory=dict)
    """Metadata fields that can be filtered on, by name."""

    def expect_embeddings(self, name: str, index: str) -> None:
        """Raise `IndexSchemaMismatch` if the index was made with other embeddings than `name`.

        An index that embeds for itself, such as a LangChain retriever, has none and fits any.
        """
        if not self.embeddings or name == self.embeddings:
            return
        advice = "Leave `embeddings` empty to use those, or ingest into another index."
        if self.embeddings != DEFAULT_EMBEDDINGS and ":" not in self.embeddings:
            advice = (
                "Leave `embeddings` empty and have those registered under that name "
                "(`ragweave.models.register`), or make the index with a name that a context "
                "knows (`embeddings_name=` of RagweaveVectorStore)."
            )
        raise IndexSchemaMismatch(
            f"{index} was made with embeddings {self.embeddings!r}, not {name!r}. {advice}"
        )


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document: what is embedded, searched and cited."""

    id: str
    document_id: str
    text: str
    vector: Sequence[float] | None = None
    """Needed by `upsert`; given back by `scan` and by `get(..., vectors=True)`."""
    title: str | None = None
    """Indexed for keyword search together with the text."""
    url: str | None = None
    path: str | None = None
    page: int | None = None
    start: int | None = None
    end: int | None = None
    parent_id: str | None = None
    """Retrieval unit that the chunk belongs to."""
    content_hash: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Any JSON; other values fail loudly, naming the key."""


@dataclass(frozen=True, slots=True)
class Parent:
    """A retrieval unit: documents that are read together."""

    id: str
    text: str
    title: str | None = None
    parts: Sequence[Mapping[str, Any]] = ()
    """Provenance: document_id, title, url, path, and the span in `text` of each part, in order."""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """One ingested document. Written after its chunks, so that its presence means complete."""

    id: str
    content_hash: str
    path: str | None = None
    title: str | None = None
    url: str | None = None
    chunks: int = 0
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result."""

    chunk: Chunk
    score: float
    """Higher is always better."""
    kind: ScoreKind
    """A `relative` score compares hits of one query only: its best hit always stands near 1."""
    rank: int
    """From 1."""


@dataclass(frozen=True, slots=True)
class SearchSpec:
    """One search. `text` is needed for keyword and hybrid, `vector` for vector and hybrid."""

    text: str | None = None
    vector: Sequence[float] | None = None
    mode: SearchMode = "hybrid"
    k: int = 8
    alpha: float = 0.25
    """Weight of the vector leg: 0 is keyword only, 1 vector only."""
    fusion: Fusion = "relative"
    filters: Filters = field(default_factory=dict)
    group_by_parent: bool = False
    """Return the best chunk of each of `k` PARENTS, not `k` chunks that may share one."""


@dataclass(frozen=True, slots=True)
class WriteReport:
    """What a write did: how many records are safely stored, and why others are not."""

    ok: int
    failed: Mapping[str, str] = field(default_factory=dict)


@runtime_checkable
class Index(Protocol):
    """An index of chunks, their parents and their documents. One tenant, one collection."""

    name: str
    """The string it was opened by, such as `lance:.ragweave/index`."""

    async def ensure(self, spec: IndexSpec) -> None:
        """Create the index if it is not there.

        Raises:
            IndexSchemaMismatch: it is there, for other embeddings, dimension or fields, or made
                with another version of the text analysis.
        """

    async def spec(self) -> IndexSpec | None:
        """What the index was made for; None if it does not exist."""

    async def upsert(self, chunks: Sequence[Chunk]) -> WriteReport:
        """Write chunks, replacing those of the same id. Large batches are split by the store.

        Raises:
            WriteFailed: some were refused; the others are stored.
        """

    async def upsert_parents(self, parents: Sequence[Parent]) -> WriteReport:
        """Write parents, replacing those of the same id."""

    async def upsert_documents(self, documents: Sequence[DocumentRecord]) -> WriteReport:
        """Write document records, replacing those of the same id."""

    async def search(self, spec: SearchSpec) -> list[Hit]:
        """Search; an empty or missing index finds nothing."""

    async def search_many(self, specs: Sequence[SearchSpec]) -> list[list[Hit]]:
        """Several searches at once, for fusion; results in the order of `specs`."""

    async def get(self, ids: Sequence[str], *, vectors: bool = False) -> list[Chunk]:
        """Chunks by id, in the order asked for; unknown ids are left out."""

    async def parents(self, ids: Sequence[str]) -> list[Parent]:
        """Parents by id, in the order asked for; unknown ids are left out."""

    def chunks_of(self, document_ids: Sequence[str]) -> AsyncIterator[Chunk]:
        """All chunks of some documents, with vectors, in no particular order."""

    def documents(self, path: str | None = None) -> AsyncIterator[DocumentRecord]:
        """Document records, ordered by id; only those at or below `path` if given."""

    async def get_documents(self, ids: Sequence[str]) -> list[DocumentRecord]:
        """Document records by id, in the order asked for; unknown ids are left out."""

    def scan(self, *, vectors: bool = True) -> AsyncIterator[list[Chunk]]:
        """Every chunk, in pages, ordered by id: for copying and regrouping."""

    def scan_parents(self) -> AsyncIterator[list[Parent]]:
        """Every parent, in pages, ordered by id."""

    async def delete(
        self, *, ids: Sequence[str] | None = None, filters: Filters | None = None
    ) -> None:
        """Delete chunks by id or by filter."""

    async def delete_documents(self, ids: Sequence[str]) -> None:
        """Delete documents with all their chunks. Interrupted, it can be repeated."""

    async def delete_parents(self, ids: Sequence[str] | None = None) -> None:
        """Delete parents by id, or all of them."""

    async def count(self) -> int:
        """Number of chunks; 0 if the index does not exist."""

    async def optimize(self) -> None:
        """Build or refresh search structures and drop old versions. Ingest calls it; never a query.

        A store that does this by itself returns at once.
        """

    async def ping(self) -> str:
        """Reach the store and return its name and version, for `doctor`."""

    async def aclose(self) -> None:
        """Release connections of the running event loop. Safe to call twice."""
