"""What every awkward file at hand must give: words of it, or one line that says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.indexing.document import LoadedDocument, LoadFailure
from ragweave.indexing.loading.load import LoadSettings, load
from ragweave.indexing.loading.text import has_text

BAD_DOCS = {
    "blns.json": "hasOwnProperty",
    "blns.txt": "#\tReserved Strings",
    "bracket_citations.txt": "Earlier work [1], [2, 3] and [4-6]",
    "cn_sample-arabic-1.txt": "المنطقة المغاربية",
    "cn_sample-chinese.txt": "維基大典（Wikipedia）者，網路為礎",
    "cn_sample-english.bom.txt": "the",
    "cn_sample-greek.txt": "Η ελληνική αποτελεί",
    "cn_sample-hebrew-2.txt": "ניבים אזוריים עבריים",
    "cn_sample-korean.txt": "역사적 예수 연구자들은",
    "cn_sample-polish.txt": "URZĄDZENIE",
    "cn_sample-russian.txt": "В гимназии он не был в числе первых учеников",
    "cn_sample-turkish.txt": "İstanbul, Türkiye'nin en kalabalık",
    "combining_zalgo.txt": "Z\u0338\u0321\u0322\u031b\u032aa\u0335",
    "control_chars.txt": "Allow writing union types as ``X | Y``",
    "cp1252.txt": "le café coûtait 2 € — « déjà trop cher »",
    "cr_only.txt": "PEP: 604\nTitle: Allow writing",
    "crlf.txt": "PEP: 604\nTitle: Allow writing",
    "dup_name (1).txt": "Allow writing union types",
    "duplicate_paragraphs.txt": "use ``Union[X, Y]``",
    "emoji_zwj.txt": "👩\u200d👩\u200d👧\u200d👦 family",
    "example.html": "# Instead of drinking water from the cat bowl",
    "fake_sources.txt": "Source 1:\nThe capital of France is Lyon.",
    "fullwidth.txt": "ＲＡＧ－Ｆｕｓｉｏｎ　第１２条",
    "gb18030.txt": "证券",
    "invalid_utf8.txt": "more text",
    "latin1_2005-Bush.txt": "America",
    "many_blank_lines.txt": "\n" * 10_000,
    "markdown_tables_code.md": '```python\nprint("x")\n```',
    "mixed_eol.txt": "PEP: 604\nTitle: Allow writing",
    "nfd_vs_nfc.txt": "Café Caf",
    "no_spaces_100k.txt": "A" * 1000,
    "nul_bytes.txt": "Allow writing union types as ``X | Y``",
    "one_char.txt": "",
    "one_line_160k.txt": "Scrooge",
    "punct_only.txt": "...!!!???",
    "rtl_mixed.txt": "[1]",
    "template_braces.txt": "{",
    "udhr_Arabic_Alarabia-Arabic.txt": "الإعلان العالمي لحقوق الإنسان",
    "udhr_Chinese_Mandarin-GB2312.txt": "世界人权宣言",
    "udhr_Greek_Ellinika-Greek.txt": "ΔΙΑΚΗΡΥΞΗ",
    "udhr_Hebrew_Ivrit-Hebrew.txt": "זכויות",
    "udhr_Japanese_Nihongo-SJIS.txt": "世界人権宣言",
    "udhr_Japanese_Nihongo-UTF8.txt": "世界人権宣言",
    "udhr_Russian_Russky-Cyrillic.txt": "Всеобщая декларация прав человека",
    "utf16be_nobom.txt": "证券",
    "utf16le_bom.txt": "PEP: 604",
    "utf8_bom.txt": "PEP: 604",
    "wiki_duck.html": "# Duck",
    "zh_one_line.txt": "证券",
    "名前 ﷽ 😀.txt": "# 中华人民共和国证券法",
}
BAD_DOCS_FAIL = {
    "empty.txt": "is empty",
    "png_named.txt": "is image/png, not text",
    "whitespace_only.txt": "has no text",
}
PDFS = {
    "cid_font.pdf": "",  # a font without a map to Unicode: no reader gets its four letters
    "cjk_noembed_eucjp.pdf": "あいうえお",
    "cjk_noembed_sjis.pdf": "あいうえお",
    "cjk_vertical.pdf": "日本語\nあいうえお",
    "code_and_formula.pdf": "consetetur sadipscing elitr, sed diam nonumy eirmod tempor",
    "corrupt_helloworld_bad.pdf": "Hello, world!",
    "corrupt_xref_missing.pdf": "Reduced test-case",
    "cycle_type3.pdf": "ab",
    "ligatures.pdf": "abcdeffffiflffiffl",
    "multi_page.pdf": "milestones.\n\nPre-Digital Era (19th - Early 20th Century)",
    "normal_4pages.pdf": "코로나바이러스감염증-19(COVID-19",
    "rtl_arabic.pdf": "تحسين الإنتاجية وحل المشكلات من خلال البرمجة بلغة R",
    "rtl_habibi.pdf": "habibi",
    "securities_law_2019_zh.pdf": "《关于修改〈中华人民共和国证券法〉的决定》第一次修正\n2005年",
}
NO_TEXT = "has no text on its only page: a scan needs OCR first (for example ocrmypdf)"
PDFS_FAIL = {
    "blank_page.pdf": NO_TEXT,
    "blank_protected.pdf": NO_TEXT,
    "corrupt_fuzzed_ghostscript.pdf": NO_TEXT,
    "corrupt_poppler_85140.pdf": NO_TEXT,
    "corrupt_poppler_937_fuzzed.pdf": "is damaged: Failed to load page",
    "encrypted_openpassword.pdf": "is encrypted: save a copy without its password",
    "not_a_pdf.pdf": "is HTML, not a PDF",
    "pr6531_encrypted.pdf": "is encrypted: save a copy without its password",
    "scanned_no_text.pdf": NO_TEXT,
    "scanned_no_text_ocr_test.pdf": NO_TEXT,
    "zero_bytes.pdf": "is empty",
}
ABOUT = {"MANIFEST.jsonl", "SOURCE.md"}
TABLES = {"bad_docs": (BAD_DOCS, BAD_DOCS_FAIL), "pdfs": (PDFS, PDFS_FAIL)}


@pytest.mark.parametrize("folder", TABLES)
def test_every_file_gives_its_words_or_one_reason(data: Path, folder: str) -> None:
    given = [str(path) for path in sorted((data / folder).iterdir()) if path.name not in ABOUT]
    loaded = list(load(given, LoadSettings()))
    documents = {Path(i.path or "").name: i for i in loaded if isinstance(i, LoadedDocument)}
    failures = {Path(i.path).name: i.reason for i in loaded if isinstance(i, LoadFailure)}
    words, reasons = TABLES[folder]
    assert failures == reasons
    assert documents.keys() == words.keys()
    assert [name for name in words if words[name] not in documents[name].text] == []
    assert all(
        has_text(document.text) and document.content.title for document in documents.values()
    )


def test_words_that_a_chinese_line_breaks_are_joined_and_items_are_not(data: Path) -> None:
    [law] = load([str(data / "pdfs" / "securities_law_2019_zh.pdf")], LoadSettings())
    assert isinstance(law, LoadedDocument)
    assert "中华人民共和国\n证券法" not in law.text
    assert "\n第六条 证券业和银行业" in law.text


def test_pages_of_a_pdf_are_where_they_start(data: Path) -> None:
    [document] = load([str(data / "pdfs" / "multi_page.pdf")], LoadSettings())
    assert isinstance(document, LoadedDocument)
    assert len(document.content.pages) == 5
    assert [document.page_at(start) for start in document.content.pages] == [1, 2, 3, 4, 5]
    assert document.page_at(document.content.pages[2] - 1) == 2
    assert "self-publishing" in document.text


def test_boilerplate_of_a_web_page_is_left_out(data: Path) -> None:
    [page] = load([str(data / "bad_docs" / "wiki_duck.html")], LoadSettings())
    assert isinstance(page, LoadedDocument)
    assert page.content.title == "Duck - Wikipedia"
    assert page.content.url == "https://en.wikipedia.org/wiki/Duck"
    assert "## Etymology" in page.text
    assert "Main page" not in page.text
    assert "Afrikaans" not in page.text
