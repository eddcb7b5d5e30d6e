"""What the offline model answers in DRIFT search: quotations, scored by how alike they are."""

from __future__ import annotations

from collections.abc import Sequence

from ragweave.models.drift_schemas import LocalAnswer, PrimerAnswer
from ragweave.models.offline.quoting import NOTHING_FOUND, NOTHING_FOUND_ZH, quote_answer
from ragweave.models.offline.relevance import relevance
from ragweave.models.offline.sections import all_of, question_of, shown_text
from ragweave.models.prompt import Section


def prime(sections: Sequence[Section]) -> PrimerAnswer:
    """Quote the reports; no follow-up can be made up."""
    answer, score = _quoted(sections)
    return PrimerAnswer(intermediate_answer=answer, score=score, follow_up_queries=[])


def search_locally(sections: Sequence[Section]) -> LocalAnswer:
    """Quote the records; no follow-up can be made up."""
    answer, score = _quoted(sections)
    return LocalAnswer(response=answer, score=score, follow_up_queries=[])


def _quoted(sections: Sequence[Section]) -> tuple[str, float]:
    """The sources' words on the question, and their similarity to it from 0 to 100."""
    answer = quote_answer(sections)
    if answer in (NOTHING_FOUND, NOTHING_FOUND_ZH):
        return answer, 0.0
    texts = [shown_text(source) for source in all_of(sections, "source")]
    best = max((item.score for item in relevance(question_of(sections), texts)), default=0.0)
    return answer, round(100 * min(max(best, 0.01), 1.0))
