"""Embeddings that need no key, no server and no download."""

from __future__ import annotations

import asyncio

from langchain_core.embeddings import Embeddings

from ragweave.models.static import static_model


class OfflineEmbeddings(Embeddings):
    """Static word vectors (WordLlama, 256 dimensions, length 1), averaged over a text's tokens.

    They know what words mean, not what their order means; keyword search makes up for much of it.
    An empty text becomes a fixed vector that is close to no other.
    """

    ragweave_name = "offline"
    """What a context calls them; a vector store keeps it with an index that it makes."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts."""
        return static_model().embed(texts).tolist()  # type: ignore[no-any-return]

    def embed_query(self, text: str) -> list[float]:
        """Embed a query, in the same way as a document."""
        return self.embed_documents([text])[0]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts in a thread."""
        return await asyncio.to_thread(self.embed_documents, texts)

    async def aembed_query(self, text: str) -> list[float]:
        """Embed a query in a thread."""
        return await asyncio.to_thread(self.embed_query, text)
