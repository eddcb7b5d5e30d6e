"""Which sources an answer cites, by which words, and where they stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragweave.state.brief import BriefAnswer
    from ragweave.state.records import Citation, Source


def cited_sources(output: Mapping[str, Any]) -> list[Source]:
    """The sources that the answer of an output cites, by number."""
    numbers = {citation["number"] for citation in output["citations"]}
    return [source for source in output["sources"] if source["number"] in numbers]


def quoting(output: Mapping[str, Any], source: Source) -> list[Citation]:
    """The citations of one source, each quote once."""
    quoted = {
        citation["quote"]: citation
        for citation in output["citations"]
        if citation["source_id"] == source["id"]
    }
    return list(quoted.values())


def place(source: Source) -> str:
    """Where a source stands: title, path or address, and page."""
    where = source["url"] or source["path"]
    parts = [source["title"], where if where != source["title"] else None]
    if source["page"] is not None:
        parts.append(f"p. {source['page']}")
    return ", ".join(part for part in parts if part) or source["id"]


def in_brief(output: Mapping[str, Any]) -> BriefAnswer:
    """An output without the texts that were read: what it says, and the quotes that it rests on."""
    return {
        "answer": output["answer"],
        "status": output["status"],
        "sources": [
            {
                "number": source["number"],
                "place": place(source),
                "quotes": [c["quote"] for c in quoting(output, source) if c["quote"]],
            }
            for source in cited_sources(output)
        ],
        "warnings": output["warnings"],
    }
