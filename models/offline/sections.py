"""Finding things among the sections of a prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragweave.models.prompt import Section


def all_of(sections: Sequence[Section], tag: str) -> list[Section]:
    """Every section of that tag, nested ones included, in order."""
    return list(_walk(sections, tag))


def question_of(sections: Sequence[Section]) -> str:
    """The question's text; empty if there is none."""
    return next((section.text for section in _walk(sections, "question")), "")


def shown_text(section: Section) -> str:
    """Title and text of a document or source."""
    title = section.attributes.get("title")
    return f"{title}\n{section.text}" if title else section.text


def _walk(sections: Sequence[Section], tag: str) -> Iterator[Section]:
    for section in sections:
        if section.tag == tag:
            yield section
        yield from _walk(section.children, tag)
