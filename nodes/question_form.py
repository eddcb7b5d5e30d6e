"""What a question asks for, by its form alone: its words of asking, not its subject.

English and Chinese. A question in any other language is `narrow`.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Form = Literal["broad", "document", "relation", "many_sided", "narrow"]


class QuestionForm(NamedTuple):
    """The form of a question, and the words that show it (empty for `narrow`)."""

    form: Form
    shown_by: str


_ASKING = "(?:what|who|whom|whose|which|when|where|why|how)"
_ZH_ASKING = re.compile(r"什么|哪|谁|多少|多久|多长|几|如何|怎|为何|是否|何时|何地|吗")
_ZH_CLAUSE = re.compile(r"[，,；;？?。]")

_PATTERNS: tuple[tuple[Form, str], ...] = (
    (
        "broad",
        r"\b(?:themes?|trends?|overview|big picture|takeaways|lessons|evolve[sd]?|evolution"
        r"|overall|as a whole|in general|over time|history of)\b"
        r"|\bhow (?:do|does|did|has|have|is|are|was|were)\b.*"
        r"\b(?:chang(?:e|es|ed|ing)|transform(?:s|ed)?|shaped?|influenced?|affect(?:s|ed)?)\b"
        r"|主题|趋势|演变|演进|沿革|发展历程|来龙去脉|总体|整体上|概况|综述"
        r"|(?:如何|怎样|怎么)[^？?]*(?:变化|影响|改变)",
    ),
    (
        "document",
        r"\b(?:summari[sz]e|summary|outline|walk (?:me|us) through|in (?:full |more )?detail"
        r"|explain|describe)\b"
        r"|总结|概括|归纳|概述|详细|详述|介绍一下|全文",
    ),
    (
        "relation",
        r"\b(?:relat(?:ed|es?) to|(?:relation|relationship|connection|link)s? between"
        r"|connected (?:to|with)|linked (?:to|with))\b"
        r"|[和与跟同][^，？?]{1,30}(?:关系|联系|关联)",
    ),
    (
        "many_sided",
        rf"(?<=.)\band (?:also )?(?:[a-z]+ )?{_ASKING}\b|\?.*\?"
        r"|\b(?:compared?|comparison|contrast|versus|vs\.?)(?=\s)|\bdiffer(?:s|ent|ences?)?\b"
        r"|\bboth\b(?=.*\band\b)"
        r"|分别|各[是有为]|区别|不同|异同|相比|对比",
    ),
)
"""By form, the broadest first, what shows it."""
_COMPILED = [(form, re.compile(pattern, re.I | re.S)) for form, pattern in _PATTERNS]


def question_form(question: str) -> QuestionForm:
    """The form of a question; of several the broadest."""
    for form, pattern in _COMPILED:
        if shown := pattern.search(question):
            return QuestionForm(form, " ".join(shown[0].split()))
    asking = [clause for clause in _ZH_CLAUSE.split(question) if _ZH_ASKING.search(clause)]
    if len(asking) > 1:
        return QuestionForm("many_sided", "，".join(clause.strip() for clause in asking))
    return QuestionForm("narrow", "")
