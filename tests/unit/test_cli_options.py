"""Reading what people type on the command line."""

from __future__ import annotations

import io

import pytest

from ragweave.serving.cli.options import read_filters, read_settings, text_argument
from ragweave.serving.techniques import TECHNIQUES, load, settled
from ragweave.state.crag import CragContext
from ragweave.state.errors import InvalidSetting


@pytest.mark.parametrize(
    ("given", "filters"),
    [
        (None, None),
        ([], None),
        (["year=2024"], {"year": 2024}),
        (["lang=en", "draft=false"], {"lang": "en", "draft": False}),
        (['id="42"'], {"id": "42"}),
        (["title=a=b"], {"title": "a=b"}),
        (["tag="], {"tag": ""}),
        (['{"year": {"$gte": 2020}}', "lang=zh"], {"year": {"$gte": 2020}, "lang": "zh"}),
        (["部门=法务"], {"部门": "法务"}),
    ],
)
def test_filters(given: list[str] | None, filters: dict[str, object] | None) -> None:
    assert read_filters(given) == filters


@pytest.mark.parametrize("given", ["year", "=2024", "{year: 2024}", ""])
def test_filters_that_cannot_be_read(given: str) -> None:
    with pytest.raises(InvalidSetting, match="--filter"):
        read_filters([given])


def test_settings() -> None:
    given = ["top_k=3", "refine=false", "model=openai:gpt-4.1", "language=null"]
    assert read_settings(given) == {
        "top_k": 3,
        "refine": False,
        "model": "openai:gpt-4.1",
        "language": None,
    }


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        (
            {"top_kk": 3},
            r'of crag "top_kk"\. Did you mean top_k\? `ragweave settings crag` lists all\.$',
        ),
        ({"calls": 3}, r"Did you mean max_model_calls\?"),
        (
            {"temperature": 0},
            r'no setting of crag "temperature"\. `ragweave settings crag` lists all\.$',
        ),
        ({"top_k": 0}, "top_k: Input should be greater than or equal to 1"),
        ({"top_k": "many"}, "top_k: Input should be a valid integer"),
        ({"web_search": "maybe"}, "web_search: Input should be 'auto', 'always', 'never' or 'ask'"),
        ({"tenant": "../other"}, "tenant: String should match pattern"),
    ],
)
def test_settings_that_do_not_fit(settings: dict[str, object], complaint: str) -> None:
    with pytest.raises(InvalidSetting, match=complaint):
        settled(CragContext, settings, "setting of crag")


def test_settings_that_are_none_keep_their_default() -> None:
    assert settled(CragContext, {"top_k": None, "alpha": 0.5}, "setting") == CragContext(alpha=0.5)


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_every_technique_loads(technique: str) -> None:
    assert load(technique).name == technique


def test_a_technique_that_does_not_exist_names_those_that_do() -> None:
    with pytest.raises(InvalidSetting, match=r'no technique "carg"\. Did you mean crag'):
        load("carg")


def test_standard_input_is_read_for_a_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("为什么？\n"))
    assert text_argument("-") == "为什么？\n"
    assert text_argument("a - b") == "a - b"
