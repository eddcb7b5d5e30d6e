"""What reaches the terminal: text, and nothing that a terminal would act on."""

from __future__ import annotations

import json

import pytest

from ragweave.serving.cli.screen import clean, complain, one_line, out, print_json

HOSTILE = {
    "colour": ("\x1b[31mred\x1b[0m", "red"),
    "clear screen": ("a\x1b[2J\x1b[Hb", "ab"),
    "window title": ("a\x1b]0;owned\x07b", "ab"),
    "hyperlink": ("\x1b]8;;http://x.test\x1b\\text\x1b]8;;\x1b\\", "text"),
    "device command": ("a\x1bPq#0\x1b\\b", "ab"),
    "C1 control": ("a\x9b31mb", "a31mb"),
    "lone escape": ("a\x1b", "a"),
    "bell and backspace": ("pass\x07word\x08\x08", "password"),
    "carriage return": ("good\rbad", "goodbad"),
    "Windows line end": ("a\r\nb", "a\nb"),
    "direction override": ("user\u202egnp.exe\u202c", "usergnp.exe"),
    "NUL": ("a\x00b", "ab"),
    "lone surrogate": ("a\ud800b", "ab"),
}


@pytest.mark.parametrize(("text", "shown"), HOSTILE.values(), ids=HOSTILE)
def test_controls_are_taken_out(text: str, shown: str) -> None:
    assert clean(text) == shown


@pytest.mark.parametrize(
    "text", ["上市公司\t第一条\n", "[bold]not markup[/bold] :smile:", "é ü 👩‍👩‍👧"]
)
def test_text_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


def test_markup_is_not_interpreted(capsys: pytest.CaptureFixture[str]) -> None:
    with out.capture() as shown:
        out.print("[bold red]x[/] [link=http://x.test]y[/link] :smile: [1]")
    assert shown.get() == "[bold red]x[/] [link=http://x.test]y[/link] :smile: [1]\n"


def test_one_line_is_cut_at_a_length() -> None:
    assert one_line("a\n b\tc\r d") == "a b c d"
    assert one_line("x" * 50, 10) == "x" * 9 + "…"


def test_complaints_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    complain("first\nsecond " + "long " * 100)
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert shown.startswith("ragweave: first second")


@pytest.mark.parametrize(("text", "_"), HOSTILE.values(), ids=HOSTILE)
def test_json_is_faithful_and_harmless(
    text: str, _: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_json({"text": text, "中": 1})
    line = capsys.readouterr().out
    assert json.loads(line) == {"text": text, "中": 1}
    assert clean(line) == line
    assert "中" in line
