"""Chinese and Japanese text with a space between all characters, and what merely looks like it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from langchain_core.documents import Document

from ragweave.indexing.document import Content, LoadedDocument, Markup
from ragweave.indexing.loading.html import read_html
from ragweave.indexing.loading.load import LoadSettings, load
from ragweave.indexing.loading.memory import from_memory
from ragweave.indexing.loading.pdf import read_pdf
from ragweave.indexing.loading.spacing import close_up
from ragweave.stores.analysis import terms

SPACED = "中 华 人 民 共 和 国 证 券 法"
CLOSED = "中华人民共和国证券法"


@pytest.mark.parametrize(
    ("spaced", "closed"),
    [
        ("中 华 人 民 共 和 国", "中华人民共和国"),
        ("中　华　人　民　共　和　国", "中华人民共和国"),
        ("日 本 国 憲 法 は こ れ で す 。", "日本国憲法はこれです。"),
        ("本 法 自 2 0 2 0 年 3 月 1 日 起 施 行 。", "本法自2020年3月1日起施行。"),
        ("本 公 司 全 年 净 利 润 在 2019 年 为 12.5 万 元 ， 同 比 增 长 3% 。",
         "本公司全年净利润在 2019 年为 12.5 万元，同比增长 3% 。"),
        ("保 护 投 资 者 的 合 法 权 益， 维 护 社 会 秩 序， 制 定 本 法。",
         "保护投资者的合法权益，维护社会秩序，制定本法。"),
        (f"# {SPACED}\n\n- **{SPACED}** （2019 年 修 订）\n> {SPACED}",
         f"# {CLOSED}\n\n- **{CLOSED}** （2019 年修订）\n> {CLOSED}"),
        # what is short is closed up where the text is spaced throughout
        (f"{SPACED}\n第 一 章 总 则\n王 伟", f"{CLOSED}\n第一章总则\n王伟"),
        (f"参 见 《 {SPACED} 》", f"参见《{CLOSED}》"),
        (f"{SPACED} \n第 一 条", f"{CLOSED}\n第一条"),
    ],
)  # fmt: skip
def test_what_is_spaced_out_is_closed_up(spaced: str, closed: str) -> None:
    assert close_up(spaced, "markdown") == closed
    assert close_up(closed, "markdown") == closed


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        ("第 1 条 适用于第 2 章", "plain"),
        ("出席：王 伟 李 娜", "plain"),
        ("目 录", "plain"),
        ("使用 Python 3 编写 的 程序 在 这 里 运行", "plain"),
        ("日 一 二 三 四 五 六", "plain"),
        ("甲 乙 丙 丁 戊 己 庚 辛 壬 癸", "plain"),
        ("あ い う え お\nか き く け こ", "plain"),
        ("대 한 민 국 헌 법 제 일 조", "plain"),
        ("a b c d e f g h i j", "plain"),
        ("甲\n乙\n丙\n丁\n中\n华\n人\n民\n共", "plain"),
        (f"正文。\n\n```\n{SPACED}\n```", "markdown"),
        (f"见 `{SPACED}` 一文", "markdown"),
        ("| 春 | 风 | 花 | 草 | 树 | 木 | 鸟 |\n| - | - | - | - | - | - | - |", "markdown"),
        (f"例::\n\n    {SPACED}\n", "rst"),
    ],
)  # fmt: skip
def test_what_may_be_meant_stays(text: str, markup: Markup) -> None:
    assert close_up(text, markup) == text


def test_only_what_is_spaced_is_closed_up_in_a_mixed_text() -> None:
    text = f"本文讨论 {SPACED} 的适用问题，出席者为王 伟和李 娜，另见第 1 条及以下各条的规定。"
    assert close_up(text) == text.replace(SPACED, CLOSED)


def test_every_reader_closes_up_text_and_title(tmp_path: Path) -> None:
    record = {"id": SPACED, "title": SPACED, "text": SPACED}
    (tmp_path / "a.jsonl").write_text(json.dumps(record), "utf-8")
    (tmp_path / "b.md").write_text(f"# {SPACED}\n", "utf-8")
    (tmp_path / "c.txt").write_text(SPACED, "gb18030")
    loaded = [item for item in load([str(tmp_path)], LoadSettings())
              if isinstance(item, LoadedDocument)]  # fmt: skip
    assert [item.text for item in loaded] == [CLOSED, f"# {CLOSED}\n", CLOSED]
    assert [item.content.title for item in loaded] == [CLOSED, CLOSED, "c"]
    assert loaded[0].id == SPACED, "ids are not text"
    page = read_html(f"<title>{SPACED}</title><p>{SPACED}".encode())
    assert (page.title, page.text) == (CLOSED, CLOSED)
    (kept,) = from_memory([Document(SPACED, metadata={"title": SPACED})])
    assert isinstance(kept, LoadedDocument)
    assert (kept.text, kept.content.title) == (CLOSED, CLOSED)


def test_lines_of_a_spaced_pdf_are_joined(tmp_path: Path) -> None:
    lines = [SPACED, "第 一 条 为 了 规 范 证 券 发 行 和 交 易 行", "为 ， 制 定 本 法 。"]
    content = _read(lines, tmp_path)
    assert content.text == f"{CLOSED}\n第一条为了规范证券发行和交易行为，制定本法。\n\n"


@pytest.mark.skipif("RAGWEAVE_DATA" not in os.environ, reason="RAGWEAVE_DATA names no folder")
def test_a_statute_and_passages_survive_being_spaced_out() -> None:
    data = Path(os.environ["RAGWEAVE_DATA"])
    files = sorted((data / "demo/law_zh").glob("*.articles.jsonl"))
    files.append(data / "cmrc2018/public_trial.passages.jsonl")
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    texts = [str(json.loads(line)["text"]) for line in lines]
    assert [text for text in texts if close_up(text) != text] == []
    bare = [re.sub(r"[ \u3000]", "", text) for text in texts]
    spaced = ["\n".join(" ".join(line) for line in text.split("\n")) for text in bare]
    same = sum(close_up(text) == closed for text, closed in zip(spaced, bare, strict=True))
    assert same >= 0.99 * len(texts)


@pytest.mark.skipif("RAGWEAVE_DATA" not in os.environ, reason="RAGWEAVE_DATA names no folder")
def test_a_text_that_was_published_with_spaces_is_found_by_its_words() -> None:
    file = Path(os.environ["RAGWEAVE_DATA"], "bad_docs/udhr_Chinese_Mandarin-GB2312.txt")
    (item,) = load([str(file)], LoadSettings())
    assert isinstance(item, LoadedDocument)
    assert "人人都有受教育的权利" in item.text
    assert set(terms("世界人权宣言")) <= set(terms(item.text))


def _read(lines: list[str], folder: Path) -> Content:
    """A PDF of one page with these lines, as it is read."""
    shown = "\n".join(
        f"BT /F 12 Tf 1 0 0 1 60 {780 - 20 * at} Tm <{line.encode('utf-16-be').hex()}> Tj ET"
        for at, line in enumerate(lines)
    )
    font = "/Type/Font/BaseFont/STSong-Light"
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
        "/Resources<</Font<</F 5 0 R>>>>>>",
        f"<</Length {len(shown)}>>\nstream\n{shown}\nendstream",
        f"<<{font}/Subtype/Type0/Encoding/UniGB-UCS2-H/DescendantFonts[6 0 R]>>",
        f"<<{font}/Subtype/CIDFontType0/DW 1000/FontDescriptor 7 0 R"
        "/CIDSystemInfo<</Registry(Adobe)/Ordering(GB1)/Supplement 2>>>>",
        "<</Type/FontDescriptor/FontName/STSong-Light/Flags 4/ItalicAngle 0/Ascent 900"
        "/Descent -200/CapHeight 900/StemV 80/FontBBox[0 -200 1000 900]>>",
    ]
    body = "".join(f"{number} 0 obj\n{object_}\nendobj\n" for number, object_ in
                   enumerate(objects, 1))  # fmt: skip
    file = folder / "spaced.pdf"
    file.write_text(f"%PDF-1.4\n{body}trailer<</Size 8/Root 1 0 R>>\n%%EOF", "ascii")
    return read_pdf(file)
