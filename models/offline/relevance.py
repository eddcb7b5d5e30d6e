"""How well a text answers a question, judged without a language model.

The score adds two numbers: the share of the question's words that the text has, each weighted by
its rarity, and three quarters of the cosine of question and text (static word vectors). The cosine
alone says what a text is about and finds every chunk of a narrow corpus relevant; the words alone
miss what is said in other words. The constants were chosen on the demo questions, and hold on
others: see `docs/models.md` and `benchmarks/offline_grader.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragweave.models.offline.words import asks_nothing, key_words, stems, weights
from ragweave.models.static import static_model

COSINE_WEIGHT = 0.75
RELEVANT = 0.78
"""Score from which a text states at least part of an answer."""
PARTLY = 0.7
"""Score from which a text is about the subject."""


@dataclass(frozen=True, slots=True)
class Relevance:
    """Score of one text, and which of the question's words it has and lacks, rarest first."""

    score: float
    found: tuple[str, ...]
    missing: tuple[str, ...]


def relevance(question: str, texts: Sequence[str]) -> list[Relevance]:
    """Judge each text against the question; nothing is relevant where it asks nothing."""
    if asks_nothing(question):
        return [Relevance(0.0, (), ())] * len(texts)
    vectors = static_model().embed([question, *texts])
    cosines = vectors[1:] @ vectors[0]
    words = key_words(question)
    weight = weights(words)
    rarest = sorted(words, key=lambda stem: -weight[stem])
    total = sum(weight.values()) or 1
    judged = []
    for text, cosine in zip(texts, cosines, strict=True):
        had = stems(text)
        found = tuple(words[stem] for stem in rarest if stem in had)
        missing = tuple(words[stem] for stem in rarest if stem not in had)
        share = sum(weight[stem] for stem in words if stem in had)
        score = COSINE_WEIGHT * float(cosine) + share / total
        judged.append(Relevance(score, found, missing))
    return judged
