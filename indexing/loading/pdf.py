"""PDF to text by PDFium, page by page, in reading order.

PDFium is not thread-safe and a broken file may crash or hang it, so this runs in a child process
(`load_worker.py`), never in the process that ingests.
"""

from __future__ import annotations

import ctypes
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ragweave.indexing.document import Content, Unreadable
from ragweave.indexing.loading.spacing import close_up
from ragweave.indexing.loading.text import clean, has_text

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage  # type: ignore[import-untyped]

_METADATA = {"Author": "author", "Subject": "subject", "Keywords": "keywords"}
_NO_TITLE = re.compile(r"untitled|microsoft word|.*\.(docx?|pptx?|xlsx?|tex|indd|pdf)$", re.I)
_HEADER_BYTES = 1024

_LIGATURE = re.compile("[\ufb00-\ufb06\ufb50-\ufdcf\ufe70-\ufefc]+")
_ALEF_LAM = re.compile("[\u0627\u0623\u0625\u0622]\u0644")
_BROKEN_WORD = re.compile(r"(\w+)\ufffe\s*(\w+)")
_KEEPS_HYPHEN = {"all", "co", "cross", "ex", "half", "non", "post", "pre", "self", "semi", "well"}
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_CJK_BREAK = re.compile(rf"[{_CJK}，、；：“（《]\n(?=[{_CJK}，、。；：！？”）》])")
_ITEM = re.compile(
    r"第[一二三四五六七八九十百千零〇\d]+[编章节条款]|[（(][一二三四五六七八九十\d]+[)）]"
    r"|\d+[.)、]|[•·▪○●-] "
)
_PARAGRAPH_END = re.compile(r"""[.!?:。！？：…]["'”’」』)）\]]?\s*$""")
_FULL_LINE = 0.85
_USUAL_QUANTILE = 0.6


def read_pdf(path: Path) -> Content:
    """Read a PDF file.

    Raises:
        Unreadable: it is no PDF, encrypted, damaged, or has no text, as a scan has none.
    """
    import pypdfium2

    _check_header(path)
    try:
        with pypdfium2.PdfDocument(path) as document:
            pages = list(_pages(document))
            about = document.get_metadata_dict(skip_empty=True)
    except pypdfium2.PdfiumError as error:
        raise Unreadable(_reason(error)) from error
    if not any(has_text(page) for page in pages):
        count = "its only page" if len(pages) == 1 else f"any of its {len(pages)} pages"
        raise Unreadable(f"has no text on {count}: a scan needs OCR first (for example ocrmypdf)")
    title = close_up(clean(about.get("Title", ""))).strip()
    return Content(
        "".join(pages),
        title=None if _NO_TITLE.match(title) else title or None,
        pages=_starts(pages),
        metadata={name: clean(about[key]) for key, name in _METADATA.items() if key in about},
    )


def _check_header(path: Path) -> None:
    with path.open("rb") as file:
        head = file.read(_HEADER_BYTES)
    if b"%PDF" in head:
        return
    if re.match(rb"\s*<(!doctype html|html|\?xml)", head, re.I):
        raise Unreadable("is HTML, not a PDF")
    raise Unreadable("is not a PDF")


def _reason(error: Exception) -> str:
    if "password" in str(error).lower():
        return "is encrypted: save a copy without its password"
    return f"is damaged: {str(error).rstrip('.')}"


def _pages(document: PdfDocument) -> Iterator[str]:
    for number in range(len(document)):
        page = document[number]
        try:
            yield _page_text(page)
        finally:
            page.close()


def _starts(pages: list[str]) -> list[int]:
    starts, position = [], 0
    for page in pages:
        starts.append(position)
        position += len(page)
    return starts


def _page_text(page: PdfPage) -> str:
    textpage = page.get_textpage()
    try:
        text = _order_lam_alef(textpage, textpage.get_text_range())
    finally:
        textpage.close()
    text = _LIGATURE.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    text = reflow(close_up(clean(_join_words(text))))
    return f"{text}\n\n" if _PARAGRAPH_END.search(text) else f"{text}\n"


def _order_lam_alef(textpage: PdfTextPage, text: str) -> str:
    """Text with the letters of lam-alef ligatures in logical order.

    PDFium reverses right-to-left runs letter by letter, and the two letters of this ligature with
    them. They are known by standing at one place on the page, where separate letters cannot.
    """
    letters = list(text)
    for match in _ALEF_LAM.finditer(text):
        first = match.start()
        if _origin(textpage, first) == _origin(textpage, first + 1):
            letters[first], letters[first + 1] = letters[first + 1], letters[first]
    return "".join(letters)


def _origin(textpage: PdfTextPage, position: int) -> tuple[float, float]:
    from pypdfium2 import raw

    x, y = ctypes.c_double(), ctypes.c_double()
    index = raw.FPDFText_GetCharIndexFromTextIndex(textpage.raw, position)
    raw.FPDFText_GetCharOrigin(textpage.raw, index, x, y)
    return x.value, y.value


def _join_words(text: str) -> str:
    """Words that a line end had cut in two; PDFium marks the hyphen with U+FFFE."""

    def joined(match: re.Match[str]) -> str:
        left, right = match[1], match[2]
        hyphenated = f"{left}-{right}"
        compound = left.lower() in _KEEPS_HYPHEN or not (left[-1] + right[0]).islower()
        return hyphenated if compound or hyphenated in text else left + right

    return _BROKEN_WORD.sub(joined, text)


def reflow(text: str) -> str:
    """Lines of a page as paragraphs, as far as the length of the lines tells.

    A line that ends a sentence short of the right margin ends a paragraph; Chinese, Japanese and
    Korean words that a full line breaks in two are joined.
    """
    lines = text.split("\n")
    widths = [_width(line) for line in lines]
    usual = sorted(widths)[int(len(lines) * _USUAL_QUANTILE)]
    out = []
    for line, width, following in zip(lines, widths, [*lines[1:], ""], strict=True):
        full = width >= _FULL_LINE * usual
        broken_word = _CJK_BREAK.match(f"{line[-1:]}\n{following[:1]}")
        if full and broken_word and not _ITEM.match(following):
            out.append(line)
        elif not full and following and _PARAGRAPH_END.search(line):
            out.append(f"{line}\n\n")
        else:
            out.append(f"{line}\n")
    return "".join(out).strip("\n")


def _width(line: str) -> int:
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in line)
    return len(line) + wide
