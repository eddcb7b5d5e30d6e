"""The table of what each technique streams, stores and traces, against a run of each."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ragweave.graphs.auto import build as build_auto
from tests.graphs.running import run
from tests.graphs.techniques import BUILDERS, QUESTION, THOROUGH, script
from tests.integration.test_tracing import CALLS, SEARCHES
from tests.servers import OpenAIStub

PAGE = Path(__file__).parents[2] / "docs" / "tracing.md"
GRAPHS = {**BUILDERS, "auto": build_auto}
PICKED = "citation"
"""What `auto` picks for the question."""


def table() -> dict[str, list[set[str]]]:
    """By technique, the names in each cell of its row."""
    _, _, page = PAGE.read_text("utf-8").partition("| technique |")
    rows = [line.strip("|").split("|") for line in page.partition("\n\n")[0].splitlines()[2:]]
    return {
        first.strip().strip("`"): [set(re.findall(r"`(\w+)`", cell)) for cell in cells]
        for first, *cells in rows
    }


ROWS = table()


@pytest.mark.parametrize("technique", GRAPHS)
async def test_the_table_names_all_that_a_run_shows_and_keeps(
    technique: str, town: str, openai_stub: OpenAIStub
) -> None:
    openai_stub.script = script
    context = {"index": town, "model": "openai:stub", **THOROUGH.get(technique, {})}
    ended = await run(GRAPHS[technique](), QUESTION, context)
    steps, documents, _, calls = (
        every | own for every, own in zip(ROWS["all"], ROWS[technique], strict=True)
    )
    if technique == "auto":
        assert ended.state["technique"] == PICKED
        calls |= ROWS[PICKED][3]
    seen = {event["type"] for event in ended.events}
    assert {"retrieved", "token", "cited"} <= seen <= steps
    kept = {key for key, value in ended.state.items() if holds_documents(value)}
    assert {"sources"} <= kept <= documents
    assert set(ended.output["usage"]["stages"]) <= calls


def holds_documents(value: Any) -> bool:
    """Whether a value of the state has the text of documents in it."""
    if isinstance(value, dict):
        return {"document_id", "text"} <= set(value) or any(map(holds_documents, value.values()))
    return isinstance(value, list) and any(map(holds_documents, value))


def test_the_table_names_what_is_traced() -> None:
    assert set(ROWS) == {"all", *GRAPHS}
    for technique in SEARCHES:
        _, _, searches, calls = ROWS[technique]
        assert set(SEARCHES[technique]) <= searches
        assert CALLS[technique] <= calls
