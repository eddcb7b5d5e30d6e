"""What every technique takes and returns, and the part of the state that all of them share."""

from __future__ import annotations

from typing import Annotated, Any

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from pydantic import Field
from typing_extensions import TypedDict

from ragweave.state.records import Citation, Decision, Source, Status, Usage
from ragweave.state.reducers import Replaced, add_usage, append, append_unique

MAX_QUESTION_CHARACTERS = 32_000


Question = Annotated[
    str,
    Field(
        description="One complete question in the user's language, such as `Which ships need a "
        "pilot?`. It is answered by itself: name what it is about."
    ),
]


class Input(TypedDict, total=False):
    """A question, or a conversation whose last human message is the question."""

    question: Question
    messages: Annotated[
        list[AnyMessage],
        Field(description="Instead: a conversation whose last human message is the question."),
        add_messages,
    ]


class Output(TypedDict):
    """The same for every technique, so that one can be swapped for another by a string."""

    answer: str
    status: Status
    citations: list[Citation]
    invalid_markers: list[str]
    """Citation markers that named no source; they were removed from the answer."""
    sources: list[Source]
    """What the answering call saw, in its numbering; with `no_evidence`, what was looked at."""
    usage: Annotated[Usage, add_usage]
    warnings: Annotated[list[str], append_unique]
    messages: Annotated[list[AnyMessage], add_messages]
    structured_response: dict[str, Any] | None
    """`answer`, `status` and `citations` again, for agents that read only this key."""


class Shared(TypedDict, total=False):
    """State that carries over from node to node, and into every `Send`."""

    settings: dict[str, Any]
    """The context's values and the run's name, so that a resumed run goes on as it began."""
    usage: Annotated[Usage, add_usage]


def carried(state: Shared) -> Shared:
    """What every `Send` must carry so that its worker belongs to the same run."""
    return Shared(settings=state["settings"], usage=state["usage"])


class Draft(TypedDict):
    """The answer as the model wrote it, before its citations are verified."""

    text: str
    message_id: str
    """Id under which its tokens were streamed."""
    metadata: dict[str, Any]
    """The provider's metadata; the offline model says here that no language model was used."""
    partial: bool
    """The budget ended before the answer did."""


class RagState(Input, Shared, total=False):
    """The part of the state that all question-answering techniques share."""

    search_question: str
    """The question as searched for: condensed with the history when it is a follow-up."""
    draft: Draft
    answer: str
    status: Status
    citations: list[Citation]
    invalid_markers: list[str]
    sources: Annotated[list[Source], Replaced]
    excerpts: dict[str, str]
    """By source id, the part of its text that the prompt shows, where that is not all of it."""
    decisions: Annotated[list[Decision], append]
    warnings: Annotated[list[str], append_unique]
    structured_response: dict[str, Any] | None
