"""What models answer during DRIFT search. Field order is the order of writing.

Real models write the score as "85/100" or "high", and follow-ups as one string, as objects or not
at all: whatever can be understood is, and nothing of it makes an answer invalid.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import json_repair
from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_ANSWER_KEYS = ("intermediate_answer", "response", "answer", "text", "content")
_SHORTEST_PROSE = 12
"""Characters; what is shorter ("high", "N/A") is no answer."""
_QUERY_KEYS = ("query", "question", "follow_up_query", "text")


def read_score(value: Any) -> float | None:
    """A number from 0 to 100 in whatever was written; None where there is none."""
    match = _NUMBER.search(str(value)) if not isinstance(value, bool) else None
    return min(max(float(match[0]), 0.0), 100.0) if match else None


def read_text(value: Any) -> str:
    """Text in whatever was written: parts are put below each other."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return "\n".join(filter(None, map(read_text, value)))
    return "" if value is None else str(value).strip()


def read_queries(value: Any) -> list[str]:
    """Queries in whatever was written: a list of strings or objects, or one string of lines."""
    if isinstance(value, dict):
        named = [value[key] for key in _QUERY_KEYS if isinstance(value.get(key), str)]
        value = named[:1] or list(value.values())
    if isinstance(value, str):
        return [line for line in map(str.strip, value.splitlines()) if line]
    if isinstance(value, list):
        return [query for item in value for query in read_queries(item)]
    return []


Score = Annotated[float | None, BeforeValidator(read_score)]
Text = Annotated[str, BeforeValidator(read_text)]
Queries = Annotated[list[str], BeforeValidator(read_queries)]


class _Answer(BaseModel):
    """An answer whose text may stand under another name than the one asked for."""

    @model_validator(mode="before")
    @classmethod
    def _named_otherwise(cls, value: Any) -> Any:
        asked = next(iter(cls.model_fields))
        if not isinstance(value, dict) or asked in value:
            return value
        other = next((name for name in _ANSWER_KEYS if name in value), None)
        return value if other is None else {**value, asked: value[other]}


class PrimerAnswer(_Answer):
    """What some community reports say about a question, and what to ask next."""

    intermediate_answer: Text = Field(description="What the reports say, with their numbers.")
    score: Score = Field(default=None, description="How well that answers, from 0 to 100.")
    follow_up_queries: Queries = Field(
        default_factory=list, description="At least five, each asking one thing."
    )


class LocalAnswer(_Answer):
    """What the sources say about a follow-up question, and what to ask next."""

    response: Text = Field(description="What the sources say, with their numbers.")
    score: Score = Field(
        default=None, description="How far that answers the overall question, from 0 to 100."
    )
    follow_up_queries: Queries = Field(
        default_factory=list, description="What is still to be asked; each asks one thing."
    )


AnswerT = TypeVar("AnswerT", PrimerAnswer, LocalAnswer)


def salvage(schema: type[AnswerT]) -> Callable[[str], AnswerT | None]:
    """Reads what is not in the structure asked for: JSON cut off at its end, or prose."""

    def read(text: str) -> AnswerT | None:
        text = text.strip()
        value = json_repair.loads(text) if text.startswith(("{", "[", "`", '"')) else text
        if isinstance(value, list):
            value = next((item for item in value if isinstance(item, dict)), None)
        if isinstance(value, str) and len(value) >= _SHORTEST_PROSE:
            value = {next(iter(schema.model_fields)): value}
        try:
            return schema.model_validate(value) if isinstance(value, dict) else None
        except ValidationError:
            return None

    return read
