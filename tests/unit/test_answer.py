"""How an answer looks in a terminal and in a notebook."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any, cast

import pytest
from langchain_core.messages import AIMessage

from ragweave.nodes.citations.cited import place
from ragweave.serving.answer import QUOTED, Answer, is_web_address
from ragweave.state.records import Citation, Source


def source(number: int, **fields: Any) -> Source:
    given = {"number": number, "id": f"s{number}", "text": "", **fields}
    return cast("Source", {**dict.fromkeys(Source.__annotations__), **given})


def citation(number: int | None, quote: str | None) -> Citation:
    return Citation(
        number=number,
        source_id=None if number is None else f"s{number}",
        sentence="A sentence.",
        quote=quote,
        start=0,
        end=9,
        status="grounded" if quote else "missing",
    )


def answer(text: str, sources: list[Source], citations: list[Citation]) -> Answer:
    state = {"answer": text, "sources": sources, "citations": citations, "warnings": []}
    return Answer.of("crag", state)


class Tags(HTMLParser):
    """Every tag with its attributes, and all text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def test_it_prints_the_text_and_the_sources_it_cites() -> None:
    shown = answer(
        "Pilots board early [2].",
        [source(1, title="Unread"), source(2, title="Harbour", path="harbour.pdf", page=3)],
        [citation(2, "pilots board")],
    )
    assert str(shown) == "Pilots board early [2].\n[2] Harbour, harbour.pdf, p. 3"


def test_warnings_are_printed() -> None:
    shown = answer("Yes.", [], [])
    shown["warnings"] = ["The web was not searched."]
    assert str(shown) == "Yes.\nWarning: The web was not searched."


def test_quotes_are_never_taken_for_a_written_answer() -> None:
    quoted = answer("Pilots board early.", [], [])
    quoted["messages"] = [AIMessage("", response_metadata={"language_model": False})]
    assert str(quoted) == f"Pilots board early.\n{QUOTED}"
    assert QUOTED in Tags(quoted._repr_html_()).text
    quoted["status"] = "no_evidence"
    assert str(quoted) == "Pilots board early."


def test_citations_can_be_clicked() -> None:
    sources = [source(1, title="Spain", url="https://example.org/?a=1&b=2")]
    html = answer("Madrid [1]. Not ours: [7].", sources, [citation(1, "Madrid")])._repr_html_()
    tags = Tags(html).tags
    links = [attributes["href"] for tag, attributes in tags if tag == "a"]
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert links == [f"#{ids[0]}", "https://example.org/?a=1&b=2"]
    assert "Not ours: [7]." in Tags(html).text
    assert "Madrid" in Tags(html).text


def test_two_answers_on_one_page_do_not_share_anchors() -> None:
    shown = answer("Madrid [1].", [source(1, title="Spain")], [citation(1, "Madrid")])
    first, second = (Tags(shown._repr_html_()).tags for _ in range(2))
    assert first != second


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "</div><a href='javascript:alert(1)'>x</a>",
        "&lt;script&gt; [1](javascript:alert(1))",
    ],
)
def test_text_of_others_is_never_html(hostile: str) -> None:
    sources = [source(1, title=hostile, path=hostile, url="javascript:alert(1)")]
    shown = answer(f"{hostile} [1]", sources, [citation(1, hostile)])
    shown["warnings"] = [hostile]
    tags = Tags(shown._repr_html_()).tags
    assert {tag for tag, _ in tags} == {"div", "a", "blockquote"}
    assert {name for _, attributes in tags for name in attributes} <= {"style", "id", "href"}
    assert all(a["href"] and a["href"].startswith("#") for tag, a in tags if tag == "a")


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"title": "T", "path": "a.md"}, "T, a.md"),
        ({"title": "a.md", "path": "a.md"}, "a.md"),
        ({"title": "T", "url": "https://x.test", "path": "a.md"}, "T, https://x.test"),
        ({"path": "证券法.pdf", "page": 2}, "证券法.pdf, p. 2"),
        ({}, "s1"),
    ],
)
def test_where_a_source_stands(fields: dict[str, Any], shown: str) -> None:
    assert place(source(1, **fields)) == shown


def test_only_web_addresses_become_links() -> None:
    assert is_web_address("https://example.org")
    assert not any(map(is_web_address, [None, "javascript:x", "data:text/html,x", "file:///etc"]))
