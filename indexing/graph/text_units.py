"""Cutting documents into the text units that a knowledge graph is extracted from."""

from __future__ import annotations

from collections.abc import Sequence

from ragweave.indexing.document import LoadedDocument, Markup, digest
from ragweave.indexing.split import TokenCounter, split
from ragweave.stores.graph import GraphDocument, TextUnit

FILL = 0.7
"""Share of the greatest size that a text unit has at least, where the text lets it.

With 0.8 there are 5% fewer units, but an edit changes half as many again: any text of more than
2.1 units can be cut into units of at least 0.7, so that an edit further on makes no difference.
"""


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
    document: GraphDocument,
    count: TokenCounter,
    *,
    max_tokens: int,
    overlap: int,
    markup: Markup = "plain",
) -> list[TextUnit]:
    """The text units of a document in order, numbered from 0; equal text gives an equal id.

    Each costs a model call, so neighbouring sections share one as far as they fit.
    """
    spans = split(
        document.text, count, markup=markup, max_tokens=max_tokens, overlap=overlap, fill=FILL
    )
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
