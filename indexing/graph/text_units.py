"""Cutting documents into the text units that a knowledge graph is extracted from."""

from __future__ import annotations

from collections.abc import Sequence

from ragweave.indexing.document import LoadedDocument, digest
from ragweave.indexing.split import TokenCounter, split
from ragweave.stores.graph import GraphDocument, TextUnit


def graph_document(document: LoadedDocument, number: int, *settings: object) -> GraphDocument:
    """A loaded document as a record; `settings` are those that its text units depend on."""
    content = document.content
    known = {"path": document.path, "url": content.url}
    return GraphDocument(
        id=document.id,
        number=number,
        title=content.title or document.path or document.id,
        text=content.text,
        content_hash=document.content_hash(*settings),
        metadata={name: value for name, value in known.items() if value},
    )


def cut_text_units(
    document: GraphDocument, count: TokenCounter, *, max_tokens: int, overlap: int
) -> list[TextUnit]:
    """The text units of a document in order, numbered from 0; equal text gives an equal id."""
    spans = split(document.text, count, max_tokens=max_tokens, overlap=overlap)
    texts = [document.text[span.start : span.end] for span in spans]
    sizes: Sequence[int] = count(texts) if texts else []
    return [
        TextUnit(
            id=digest(document.id, str(span.start), text),
            number=number,
            text=text,
            tokens=size,
            document_id=document.id,
            start=span.start,
        )
        for number, (span, text, size) in enumerate(zip(spans, texts, sizes, strict=True))
    ]
