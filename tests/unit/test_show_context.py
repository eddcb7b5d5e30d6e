"""The context of a question can be looked at without a model call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragweave.serving.graph_context import GraphTechnique, show_context
from ragweave.state.errors import IndexMissing, IndexSchemaMismatch, InvalidSetting


@pytest.fixture
def parity(data: Path) -> tuple[list[dict[str, Any]], list[float]]:
    """Contexts that GraphRAG built for one query, and its vector."""
    pytest.importorskip("bpe_openai", reason="needs the extra graphrag")
    folder = data / "graphrag/parity"
    cases = json.loads((folder / "dulce.json").read_text(encoding="utf-8"))[:3]
    return cases, np.load(folder / "dulce_queryvecs.npz")["q0"].tolist()


async def test_it_is_the_instrument_for_parity(
    data: Path, parity: tuple[list[dict[str, Any]], list[float]]
) -> None:
    (drift, local, even), vector = parity
    given: Any = {
        "query_vector": vector,
        "index": f"graphrag:{data / 'graphrag/dulce'}",
        "context_mode": "graphrag",
    }

    shown = [
        await show_context(drift["query"], technique="drift", **given),
        await show_context(local["query"], **given),
        await show_context(even["query"], text_unit_prop=0.4, community_prop=0.3, **given),
    ]

    for mine, theirs in zip(shown, (drift, local, even), strict=True):
        assert mine["entities"] == theirs["entities"]
        assert mine["relationships"] == theirs["relationships"]
        assert mine["reports"] == theirs["reports"]
        assert mine["sources"] == theirs["sources"]
        assert mine["total_tokens"] == theirs["tokens_total"]
        assert mine["text"] == theirs["text"]


@pytest.mark.parametrize("technique", ["local_search", "drift"])
async def test_by_default_every_table_is_shown(data: Path, technique: GraphTechnique) -> None:
    shown = await show_context(
        "Who leads the squad?",
        technique=technique,
        index=f"graphrag:{data / 'graphrag/dulce'}",
        embeddings="offline",
        max_context_tokens=3_000,
    )

    assert set(shown["tokens"]) == {"reports", "entities", "relationships", "sources"}
    assert shown["total_tokens"] <= 3_000
    assert '<source number="1"' in shown["text"]
    assert any("embedded anew" in warning for warning in shown["warnings"])


async def test_mistakes_are_said_in_one_line(data: Path, tmp_path: Path) -> None:
    index = f"graphrag:{data / 'graphrag/dulce'}"
    with pytest.raises(InvalidSetting, match='no setting of local_search "budget"'):
        await show_context("q", index=index, budget=3)
    with pytest.raises(InvalidSetting, match="must be at most 1"):
        await show_context("q", index=index, text_unit_prop=0.9, community_prop=0.2)
    with pytest.raises(IndexSchemaMismatch, match="3072 dimensions"):
        await show_context("q", index=index, query_vector=[1.0, 2.0])
    with pytest.raises(IndexMissing):
        await show_context("q", index=f"lance:{tmp_path / 'none'}")
