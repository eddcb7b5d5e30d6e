"""Indexes behind one contract: LanceDB, Weaviate, any LangChain retriever."""

from ragweave.stores.registry import open_index, register

__all__ = ["open_index", "register"]
