"""Asking a person: a pause with a schema for the answer, and asking again where it does not fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from langgraph.types import interrupt
from pydantic import BaseModel, ValidationError

from ragweave.state.context import problems_in
from ragweave.state.errors import InvalidSetting

AnswerT = TypeVar("AnswerT", bound=BaseModel)

MAX_TIMES = 10


def ask_person(
    asked: Mapping[str, Any],
    schema: type[AnswerT],
    problem_of: Callable[[AnswerT], str | None] = lambda answer: None,
) -> AnswerT:
    """Pause the run until a person has answered in the form of `schema`.

    An answer of another form, or one that `problem_of` finds fault with, is asked for again, with
    the fault as `problem` beside what was asked. To be called first in a node: when the run goes
    on, the node starts anew.

    Raises:
        InvalidSetting: ten answers did not fit.
    """
    problem: str | None = None
    for _ in range(MAX_TIMES):
        question = {**asked, "problem": problem} if problem else dict(asked)
        # As a dict LangGraph shows the schema and leaves the checking to us.
        given = interrupt(question, response_schema=schema.model_json_schema())
        try:
            answer = schema.model_validate(given)
        except ValidationError as error:
            problem = problems_in(error)
            continue
        problem = problem_of(answer)
        if problem is None:
            return answer
    raise InvalidSetting(f"{MAX_TIMES} answers did not fit. {problem}")
