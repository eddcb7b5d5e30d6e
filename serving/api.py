"""The Python face: ask and search, awaited or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ragweave.serving import blocking
from ragweave.serving.answer import Answer
from ragweave.serving.search import asearch
from ragweave.serving.stream import Approve, astream
from ragweave.serving.techniques import DEFAULT_TECHNIQUE

if TYPE_CHECKING:
    from langchain_core.messages import AnyMessage

    from ragweave.state.records import Source


async def aask(
    question: str,
    *,
    technique: str = DEFAULT_TECHNIQUE,
    messages: Sequence[AnyMessage] = (),
    approve: Approve | None = None,
    **settings: Any,
) -> Answer:
    """Answer a question. Arguments and errors are those of `astream`."""
    stream = astream(question, technique=technique, messages=messages, approve=approve, **settings)
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


def search(query: str, **settings: Any) -> list[Source]:
    """Search an index, from synchronous code and notebooks. Like `asearch` otherwise."""
    return blocking.run(asearch(query, **settings))
