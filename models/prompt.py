"""Prompts: instructions in the system message, untrusted text as tagged data in the human one.

No template is ever filled in, so braces, markers or instructions in a question or document change
nothing. Inside the data, anything that looks like one of our tags is neutralised. `parse` reads a
prompt back; the offline model answers from what it finds there.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from ragweave.state.records import Passage, Source

_TAGS = (
    "question|sources|source|documents|document|tried|history|turn|language|answer|note"
    "|overall|limit|form"
)
_OUR_TAG = re.compile(rf"<(?=/?(?:{_TAGS})\b)", re.IGNORECASE)
_SECTION = re.compile(
    rf"^<({_TAGS})((?: \w+=\"[^\"]*\")*)>\n(.*?)\n</\1>$", re.DOTALL | re.MULTILINE
)
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Section:
    """One tagged piece of a prompt's data; `children` come after its text."""

    tag: str
    text: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: Sequence[Section] = ()

    def render(self) -> str:
        """The section as it stands in the prompt."""
        attributes = "".join(
            f' {name}="{html.escape(_one_line(value))}"' for name, value in self.attributes.items()
        )
        parts = [_OUR_TAG.sub("&lt;", self.text)] if self.text or not self.children else []
        parts += [child.render() for child in self.children]
        body = "\n".join(parts)
        return f"<{self.tag}{attributes}>\n{body}\n</{self.tag}>"


def prompt(instructions: str, *sections: Section | None) -> list[BaseMessage]:
    """Messages for one call: `instructions` as they are, then the sections that are not None."""
    data = "\n\n".join(section.render() for section in sections if section is not None)
    return [SystemMessage(instructions), HumanMessage(data)]


def question_section(question: str) -> Section:
    """The question, in the user's words."""
    return Section("question", question)


def sources_section(
    sources: Sequence[Source], excerpts: Mapping[str, str] | None = None
) -> Section:
    """Numbered sources; of those in `excerpts` (by source id) only that part of the text."""
    excerpts = excerpts or {}
    return Section(
        "sources",
        children=[
            Section(
                "source",
                excerpts.get(source["id"], source["text"]),
                {"number": str(source["number"]), **_named(source["title"])},
            )
            for source in sources
        ],
    )


def document_section(source: Passage) -> Section:
    """One document to judge."""
    return Section("document", source["text"], _named(source["title"]))


def documents_section(sources: Sequence[Source]) -> Section:
    """Documents to judge together, numbered from 1 in the order given."""
    return Section(
        "documents",
        children=[
            Section("document", source["text"], {"number": str(number), **_named(source["title"])})
            for number, source in enumerate(sources, 1)
        ],
    )


def tried_section(queries: Sequence[str]) -> Section | None:
    """Queries that were tried before and found nothing."""
    return Section("tried", "\n".join(queries)) if queries else None


def history_section(messages: Sequence[BaseMessage]) -> Section | None:
    """Earlier turns of the conversation, oldest first."""
    turns = [Section("turn", message.text, {"by": message.type}) for message in messages]
    return Section("history", children=turns) if turns else None


def language_section(language: str | None) -> Section | None:
    """The language to answer in, where it is not that of the question."""
    return Section("language", language) if language else None


def parse(text: str) -> list[Section]:
    """The sections of a rendered prompt, nested ones as children."""
    return [_parsed(*match.groups()) for match in _SECTION.finditer(text)]


def _parsed(tag: str, attributes: str, body: str) -> Section:
    values = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(attributes)}
    children = parse(body)
    return Section(tag, "" if children else _restored(body), values, children)


def _restored(text: str) -> str:
    return re.sub(rf"&lt;(?=/?(?:{_TAGS})\b)", "<", text, flags=re.IGNORECASE)


def _named(title: str | None) -> dict[str, str]:
    return {"title": title} if title else {}


def _one_line(value: str) -> str:
    return " ".join(value.split())
