"""What models are asked to answer in, as pydantic schemas. Field order is the order of writing."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field


class DocumentGrade(BaseModel):
    """Verdict on one document."""

    reason: str = Field(description="Why, in at most fifteen words.")
    verdict: Literal["relevant", "partly", "irrelevant"]


class NumberedGrade(DocumentGrade):
    """Verdict on one of several documents."""

    number: int = Field(description="Number of the document, as given.")


class DocumentGrades(BaseModel):
    """Verdicts on several documents."""

    grades: list[NumberedGrade] = Field(description="One for each document, in their order.")


class SearchQuery(BaseModel):
    """One query for a search engine."""

    query: str = Field(description="The query alone.")
    reason: str = Field(default="", description="What was changed, in at most fifteen words.")


class SearchQueries(BaseModel):
    """Several queries for a search engine."""

    reason: str = Field(default="", description="Why this kind, in at most fifteen words.")
    kind: Literal["paraphrase", "decompose"] = Field(
        default="paraphrase",
        description="Other angles on the question, or the sub-questions it is made of.",
    )
    queries: list[str] = Field(description="The queries alone.")


class StandaloneQuestion(BaseModel):
    """A question that can be understood without the conversation."""

    question: str


class Refinement(BaseModel):
    """An answer in the light of further sources."""

    adds: bool = Field(description="Whether the new sources add to the answer, or correct it.")
    answer: str = Field(
        default="",
        description="The whole new answer with its citations; empty if nothing is added.",
    )
