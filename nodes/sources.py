"""Sources: from search hits, numbered for a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, time
from typing import Any

from ragweave.nodes.tracing import TRACED_CHARACTERS
from ragweave.state.records import Source
from ragweave.stores.base import Hit


def source_of(hit: Hit) -> Source:
    """A hit as a source that has no number yet."""
    chunk = hit.chunk
    return Source(
        number=0,
        id=chunk.id,
        document_id=chunk.document_id,
        text=chunk.text,
        title=chunk.title,
        url=chunk.url,
        path=chunk.path,
        page=chunk.page,
        start=chunk.start,
        end=chunk.end,
        score=hit.score,
        score_kind=hit.kind,
        metadata=plain(chunk.metadata),
    )


def plain(value: Any) -> Any:
    """A value as plain data, which survives any checkpointer: retrievers bring objects too."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # arrays and numbers of numpy
        return plain(value.tolist())
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return value.isoformat() if isinstance(value, date | time) else str(value)


def numbered(sources: Iterable[Source]) -> list[Source]:
    """Copies numbered from 1 in the order given, each id once."""
    unique: dict[str, Source] = {}
    for source in sources:
        unique.setdefault(source["id"], source)
    return [{**source, "number": number} for number, source in enumerate(unique.values(), 1)]


def traced_documents(sources: Iterable[Source] | None) -> list[dict[str, Any]]:
    """Sources as LangSmith shows the documents of a retriever run, long texts trimmed.

    A search that failed gives it None.
    """
    return [
        {
            "type": "Document",
            "page_content": source["text"][:TRACED_CHARACTERS],
            "metadata": {name: source[name] for name in ("id", "title", "path", "url", "score")},
        }
        for source in sources or ()
    ]
