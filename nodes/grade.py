"""Grading documents against the question: one call each, or one call for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.runtime import Runtime

from ragweave.models.calls import ask_structured
from ragweave.models.prompt import (
    document_section,
    documents_section,
    prompt,
    question_section,
)
from ragweave.models.schemas import DocumentGrade, DocumentGrades
from ragweave.nodes.events import emit, failed
from ragweave.nodes.verdict import salvage_grade
from ragweave.state.context import context_of
from ragweave.state.crag import CragContext, CragState, Grade, GradeTask
from ragweave.state.errors import CallFailed
from ragweave.state.records import Passage, Source


def passage_of(source: Source) -> Passage:
    """What a grader is shown of a source."""
    return Passage(id=source["id"], title=source["title"], text=source["text"])


async def grade_document(state: GradeTask, runtime: Runtime[CragContext]) -> dict[str, Any]:
    """Grade one document; a call that fails leaves it ungraded and the run goes on."""
    context = context_of(state, runtime.context, CragContext)
    document = state["document"]
    question = question_section(state["search_question"])
    try:
        reply = await ask_structured(
            DocumentGrade,
            prompt(context.grade_prompt, document_section(document), question),
            model=context.hidden_model,
            stage="grade",
            state=state,
            context=context,
            salvage=salvage_grade,
        )
    except CallFailed as failure:
        grades = [_ungraded(document, str(failure))]
        return {
            **_announced(state, runtime, [document], grades),
            **failed(state, runtime, failure),
        }
    grade = Grade(source_id=document["id"], verdict=reply.value.verdict, reason=reply.value.reason)
    return {**_announced(state, runtime, [document], [grade]), "usage": reply.usage}


async def grade_documents(state: CragState, runtime: Runtime[CragContext]) -> dict[str, Any]:
    """Grade all retrieved documents in one call."""
    return await _grade_together(state, runtime, state["documents"])


async def grade_web_results(state: CragState, runtime: Runtime[CragContext]) -> dict[str, Any]:
    """Grade the web results that have no grade yet, in one call."""
    graded = {grade["source_id"] for grade in state["grades"]}
    results = [source for source in state["web_results"] if source["id"] not in graded]
    return await _grade_together(state, runtime, results)


async def _grade_together(
    state: CragState, runtime: Runtime[CragContext], documents: Sequence[Source]
) -> dict[str, Any]:
    if not documents:
        return {}
    context = context_of(state, runtime.context, CragContext)
    question = question_section(state["search_question"])
    try:
        reply = await ask_structured(
            DocumentGrades,
            prompt(context.grade_prompt, documents_section(documents), question),
            model=context.hidden_model,
            stage="grade",
            state=state,
            context=context,
        )
    except CallFailed as failure:
        grades = [_ungraded(document, str(failure)) for document in documents]
        return {
            **_announced(state, runtime, documents, grades),
            **failed(state, runtime, failure),
        }
    given = {grade.number: grade for grade in reply.value.grades}
    grades = [
        Grade(source_id=document["id"], verdict=grade.verdict, reason=grade.reason)
        if (grade := given.get(number))
        else _ungraded(document, "The grader left it out.")
        for number, document in enumerate(documents, 1)
    ]
    return {**_announced(state, runtime, documents, grades), "usage": reply.usage}


def _ungraded(document: Passage, reason: str) -> Grade:
    return Grade(source_id=document["id"], verdict="ungraded", reason=reason)


def _announced(
    state: Mapping[str, Any],
    runtime: Runtime[Any],
    documents: Sequence[Passage],
    grades: list[Grade],
) -> dict[str, Any]:
    for document, grade in zip(documents, grades, strict=True):
        emit(
            state,
            runtime,
            "graded",
            id=grade["source_id"],
            title=document["title"],
            grade=grade["verdict"],
            reason=grade["reason"],
        )
    return {"grades": grades}
