"""Indexes behind one contract: LanceDB, Weaviate, any LangChain retriever."""

import os

from ragweave.stores.registry import open_index, register

__all__ = ["open_index", "register"]

# LanceDB and Arrow read these when they are imported, which only modules of this package do.
os.environ.setdefault("LANCEDB_LOG", "error")
os.environ.setdefault("LANCE_DEFAULT_BATCH_SIZE", "2048")  # rows; its 8,192 take memory
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # its own gives no memory back
