"""HTML to Markdown: what a reader of the page would read, with its headings, lists and tables."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, Any

from ragweave.indexing.document import Content, Unreadable
from ragweave.indexing.loading.spacing import close_up
from ragweave.indexing.loading.text import clean, decode

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

_BOILERPLATE = (
    "script, style, noscript, template, svg, iframe, object, canvas, form, button, input, select, "
    "nav, aside, body > header, body > footer, [hidden], [aria-hidden=true], "
    "[role=navigation], [role=banner], [role=contentinfo], [role=search], [role=complementary], "
    "[style*='display:none'], [style*='display: none'], li:has(> a[hreflang])"
)
_CHARSET = re.compile(
    rb"""<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*["']?([\w.:-]+)""", re.I
)
_HEAD_BYTES = 4096
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
_LEADS_OFF = re.compile(r"[a-z][a-z0-9+.-]*:", re.I)
_META = {"description": "description", "author": "author", "keywords": "keywords"}


def read_html(data: bytes) -> Content:
    """Read an HTML page; its title is `<title>`, or else its first heading.

    Navigation, scripts, forms and hidden parts are left out, and everything outside `<main>` if
    the page has one.

    Raises:
        Unreadable: there is no readable text in it.
    """
    from bs4 import BeautifulSoup

    try:
        soup = BeautifulSoup(_decoded(data), "lxml")
        title, url, metadata = _title(soup), _canonical_url(soup), _metadata(soup)
        part = _readable_part(soup)
        links = _links(part)
        text = _markdown(part)
    except RecursionError:
        raise Unreadable("is HTML nested too deeply to read") from None
    return Content(text, markup="markdown", title=title, url=url, metadata=metadata, links=links)


def _decoded(data: bytes) -> str:
    """Text of the page in its declared encoding if that fits, else in the detected one."""
    declared = _CHARSET.search(data[:_HEAD_BYTES])
    if declared and not data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        try:
            return data.decode(codecs.lookup(declared[1].decode()).name)
        except (LookupError, UnicodeDecodeError):
            pass
    return decode(data)


def _readable_part(soup: BeautifulSoup) -> Tag:
    for tag in soup.select(_BOILERPLATE):
        tag.decompose()
    main = soup.select("main, [role=main]")
    return main[0] if len(main) == 1 and main[0].get_text(strip=True) else soup.body or soup


def _markdown(part: Tag) -> str:
    from markdownify import MarkdownConverter

    class Converter(MarkdownConverter):
        def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> str:
            """Keep the target only of links that lead off the site: the others name pages of it."""
            if not str(el.get("href", "")).startswith(("http://", "https://")):
                return text
            del el["title"]
            return str(super().convert_a(el, text, parent_tags))  # type: ignore[misc]

        def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:
            return str(el.get("alt", ""))

    options: dict[str, Any] = dict.fromkeys(
        ("escape_asterisks", "escape_underscores", "escape_misc", "wrap"), False
    )
    converter = Converter(heading_style="ATX", bullets="-", strong_em_symbol="*", **options)
    text = converter.convert_soup(part)
    return _BLANK_LINES.sub("\n\n", close_up(clean(text), "markdown")).strip()


def _links(part: Tag) -> list[str]:
    """Links to other pages of the site, whose targets the text does not show."""
    targets = (str(link["href"]).strip() for link in part.select("a[href]"))
    within = (t for t in targets if t and not t.startswith("#") and not _LEADS_OFF.match(t))
    return list(dict.fromkeys(clean(target) for target in within))


def _title(soup: BeautifulSoup) -> str | None:
    for tag in (soup.title, soup.find("h1")):
        if tag and (text := " ".join(tag.get_text().split())):
            return close_up(clean(text))
    return None


def _canonical_url(soup: BeautifulSoup) -> str | None:
    link = soup.select_one("link[rel=canonical][href]")
    return str(link["href"]) if link else None


def _metadata(soup: BeautifulSoup) -> dict[str, str]:
    found = {
        field: soup.select_one(f"meta[name='{name}' i][content]") for name, field in _META.items()
    }
    return {field: clean(str(tag["content"])) for field, tag in found.items() if tag}
