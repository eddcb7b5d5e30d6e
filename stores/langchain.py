"""LangChain's faces of an index: a `VectorStore` and a `BaseRetriever`, on any backend.

Both take an index by its string (`lance:PATH`) or as an object, and a LangChain `Embeddings`.
Their sync methods may be called anywhere, also where an event loop is running. Close them, or use
them in a `with` block.
"""

from __future__ import annotations

import uuid
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, TypeVar

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from pydantic import ConfigDict, Field, PrivateAttr

from ragweave.state.errors import IndexMissing
from ragweave.state.missing import no_index
from ragweave.stores.base import (
    Chunk,
    FieldType,
    Fusion,
    Hit,
    Index,
    IndexSpec,
    SearchMode,
    SearchSpec,
)
from ragweave.stores.documents import to_chunk, to_document
from ragweave.stores.loop_thread import LoopThread
from ragweave.stores.registry import open_index
from ragweave.stores.relevance import with_cosines
from ragweave.stores.search_options import (
    check_count,
    diverse_spec,
    refuse_unknown,
    search_spec,
)

T = TypeVar("T")


class RagweaveVectorStore(VectorStore):
    """An index as a LangChain vector store.

    Searches take `filter` (see `ragweave.stores.base.Filters`), and `mode`, `alpha` and `fusion`
    for keyword and hybrid search; a similarity search goes by vectors alone unless told otherwise.
    What does not exist or fit is refused with `InvalidSetting`.
    Relevance scores, and the `score_threshold` held against them, are cosines in every mode.
    """

    def __init__(
        self,
        index: str | Index,
        embedding: Embeddings,
        *,
        tenant: str | None = None,
        embeddings_name: str | None = None,
        fields: Mapping[str, FieldType] | None = None,
    ) -> None:
        """Open an index; it is made when the first texts are added.

        Args:
            index: index string, registered name, or an index object (which is not closed here).
            embedding: makes the vectors.
            tenant: whose index, if it is divided between tenants and given by its string.
            embeddings_name: kept with the index, to notice other embeddings; by default
                `offline` for `OfflineEmbeddings`, and the class's name for others. The name that
                a graph's context has for them lets graphs search the index too.
            fields: metadata fields to filter on, with their types, if the index is made here.
        """
        self._index = index
        self._embedding = embedding
        self._tenant = tenant
        self._embeddings_name = embeddings_name or _name_of(embedding)
        self._fields = dict(fields or {})
        self._thread = LoopThread()
        self._finalizer = weakref.finalize(self, self._thread.close)

    @property
    def embeddings(self) -> Embeddings:
        """The embeddings that make the vectors."""
        return self._embedding

    def close(self) -> None:
        """Close what was opened. Safe to call twice."""
        self._thread.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- writing ------------------------------------------------------------------------------

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """Add texts, replacing those of the same id; returns their ids."""
        refuse_unknown(kwargs)
        chunks = _chunks(list(texts), metadatas, ids)
        vectors = self._embedding.embed_documents([chunk.text for chunk in chunks])
        return self._thread.run(self._write(chunks, vectors))

    async def aadd_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """Add texts, replacing those of the same id; returns their ids."""
        refuse_unknown(kwargs)
        chunks = _chunks(list(texts), metadatas, ids)
        vectors = await self._embedding.aembed_documents([chunk.text for chunk in chunks])
        return await self._thread.arun(self._write(chunks, vectors))

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> bool:
        """Delete by id; everything if no ids are given."""
        refuse_unknown(kwargs)
        return self._thread.run(self._delete(ids))

    async def adelete(self, ids: list[str] | None = None, **kwargs: Any) -> bool:
        """Delete by id; everything if no ids are given."""
        refuse_unknown(kwargs)
        return await self._thread.arun(self._delete(ids))

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **kwargs: Any,
    ) -> Self:
        """A store with these texts added; `kwargs` are those of the constructor."""
        store = cls(embedding=embedding, **kwargs)
        store.add_texts(texts, metadatas, ids=ids)
        return store

    @classmethod
    async def afrom_texts(
        cls,
        texts: list[str],
        embedding: Embeddings,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        **kwargs: Any,
    ) -> Self:
        """A store with these texts added; `kwargs` are those of the constructor."""
        store = cls(embedding=embedding, **kwargs)
        await store.aadd_texts(texts, metadatas, ids=ids)
        return store

    # --- reading ------------------------------------------------------------------------------

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Documents by id, in the order asked for; unknown ids are left out."""
        return [to_document(chunk) for chunk in self._thread.run(self._get(ids))]

    async def aget_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Documents by id, in the order asked for; unknown ids are left out."""
        return [to_document(chunk) for chunk in await self._thread.arun(self._get(ids))]

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """The `k` best documents."""
        return [document for document, _ in self.similarity_search_with_score(query, k, **kwargs)]

    async def asimilarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """The `k` best documents."""
        found = await self.asimilarity_search_with_score(query, k, **kwargs)
        return [document for document, _ in found]

    def similarity_search_with_score(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """The `k` best documents with their scores; higher is better."""
        spec = search_spec(k, text=query, **kwargs)
        if spec.mode != "keyword":
            spec = replace(spec, vector=self._embedding.embed_query(query))
        return _scored(self._thread.run(self._search(spec)))

    async def asimilarity_search_with_score(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """The `k` best documents with their scores; higher is better."""
        spec = search_spec(k, text=query, **kwargs)
        if spec.mode != "keyword":
            spec = replace(spec, vector=await self._embedding.aembed_query(query))
        return _scored(await self._thread.arun(self._search(spec)))

    def similarity_search_by_vector(
        self, embedding: list[float], k: int = 4, **kwargs: Any
    ) -> list[Document]:
        """The `k` documents nearest to a vector."""
        hits = self._thread.run(self._search(search_spec(k, vector=embedding, **kwargs)))
        return [document for document, _ in _scored(hits)]

    async def asimilarity_search_by_vector(
        self, embedding: list[float], k: int = 4, **kwargs: Any
    ) -> list[Document]:
        """The `k` documents nearest to a vector."""
        hits = await self._thread.arun(self._search(search_spec(k, vector=embedding, **kwargs)))
        return [document for document, _ in _scored(hits)]

    def max_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[Document]:
        """Of the `fetch_k` best documents, `k` that are near the query and unlike each other."""
        vector = self._embedding.embed_query(query)
        return self.max_marginal_relevance_search_by_vector(
            vector, k, fetch_k, lambda_mult, **kwargs
        )

    async def amax_marginal_relevance_search(
        self, query: str, k: int = 4, fetch_k: int = 20, lambda_mult: float = 0.5, **kwargs: Any
    ) -> list[Document]:
        """Of the `fetch_k` best documents, `k` that are near the query and unlike each other."""
        vector = await self._embedding.aembed_query(query)
        return await self.amax_marginal_relevance_search_by_vector(
            vector, k, fetch_k, lambda_mult, **kwargs
        )

    def max_marginal_relevance_search_by_vector(
        self,
        embedding: list[float],
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        **kwargs: Any,
    ) -> list[Document]:
        """Of the `fetch_k` nearest documents, `k` that are unlike each other."""
        near = self._search_vectors(diverse_spec(embedding, k, fetch_k, lambda_mult, **kwargs))
        return _diverse(self._thread.run(near), embedding, k, lambda_mult)

    async def amax_marginal_relevance_search_by_vector(
        self,
        embedding: list[float],
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        **kwargs: Any,
    ) -> list[Document]:
        """Of the `fetch_k` nearest documents, `k` that are unlike each other."""
        near = self._search_vectors(diverse_spec(embedding, k, fetch_k, lambda_mult, **kwargs))
        return _diverse(await self._thread.arun(near), embedding, k, lambda_mult)

    def _similarity_search_with_relevance_scores(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        spec = search_spec(k, text=query, vector=self._embedding.embed_query(query), **kwargs)
        return self._thread.run(self._relevant(spec))

    async def _asimilarity_search_with_relevance_scores(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        spec = search_spec(
            k, text=query, vector=await self._embedding.aembed_query(query), **kwargs
        )
        return await self._thread.arun(self._relevant(spec))

    # --- on the index's own loop --------------------------------------------------------------

    async def _open(self) -> Index:
        if isinstance(self._index, str):
            return await open_index(self._index, tenant=self._tenant)
        return self._index

    async def _write(self, chunks: list[Chunk], vectors: list[list[float]]) -> list[str]:
        index = await self._open()
        if chunks:
            spec = IndexSpec(len(vectors[0]), self._embeddings_name, self._fields)
            await index.ensure(spec)
            embedded = zip(chunks, vectors, strict=True)
            await index.upsert([replace(chunk, vector=vector) for chunk, vector in embedded])
        return [chunk.id for chunk in chunks]

    async def _delete(self, ids: list[str] | None) -> bool:
        index = await self._open()
        await (index.delete(filters={}) if ids is None else index.delete(ids=ids))
        return True

    async def _get(self, ids: Sequence[str]) -> list[Chunk]:
        return await (await self._open()).get(ids)

    async def _search(self, spec: SearchSpec) -> list[Hit]:
        return await (await self._open()).search(spec)

    async def _relevant(self, spec: SearchSpec) -> list[tuple[Document, float]]:
        """Documents with their cosines; LangChain's relevance ends at 0, so less counts as 0."""
        index = await self._open()
        near = await with_cosines(index, await index.search(spec), spec.vector or [])
        return [(to_document(hit.chunk), max(0.0, cosine)) for hit, cosine in near]

    async def _search_vectors(self, spec: SearchSpec) -> list[Chunk]:
        index = await self._open()
        hits = await index.search(spec)
        return await index.get([hit.chunk.id for hit in hits], vectors=True)


class RagweaveRetriever(BaseRetriever):
    """An index as a LangChain retriever, so that a trace shows what was retrieved.

    Each document's metadata has `score` and `score_kind` besides. Unknown settings are refused, and
    an index that is not there raises `IndexMissing`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    index: Any
    """Index string, registered name, or an index object (which is not closed here)."""
    embeddings: Embeddings | None = None
    """Needed unless `mode` is `keyword`."""
    k: int = Field(default=4, ge=0)
    mode: SearchMode = "hybrid"
    alpha: float = Field(default=0.25, ge=0, le=1)
    fusion: Fusion = "relative"
    filters: dict[str, Any] = Field(default_factory=dict)
    score_threshold: float | None = Field(default=None, ge=-1, le=1)
    """Cosine to the question below which a document is left out, in every mode; needs
    `embeddings`."""
    tenant: str | None = None
    _thread: LoopThread = PrivateAttr(default_factory=LoopThread)

    def model_post_init(self, context: Any, /) -> None:
        """Have the loop end when this is no longer used."""
        if self.score_threshold is not None and self.embeddings is None:
            raise ValueError("A score_threshold is a cosine: give embeddings too.")
        weakref.finalize(self, self._thread.close)

    def close(self) -> None:
        """Close what was opened. Safe to call twice."""
        self._thread.close()

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        vector = self.embeddings.embed_query(query) if self.embeddings else None
        return self._thread.run(self._search(query, vector, k))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        vector = await self.embeddings.aembed_query(query) if self.embeddings else None
        return await self._thread.arun(self._search(query, vector, k))

    async def _search(
        self, query: str, vector: list[float] | None, k: int | None
    ) -> list[Document]:
        wanted = self.k if k is None else k
        check_count("k", wanted)
        index = self.index
        if isinstance(index, str):
            index = await open_index(index, tenant=self.tenant)
        spec = SearchSpec(
            text=query,
            vector=vector,
            mode=self.mode,
            k=wanted,
            alpha=self.alpha,
            fusion=self.fusion,
            filters=self.filters,
        )
        hits = await index.search(spec)
        if not hits and await index.spec() is None:  # a typo must not look like "nothing relevant"
            raise IndexMissing(no_index(index.name, self.tenant))
        if self.score_threshold is not None:
            near = await with_cosines(index, hits, vector or [])
            hits = [hit for hit, cosine in near if cosine >= self.score_threshold]
        return [to_document(hit.chunk, score=hit.score, score_kind=hit.kind) for hit in hits]


def _name_of(embedding: Embeddings) -> str:
    """The name that contexts know embeddings by, where they have one, else that of their class."""
    return str(getattr(embedding, "ragweave_name", type(embedding).__name__))


def _chunks(
    texts: list[str],
    metadatas: list[dict[str, Any]] | None,
    ids: Sequence[str | None] | None,
) -> list[Chunk]:
    known = ids or [None] * len(texts)
    documents = [
        Document(id=id or str(uuid.uuid4()), page_content=text, metadata=metadata)
        for text, metadata, id in zip(texts, metadatas or [{} for _ in texts], known, strict=True)
    ]
    return [to_chunk(document) for document in documents]


def _scored(hits: Sequence[Hit]) -> list[tuple[Document, float]]:
    return [(to_document(hit.chunk), hit.score) for hit in hits]


def _diverse(
    chunks: Sequence[Chunk], vector: list[float], k: int, lambda_mult: float
) -> list[Document]:
    import numpy as np
    from langchain_core.vectorstores.utils import maximal_marginal_relevance

    vectors = [list(chunk.vector or ()) for chunk in chunks]
    chosen = maximal_marginal_relevance(np.array(vector), vectors, lambda_mult, k)
    return [to_document(chunks[at]) for at in chosen]
