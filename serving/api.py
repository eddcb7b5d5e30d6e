"""The Python face without `await`: for scripts and notebooks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ragweave.serving import blocking
from ragweave.serving.answer import Answer
from ragweave.serving.ingesting import aingest
from ragweave.serving.searching import asearch
from ragweave.serving.streaming import Approve, astream
from ragweave.serving.techniques import DEFAULT_TECHNIQUE

if TYPE_CHECKING:
    from uuid import UUID

    from langchain_core.documents import Document
    from langchain_core.messages import AnyMessage

    from ragweave.state.events import StepEvent
    from ragweave.state.ingest import IngestOutput
    from ragweave.state.records import Source


async def aask(
    question: str,
    *,
    technique: str = DEFAULT_TECHNIQUE,
    messages: Sequence[AnyMessage] = (),
    approve: Approve | None = None,
    run_id: UUID | None = None,
    **settings: Any,
) -> Answer:
    """Answer a question. Arguments and errors are those of `astream`."""
    stream = astream(
        question,
        technique=technique,
        messages=messages,
        approve=approve,
        run_id=run_id,
        **settings,
    )
    parts = [part async for part in stream if isinstance(part, Answer)]
    return parts[-1]


def ask(
    question: str,
    *,
    technique: str = DEFAULT_TECHNIQUE,
    messages: Sequence[AnyMessage] = (),
    **settings: Any,
) -> Answer:
    """Answer a question, from synchronous code and notebooks. Like `aask` otherwise."""
    return blocking.run(aask(question, technique=technique, messages=messages, **settings))


def stream(
    question: str,
    *,
    technique: str = DEFAULT_TECHNIQUE,
    messages: Sequence[AnyMessage] = (),
    **settings: Any,
) -> Iterator[StepEvent | Answer]:
    """The steps of a question as they happen, then the answer. Like `astream` otherwise."""
    return blocking.iterate(astream(question, technique=technique, messages=messages, **settings))


def search(query: str, **settings: Any) -> list[Source]:
    """Search an index, from synchronous code and notebooks. Like `asearch` otherwise."""
    return blocking.run(asearch(query, **settings))


def ingest(
    *paths: str | os.PathLike[str], documents: Iterable[Document] = (), **settings: Any
) -> IngestOutput:
    """Ingest files, folders and documents, from synchronous code and notebooks. Like `aingest`."""
    return blocking.run(aingest(*paths, documents=documents, **settings))
