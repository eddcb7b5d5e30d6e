"""Embeddings that count what they are asked for, and vectors that need no model."""

from __future__ import annotations

import hashlib

from langchain_core.embeddings import Embeddings


class CountingEmbeddings(Embeddings):
    """Vectors by hash of the text, and every text that was embedded, in order."""

    def __init__(self, dimension: int = 16) -> None:
        self.dimension = dimension
        self.texts: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector a text, never all zeros."""
        self.texts += texts
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """The vector of one text; not counted."""
        digest = hashlib.blake2b(text.encode(), digest_size=self.dimension).digest()
        return [byte / 255 + 0.01 for byte in digest]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """As `embed_documents`."""
        return self.embed_documents(texts)

    async def aembed_query(self, text: str) -> list[float]:
        """As `embed_query`."""
        return self.embed_query(text)
