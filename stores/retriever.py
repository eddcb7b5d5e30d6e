"""Any LangChain retriever as an index for searching: it brings texts, and that is all.

It has no vectors, filters, parents or documents of its own, and cannot be written to.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, NoReturn

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from ragweave.state.errors import (
    IndexFailure,
    IndexSchemaMismatch,
    IndexTimeout,
    IndexUnavailable,
    InvalidSetting,
    RagweaveError,
)
from ragweave.stores.base import (
    Chunk,
    DocumentRecord,
    Filters,
    Hit,
    IndexSpec,
    Parent,
    SearchSpec,
    WriteReport,
)
from ragweave.stores.documents import to_chunk

READ_SECONDS = 60.0

_REMEMBERED = 10_000
_SCORES = ("score", "relevance_score", "similarity_score")


class RetrieverIndex:
    """A retriever behind the index contract; `docs/stores.md` has the table of what then happens.

    Chunks keep the ids of their documents, or get ids made from source and content, so that the
    same text has the same id in every search. `get` knows the chunks that searches have brought.
    """

    def __init__(
        self, retriever: BaseRetriever, *, name: str = "retriever", timeout: float = READ_SECONDS
    ) -> None:
        """`timeout` is the longest that one search may take, in seconds."""
        self.name = name
        self._retriever = retriever
        self._timeout = timeout
        self._seen: OrderedDict[str, Chunk] = OrderedDict()

    # --- searching ----------------------------------------------------------------------------

    async def search(self, spec: SearchSpec) -> list[Hit]:
        """Ask the retriever for the text, in its own order, whatever the mode."""
        if spec.filters:
            raise IndexSchemaMismatch(
                f"{self.name} is a LangChain retriever and cannot filter. Leave the filters out, "
                "or give them to the retriever itself."
            )
        if not spec.text:
            raise InvalidSetting(f"{self.name} is a LangChain retriever: it needs a text.")
        documents = await self._retrieve(spec.text)
        chunks = {chunk.id: chunk for chunk in map(to_chunk, documents)}
        self._remember(chunks)
        return [
            Hit(chunk, _score(chunk.metadata, rank), "retriever", rank)
            for rank, chunk in enumerate(list(chunks.values())[: max(spec.k, 0)], start=1)
        ]

    async def search_many(self, specs: Sequence[SearchSpec]) -> list[list[Hit]]:
        """Several searches at the same time."""
        return list(await asyncio.gather(*map(self.search, specs)))

    async def get(self, ids: Sequence[str], *, vectors: bool = False) -> list[Chunk]:
        """Chunks that earlier searches brought, without vectors."""
        return [self._seen[id] for id in ids if id in self._seen]

    # --- what a retriever does not have -------------------------------------------------------

    async def ensure(self, spec: IndexSpec) -> None:
        """Refused: a retriever cannot be written to."""
        self._refuse_writing()

    async def spec(self) -> IndexSpec | None:
        """Of no dimension and no embeddings: a retriever embeds for itself, if it does."""
        return IndexSpec(dimension=0, embeddings="")

    async def upsert(self, chunks: Sequence[Chunk]) -> WriteReport:
        """Refused: a retriever cannot be written to."""
        self._refuse_writing()

    async def upsert_parents(self, parents: Sequence[Parent]) -> WriteReport:
        """Refused: a retriever cannot be written to."""
        self._refuse_writing()

    async def upsert_documents(self, documents: Sequence[DocumentRecord]) -> WriteReport:
        """Refused: a retriever cannot be written to."""
        self._refuse_writing()

    async def delete(
        self, *, ids: Sequence[str] | None = None, filters: Filters | None = None
    ) -> None:
        """Refused: a retriever cannot be written to."""
        self._refuse_writing()

    async def delete_documents(self, ids: Sequence[str]) -> None:
        """Refused: a retriever cannot be written to."""
        self._refuse_writing()

    async def delete_parents(self, ids: Sequence[str] | None = None) -> None:
        """Refused: a retriever cannot be written to."""
        self._refuse_writing()

    async def parents(self, ids: Sequence[str]) -> list[Parent]:
        """Nothing: chunks of a retriever have no parents."""
        return []

    async def get_documents(self, ids: Sequence[str]) -> list[DocumentRecord]:
        """Nothing: a retriever keeps no records of documents."""
        return []

    async def chunks_of(self, document_ids: Sequence[str]) -> AsyncIterator[Chunk]:
        """Refused: a retriever cannot list what it holds."""
        self._refuse_listing()
        yield

    async def documents(self, path: str | None = None) -> AsyncIterator[DocumentRecord]:
        """Refused: a retriever cannot list what it holds."""
        self._refuse_listing()
        yield

    async def scan(self, *, vectors: bool = True) -> AsyncIterator[list[Chunk]]:
        """Refused: a retriever cannot list what it holds."""
        self._refuse_listing()
        yield

    async def scan_parents(self) -> AsyncIterator[list[Parent]]:
        """Refused: a retriever cannot list what it holds."""
        self._refuse_listing()
        yield

    async def count(self) -> int:
        """Refused: a retriever cannot list what it holds."""
        self._refuse_listing()

    async def optimize(self) -> None:
        """Nothing to do."""

    async def ping(self) -> str:
        """The retriever's class; it is not asked anything."""
        return f"LangChain retriever {type(self._retriever).__name__}"

    async def aclose(self) -> None:
        """Nothing to do: whoever made the retriever closes it."""

    # --- within -------------------------------------------------------------------------------

    async def _retrieve(self, text: str) -> list[Document]:
        try:
            async with asyncio.timeout(self._timeout):
                return await self._retriever.ainvoke(text)
        except TimeoutError as error:
            raise IndexTimeout(
                f"{self.name} did not answer within {self._timeout:g} s. Try again."
            ) from error
        except RagweaveError:
            raise
        except Exception as error:  # a retriever may raise anything
            raise IndexUnavailable(
                f"{self.name} failed: {type(error).__name__}: {error}. Try again."
            ) from error

    def _remember(self, chunks: Mapping[str, Chunk]) -> None:
        self._seen.update(chunks)
        while len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)

    def _refuse_writing(self) -> NoReturn:
        raise IndexFailure(
            f"{self.name} is a LangChain retriever and cannot be written to. "
            "Ingest into an index such as lance:PATH."
        )

    def _refuse_listing(self) -> NoReturn:
        raise IndexFailure(
            f"{self.name} is a LangChain retriever and cannot list what it holds. "
            "Use an index such as lance:PATH."
        )


def _score(metadata: Mapping[str, Any], rank: int) -> float:
    """The score that the retriever left in the metadata, or one that falls with the rank."""
    for key in _SCORES:
        if isinstance(value := metadata.get(key), int | float) and not isinstance(value, bool):
            return float(value)
    return 1 / rank
