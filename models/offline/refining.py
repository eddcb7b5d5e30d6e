"""How the offline model refines what it quoted before with sentences of further sources."""

from __future__ import annotations

from collections.abc import Sequence

from ragweave.models.offline.gathering import cited_sentences
from ragweave.models.offline.quoting import MAX_SENTENCES, quote_answer
from ragweave.models.offline.relevance import relevance
from ragweave.models.offline.sections import all_of, question_of
from ragweave.models.offline.words import is_cjk
from ragweave.models.prompt import Section
from ragweave.models.schemas import Refinement

WORTH_ADDING = 0.9
"""Share of the best earlier sentence's score that a further one must have."""


def refine_answer(sections: Sequence[Section]) -> Refinement:
    """The earlier answer and the sentences of the new sources that answer about as well."""
    question = question_of(sections)
    earlier = [
        text for answer in all_of(sections, "answer") for text in cited_sentences(answer.text)
    ]
    asked = [section for section in sections if section.tag != "answer"]
    found = cited_sentences(quote_answer(asked))
    if earlier and found:
        scores = [item.score for item in relevance(question, [*earlier, *found])]
        least = WORTH_ADDING * max(scores[: len(earlier)])
        further = zip(found, scores[len(earlier) :], strict=True)
        found = [text for text, score in further if score >= least]
    found = found[: max(0, MAX_SENTENCES - len(earlier))]
    if not found:
        return Refinement(adds=False)
    space = "" if is_cjk(found[0]) else " "
    return Refinement(adds=True, answer=space.join([*earlier, *found]))
