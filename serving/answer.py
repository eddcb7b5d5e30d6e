"""An answer as applications and notebooks get it: the output of a graph, and how it looks."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from ragweave.nodes.citations.cited import cited_sources, place, quoting

if TYPE_CHECKING:
    from ragweave.state.records import Citation, Source

QUOTED = (
    "Quoted from the documents, offline: no language model was used. Name a model for a written "
    "answer."
)
_MARKER = re.compile(r"\[(\d+)\]")
_STYLE = "margin-top:.6em;padding-top:.4em;border-top:1px solid #8884;font-size:90%"


class Answer(dict[str, Any]):
    """The fields of `ragweave.state.base.Output` and `technique`, as a dict.

    `print(answer)` shows the text and the sources it cites; Jupyter shows it with citations to
    click on.
    """

    @classmethod
    def of(cls, technique: str, state: Mapping[str, Any]) -> Answer:
        """The answer in the last state of a run. Where one was picked, that is its technique.

        Of DRIFT, `tree` holds the questions that it followed.
        """
        from ragweave.state.base import Output

        fields = {name: state.get(name) for name in Output.__annotations__}
        if actions := state.get("actions"):
            from ragweave.nodes.drift.tree import tree_of

            fields["tree"] = tree_of(actions)
        return cls(fields, technique=state.get("technique") or technique)

    @property
    def cited(self) -> list[Source]:
        """The sources that the answer cites, by number."""
        return cited_sources(self)

    def quotes(self, source: Source) -> list[Citation]:
        """The citations of one source, each quote once."""
        return quoting(self, source)

    @property
    def quoted(self) -> str | None:
        """A note that no language model wrote this answer, where it was put together of quotes."""
        return QUOTED if self["status"] != "no_evidence" and without_model(self) else None

    def __str__(self) -> str:
        lines = [
            self["answer"],
            *([self.quoted] if self.quoted else []),
            *(f"[{source['number']}] {place(source)}" for source in self.cited),
        ]
        return "\n".join([*lines, *(f"Warning: {warning}" for warning in self["warnings"])])

    def _repr_html_(self) -> str:
        key = f"rw-{uuid.uuid4().hex[:8]}"
        numbers = {source["number"] for source in self.cited}

        def link(match: re.Match[str]) -> str:
            number = int(match[1])
            return f'<a href="#{key}-{number}">[{number}]</a>' if number in numbers else match[0]

        answer = _MARKER.sub(link, escape(self["answer"])).replace("\n", "<br>")
        sources = "".join(self._source_html(source, key) for source in self.cited)
        warnings = "".join(f"<div>Warning: {escape(text)}</div>" for text in self["warnings"])
        note = f"<div>{escape(self.quoted)}</div>" if self.quoted else ""
        return f'<div>{answer}<div style="{_STYLE}">{note}{sources}{warnings}</div></div>'

    def _source_html(self, source: Source, key: str) -> str:
        name = escape(place(source))
        if is_web_address(source["url"]):
            href = escape(str(source["url"]))
            name = f'<a href="{href}" rel="noopener noreferrer" target="_blank">{name}</a>'
        quotes = "".join(
            f"<blockquote>{escape(citation['quote'])}</blockquote>"
            for citation in self.quotes(source)
            if citation["quote"]
        )
        return f'<div id="{key}-{source["number"]}">[{source["number"]}] {name}{quotes}</div>'


def without_model(answer: Mapping[str, Any]) -> bool:
    """Whether no language model had a part in an answer, be it as JSON or with messages."""
    messages = answer.get("messages") or ()
    if not messages:
        return False
    last = messages[-1]
    metadata = last["response_metadata"] if isinstance(last, Mapping) else last.response_metadata
    return bool(metadata.get("language_model") is False)


def cost(answer: Mapping[str, Any]) -> list[str]:
    """What an answer cost: calls and tokens, of a language model alone."""
    if without_model(answer):
        return ["no language model"]
    usage = answer["usage"]
    calls, tokens = usage["calls"], usage["input_tokens"] + usage["output_tokens"]
    return [f"{calls:,} model call{'' if calls == 1 else 's'}", f"{tokens:,} tokens"]


def is_web_address(url: str | None) -> bool:
    """Whether a link may be offered to click on: a document may name `javascript:` as its URL."""
    return url is not None and url.startswith(("https://", "http://"))
