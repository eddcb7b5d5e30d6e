"""State and context of corrective RAG."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from ragweave.state.base import RagState, Shared
from ragweave.state.context import PickingContext, prompt_field
from ragweave.state.records import Passage, Source
from ragweave.state.reducers import Appended, Replaced, append

Verdict = Literal["relevant", "partly", "irrelevant", "ungraded"]
Action = Literal["correct", "incorrect", "ambiguous"]


class Grade(TypedDict):
    """Verdict on one document, with the grader's reason."""

    source_id: str
    verdict: Verdict
    reason: str


class CragState(RagState, total=False):
    """State of a CRAG run."""

    documents: Annotated[list[Source], Replaced]
    """Retrieved from the index, best first."""
    grades: Annotated[list[Grade], Appended]
    action: Action
    """What the grades call for: answer, search the web instead, or use both."""
    search_web: bool
    """Whether the web is to be searched; `decisions` says why or why not."""
    queries: Annotated[list[str], append]
    """Every query that was rewritten for the web, in order."""
    web_query: str
    web_results: Annotated[list[Source], Appended]
    """From the web, all searches together, graded below `grades` like documents."""


class GradeTask(Shared):
    """What one parallel grader is given. A checkpoint stores it twice, so no more than that."""

    search_question: str
    document: Passage


class CragContext(PickingContext):
    """Settings of CRAG."""

    grading: Literal["each", "batch"] = Field(
        default="each",
        description="Grade each document by a call of its own, in parallel, or all in one call.",
    )
    min_relevant: int = Field(
        default=1, ge=1, le=100, description="Relevant documents needed to answer from them alone."
    )
    refine: bool = Field(
        default=True, description="Show the model only the best strips of each document."
    )
    strip_sentences: int = Field(default=3, ge=1, le=20, description="Sentences in a strip.")
    top_strips: int = Field(default=5, ge=1, le=100, description="Strips kept, in reading order.")
    web_search: Literal["auto", "always", "never", "ask"] = Field(
        default="auto",
        description="Search the web when the documents do not suffice, always, never, or after a "
        "person has approved the query.",
    )
    search_web_when: Literal["paper", "any_irrelevant"] = Field(
        default="paper",
        description="paper: when too few documents are relevant. any_irrelevant: when one is not.",
    )
    web_results: int = Field(default=5, ge=1, le=20, description="Results of a web search.")
    max_rewrites: int = Field(
        default=2, ge=0, le=5, description="Most times the question is rewritten for the web."
    )
    grade_prompt: str = prompt_field("grade", "grade_document", "grade_documents")
    rewrite_prompt: str = prompt_field("rewrite", "rewrite_question")
