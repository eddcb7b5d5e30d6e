"""Whole real documents through a scripted model: what was expected, and what was asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragweave.graphs.graph_index import graph
from ragweave.state.graph_index import GraphIndexContext
from tests.graphs.graph_script import GraphScript, asked, prompts
from tests.graphs.test_graph_index import tables_of
from tests.servers import OpenAIStub

pytestmark = pytest.mark.slow


async def build(index: str, path: Path, **settings: Any) -> Any:
    context = GraphIndexContext(index=index, model="openai:stub", **settings)
    return await graph.ainvoke({"paths": [str(path)]}, context=context)


@pytest.mark.parametrize("gleanings", [0, 1])
@pytest.mark.parametrize("corpus", ["christmas_carol.txt", "peps"])
async def test_calls_are_those_expected(
    data: Path, tmp_path: Path, openai_stub: OpenAIStub, corpus: str, gleanings: int
) -> None:
    openai_stub.script = GraphScript(wordy=2)
    index = f"lance:{tmp_path / 'graph'}"

    dry = await build(index, data / "demo" / corpus, gleanings=gleanings, dry_run=True)
    assert openai_stub.chats == []
    done = await build(index, data / "demo" / corpus, gleanings=gleanings)

    tables = await tables_of(index)
    kinds = asked(openai_stub.chats)
    assert kinds["Extraction"] == (1 + gleanings) * len(tables.text_units)
    assert kinds["Extraction"] == dry["expected_stages"]["extract"]
    # Communities of which the same is known share one report.
    assert kinds["CommunityReport"] <= len(tables.communities)
    summarised = [e for e in tables.entities if e.description.startswith("Summary of")]
    assert kinds["MergedDescription"] >= len(summarised)
    assert done["usage"]["calls"] == kinds.total()
    assert set(prompts(openai_stub.chats).values()) == {1}
    print(f"\n{corpus}, {gleanings} gleanings: expected {dry['expected_stages']}, asked {kinds}")
