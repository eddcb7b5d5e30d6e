"""Naming the language that prompts ask for: models drift into English when it is left open."""

from __future__ import annotations

import re

from ragweave.models.prompt import Section, language_section
from ragweave.state.context import RagContext

_SCRIPTS = (
    ("Japanese", re.compile(r"[\u3040-\u30ff]")),
    ("Korean", re.compile(r"[\uac00-\ud7af\u1100-\u11ff]")),
    ("Chinese", re.compile(r"[\u3400-\u9fff]")),
    ("Arabic", re.compile(r"[\u0600-\u06ff]")),
    ("Hebrew", re.compile(r"[\u0590-\u05ff]")),
    ("Greek", re.compile(r"[\u0370-\u03ff]")),
    ("Hindi", re.compile(r"[\u0900-\u097f]")),
    ("Thai", re.compile(r"[\u0e00-\u0e7f]")),
)
"""Languages that a script tells, in the order of looking; Latin and Cyrillic tell none."""
SAME_AS_QUESTION = "the language of the question"
SAME_AS_DOCUMENT = "the language of the document"
LOOKED_AT = 2_000
"""Characters of a document by which its language is told."""


def answer_language(context: RagContext, question: str) -> str:
    """The language to write in: the context's, or the one that the question's script tells."""
    return context.language or _by_script(question) or SAME_AS_QUESTION


def named_language(context: RagContext, question: str) -> Section | None:
    """A prompt's section that names the language of an answer."""
    return language_section(answer_language(context, question))


def document_language(context: RagContext, text: str) -> Section | None:
    """A prompt's section that names the language of what is written about a document."""
    told = context.language or _by_script(text[:LOOKED_AT]) or SAME_AS_DOCUMENT
    return language_section(told)


def _by_script(text: str) -> str | None:
    return next((name for name, script in _SCRIPTS if script.search(text)), None)
