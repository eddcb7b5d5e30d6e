"""What the offline model fills in for each structure that it may be asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Literal

from pydantic import BaseModel

from ragweave.models.drift_schemas import LocalAnswer, PrimerAnswer
from ragweave.models.offline.drift import prime, search_locally
from ragweave.models.offline.expanding import expand_question
from ragweave.models.offline.refining import refine_answer
from ragweave.models.offline.relevance import PARTLY, RELEVANT, Relevance, relevance
from ragweave.models.offline.sections import all_of, question_of, shown_text
from ragweave.models.offline.words import is_cjk, is_small_talk, key_words, rarity
from ragweave.models.prompt import Section
from ragweave.models.schemas import (
    DocumentGrade,
    DocumentGrades,
    NumberedGrade,
    Refinement,
    SearchQueries,
    SearchQuery,
    StandaloneQuestion,
)

Sections = Sequence[Section]

_DEPENDENT = re.compile(
    r"\b(?:it|its|they|them|their|he|she|him|her|his|this|that|these|those|there|one|ones|former|"
    r"latter|same|else|another)\b|^(?:and|but|so|or|what about|how about|why)\b"
    r"|[它他她]|[这那]|其|该|上述|呢[？?]?$|^(?:那|还有|为什么)",
    re.IGNORECASE,
)
_SHORT_QUESTION = 3
"""Key words up to which a question in a conversation is taken to lean on what was said before."""


def grade_document(sections: Sections) -> DocumentGrade:
    """Grade the one document."""
    return _grades(question_of(sections), all_of(sections, "document"))[0]


def grade_documents(sections: Sections) -> DocumentGrades:
    """Grade each of the documents."""
    documents = all_of(sections, "document")
    grades = _grades(question_of(sections), documents)
    return DocumentGrades(
        grades=[
            NumberedGrade(number=number, **grade.model_dump())
            for number, grade in enumerate(grades, 1)
        ]
    )


def rewrite_query(sections: Sections) -> SearchQuery:
    """The key words of the question; for each query that found nothing, one fewer, rarest kept."""
    question = question_of(sections)
    tried = [query for section in all_of(sections, "tried") for query in section.text.splitlines()]
    words = list(key_words(question).values())
    if is_cjk(question) or not words:
        return SearchQuery(query=question.strip(), reason="The question as it is.")
    if not tried:
        return SearchQuery(query=" ".join(words), reason="The key words of the question.")
    kept = sorted(words, key=rarity, reverse=True)[: max(2, len(words) - len(tried))]
    query = " ".join(word for word in words if word in kept)
    return SearchQuery(query=query, reason="Fewer words, the rarest, since more found nothing.")


def stand_alone(sections: Sections) -> StandaloneQuestion:
    """The question, with the key words of the one before it if it leans on that."""
    question = question_of(sections).strip()
    earlier = [
        turn.text
        for turn in all_of(sections, "turn")
        if turn.attributes.get("by") == "human" and turn.text.strip()
    ]
    leans = _DEPENDENT.search(question) or len(key_words(question)) <= _SHORT_QUESTION
    if not earlier or not leans or is_small_talk(question):
        return StandaloneQuestion(question=question)
    return StandaloneQuestion(question=f"{question} ({earlier[-1].strip()})")


STRUCTURED: dict[str, Callable[[Sections], BaseModel]] = {
    DocumentGrade.__name__: grade_document,
    DocumentGrades.__name__: grade_documents,
    LocalAnswer.__name__: search_locally,
    PrimerAnswer.__name__: prime,
    Refinement.__name__: refine_answer,
    SearchQueries.__name__: expand_question,
    SearchQuery.__name__: rewrite_query,
    StandaloneQuestion.__name__: stand_alone,
}
"""By the name of the schema, what fills it in from the sections of a prompt."""


def _grades(question: str, documents: Sections) -> list[DocumentGrade]:
    judged = relevance(question, [shown_text(document) for document in documents])
    return [
        DocumentGrade(reason=_reason(question, item), verdict=_verdict(item)) for item in judged
    ]


def _verdict(judged: Relevance) -> Literal["relevant", "partly", "irrelevant"]:
    if judged.score >= RELEVANT:
        return "relevant"
    return "partly" if judged.score >= PARTLY else "irrelevant"


def _reason(question: str, judged: Relevance) -> str:
    covered = _covered(question, judged.found)
    found = _phrases(question, judged.found, set())
    missing = _phrases(question, judged.missing, covered)
    has = f"has {', '.join(found[:4])}" if found else "has none of its key words"
    lacks = f", lacks {', '.join(missing[:3])}" if missing and found else ""
    return f"Scores {judged.score:.2f}, relevant from {RELEVANT:.2f}: {has}{lacks}."


def _phrases(question: str, words: Sequence[str], covered: set[int]) -> list[str]:
    """The words, but of Chinese, whose words are pairs of characters, the phrases they make up."""
    pairs = {word for word in words if is_cjk(word)}
    places = _covered(question, pairs) - covered
    runs = "".join(char if at in places else "\n" for at, char in enumerate(question)).split("\n")
    return [word for word in words if word not in pairs] + [run for run in runs if len(run) > 1]


def _covered(question: str, words: Collection[str]) -> set[int]:
    """Places of the question's characters that belong to one of `words`."""
    spans = (match.span() for word in words for match in re.finditer(re.escape(word), question))
    return {at for start, end in spans for at in range(start, end)}
