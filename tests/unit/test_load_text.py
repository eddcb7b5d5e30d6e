"""Bytes of any encoding become clean text."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.indexing.document import Unreadable
from ragweave.indexing.loading.text import clean, decode, has_text

ENGLISH = "The quick brown fox jumps over the lazy dog, as foxes of its kind have always done. " * 4
TEXTS = {
    "gb18030": "为了规范证券发行和交易行为，保护投资者的合法权益，维护社会经济秩序和社会公共利益。"
    * 2,
    "big5": "為了規範證券發行和交易行為，保護投資者的合法權益，維護社會經濟秩序和社會公共利益。"
    * 2,
    "shift_jis": "すべての人間は、生れながらにして自由であり、尊厳と権利とについて平等である。" * 2,
    "euc_jp": "すべての人間は、生れながらにして自由であり、尊厳と権利とについて平等である。" * 2,
    "cp949": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. " * 2,
    "cp1251": "Все люди рождаются свободными и равными в своем достоинстве и правах. " * 2,
    "koi8_r": "Все люди рождаются свободными и равными в своем достоинстве и правах. " * 2,
    "cp1252": "L’été dernier, à Besançon, le café coûtait 2 € — « déjà trop cher », disait-on. "
    * 2,
    "cp1250": "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. "
    * 2,
    "cp1253": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. "
    * 2,
    "cp1255": "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. " * 2,
    "cp1256": "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق. وقد وهبوا عقلاً وضميرًا. " * 2,
    "cp1254": "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. " * 2,
    "utf-16": ENGLISH,
    "utf-16-le": ENGLISH,
    "utf-16-be": "为了规范证券发行和交易行为，\n保护投资者的合法权益。\n" * 8,
    "utf-32": ENGLISH,
    "utf-8-sig": "naïve 中文",
    "utf-8": "naïve 中文",
    "ascii": ENGLISH,
}


@pytest.mark.parametrize("encoding", TEXTS)
def test_text_is_read_in_the_encoding_it_was_written_in(encoding: str) -> None:
    assert decode(TEXTS[encoding].encode(encoding)) == TEXTS[encoding]


def test_a_few_broken_bytes_do_not_make_utf8_another_encoding() -> None:
    data = ("公司章程规定的其他条件。" * 20).encode()
    assert decode(data[:50] + b"\xff" + data[51:]).count("公司章程") >= 19


@pytest.mark.parametrize(
    "data",
    [b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x10", b"\x7fELF\x02\x01\x01" + bytes(200)],
)
def test_binary_data_is_no_text(data: bytes) -> None:
    with pytest.raises(Unreadable, match="not text"):
        decode(data)


def test_control_characters_vanish_and_words_stay_whole() -> None:
    assert clean("he\x00llo \x1b[31mred\x1b[0m \x07bell\x7f") == "hello red bell"


def test_every_line_end_is_a_newline() -> None:
    assert clean("a\r\nb\rc\nd\x0ce\u2028f\x85g") == "a\nb\nc\nd\ne\nf\ng"


def test_joiners_marks_and_directions_stay() -> None:
    text = "👩‍👩‍👧‍👦 e\u0301 \u200f\u202eabc\u202c ZWNJ\u200c"
    assert clean(text) == text


@given(st.text())
def test_clean_text_can_be_stored_and_cleaned_again(text: str) -> None:
    once = clean(text)
    once.encode("utf-8")
    assert "\x00" not in once
    assert "\r" not in once
    assert clean(once) == once


@given(st.binary(max_size=300))
def test_any_bytes_are_text_or_unreadable(data: bytes) -> None:
    with suppress(Unreadable):
        decode(data).encode("utf-8")


@pytest.mark.parametrize(
    ("text", "visible"), [(" \n\t\u3000\xa0\u200b", False), ("", False), ("x", True), ("。", True)]
)
def test_only_what_a_reader_sees_is_text(text: str, visible: bool) -> None:
    assert has_text(text) is visible
