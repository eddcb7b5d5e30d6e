"""The drawn pages in a browser: what a person sees and clicks. Needs Chromium."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from blockbuster import BlockBuster

from ragweave.serving.drawing.graph_page import graph_page
from ragweave.serving.drawing.run_page import run_page
from ragweave.state.records import no_usage
from ragweave.stores.graph import GraphTables
from ragweave.stores.graphrag.folder import GraphRagFolder

pytestmark = pytest.mark.slow
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
EVIL = "</script><img src=x onerror=document.title='hacked'><b>bold</b>"


@pytest.fixture
def page(no_blocking_calls: BlockBuster) -> Iterator[Any]:
    """A page without a network, in which nothing may go wrong or be loaded."""
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("no Chromium is installed")
    no_blocking_calls.deactivate()  # the browser's driver keeps a loop of its own
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=path, args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": 1280, "height": 800}, offline=True)
        opened = context.new_page()
        trouble: list[str] = []
        opened.on("pageerror", lambda error: trouble.append(str(error)))
        opened.on("console", lambda message: trouble.append(message.text))
        opened.on("request", lambda request: trouble.append(request.url))
        yield opened
        browser.close()
    assert [each for each in trouble if not each.startswith("file://")] == []


@pytest.fixture(scope="module")
def carol(data: Path) -> GraphTables:
    return asyncio.run(GraphRagFolder(f"graphrag:{data / 'graphrag/carol'}").tables())


@pytest.fixture
def drawn(page: Any, carol: GraphTables, tmp_path: Path) -> Any:
    """The page of a graph with 122 communities."""
    file = tmp_path / "carol.html"
    file.write_text(graph_page(carol, "carol"), encoding="utf-8")
    page.goto(file.as_uri())
    return page


def listed(page: Any) -> list[str]:
    texts: list[str] = page.locator("#found > button").all_inner_texts()
    return texts


def place_of(page: Any, kind: str, index: int) -> tuple[float, float]:
    """Where a community or an entity stands on the canvas."""
    x, y = page.evaluate(f"toScreen({kind}[{index}].x, {kind}[{index}].y)")
    box = page.locator("#canvas").bounding_box()
    return box["x"] + x, box["y"] + y


def ink(page: Any) -> int:
    """Points of the canvas on which something is drawn."""
    script = """() => pen.getImageData(0, 0, canvas.width, canvas.height).data
        .filter((value, place) => place % 4 === 3 && value > 0).length"""
    counted: int = page.evaluate(script)
    return counted


def settle(page: Any) -> None:
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))")


def test_all_communities_are_there_by_level(drawn: Any, carol: GraphTables) -> None:
    assert "122 communities · 529 entities · 978 relationships" in drawn.inner_text("#facts")
    assert len(listed(drawn)) == 122
    for level, count in enumerate((23, 88, 120, 122)):
        drawn.click(f"#levels button >> nth={level}")
        assert len(listed(drawn)) == count
    settle(drawn)
    assert ink(drawn) > 100_000


def test_a_click_on_a_community_opens_its_report(drawn: Any, carol: GraphTables) -> None:
    drawn.click("#levels button >> nth=0")
    report = max(carol.reports, key=lambda one: (one.level == 0, one.size))
    index = [one.community for one in carol.communities].index(report.community)
    x, y = place_of(drawn, "communities", index)
    radius = drawn.evaluate(f"communities[{index}].r * view.scale")

    drawn.mouse.click(x, y - radius + 3)

    shown = drawn.inner_text("#panel")
    assert report.title in shown
    assert report.findings[0].summary in shown
    assert drawn.url.endswith(f"#c{index}")


def test_a_click_on_an_entity_opens_it(drawn: Any, carol: GraphTables) -> None:
    entity = max(carol.entities, key=lambda one: one.degree)

    drawn.mouse.click(*place_of(drawn, "entities", carol.entities.index(entity)))

    shown = drawn.inner_text("#panel")
    assert entity.title in shown
    assert "158 relationships" in shown
    assert drawn.locator("#panel li").count() == 158
    drawn.click("#panel li .link >> nth=0")
    assert "158 relationships" not in drawn.inner_text("#panel")
    drawn.keyboard.press("Escape")
    assert drawn.locator("#panel").is_hidden()


def test_what_is_searched_for_is_found(drawn: Any) -> None:
    drawn.keyboard.press("/")
    drawn.keyboard.type("tiny TIM")
    assert listed(drawn)
    assert all("tiny tim" in text.casefold() for text in listed(drawn))

    drawn.keyboard.press("Enter")

    assert "tiny tim" in drawn.inner_text("#panel h2").casefold()
    settle(drawn)
    assert ink(drawn) > 1_000


def test_dark_and_light(drawn: Any) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    light = drawn.evaluate(colour)
    drawn.click("#theme")
    assert drawn.evaluate(colour) != light
    drawn.emulate_media(color_scheme="light")
    drawn.click("#theme")
    assert drawn.evaluate(colour) == light


def test_a_page_opens_at_what_its_address_names(drawn: Any, carol: GraphTables) -> None:
    drawn.goto(drawn.url.split("#")[0] + "#c3")
    drawn.reload()

    assert carol.report_by_community[carol.communities[3].community].title in drawn.inner_text(
        "#panel h2"
    )


def test_text_of_documents_does_nothing(page: Any, carol: GraphTables, tmp_path: Path) -> None:
    first = replace(carol.entities[0], title=EVIL, description=EVIL)
    evil = replace(carol, entities=(first, *carol.entities[1:]))
    (tmp_path / "evil.html").write_text(graph_page(evil, EVIL), encoding="utf-8")
    page.goto((tmp_path / "evil.html").as_uri() + "#e0")

    assert page.inner_text("h1") == page.inner_text("#panel h2") == EVIL
    assert page.title() == f"Knowledge graph {EVIL}"
    assert page.locator("img, main b").count() == 0


def test_a_run_is_seen(page: Any, tmp_path: Path) -> None:
    empty: dict[str, Any] = {
        "score": None,
        "reason": "",
        "source_ids": [],
        "usage": None,
        "status": "answered",
    }
    nodes = [
        {"id": "0", "parent_id": None, "query": "root", "answer": "wide", **empty},
        {"id": "0.0", "parent_id": "0", "query": EVIL, "answer": "deep answer", **empty},
    ]
    answer = {
        **{"technique": "drift", "status": "answered", "answer": "So.", "citations": []},
        **{"sources": [], "warnings": [], "usage": no_usage(), "tree": {"nodes": nodes}},
    }
    (tmp_path / "run.html").write_text(run_page(answer, "Why?"), encoding="utf-8")
    page.goto((tmp_path / "run.html").as_uri())

    assert page.get_by_text("wide").is_visible()
    assert not page.get_by_text("deep answer").is_visible()
    page.get_by_text(EVIL).click()
    assert page.get_by_text("deep answer").is_visible()
    assert page.evaluate("getComputedStyle(document.querySelector('main')).maxWidth") != "none"
