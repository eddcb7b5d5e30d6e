"""The default search finds what it should, over public questions (`benchmarks/retrieval.py`)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from benchmarks.retrieval import DEFAULT, SEARCHES, TARGETS, measure, read_collections
from ragweave.stores.registry import aclose_all


@pytest.mark.parametrize(
    "set_name",
    [
        pytest.param("HotpotQA", marks=pytest.mark.slow),
        pytest.param("CLAP-NQ", marks=pytest.mark.slow),
        pytest.param("CMRC 2018 (zh)", marks=pytest.mark.slow),
        "statutes (zh)",
    ],
)
async def test_recall_of_the_default_search(data: Path, tmp_path: Path, set_name: str) -> None:
    collections = await asyncio.to_thread(read_collections, data)
    [collection] = [item for item in collections if set_name in item.questions]
    found = await measure(collection, f"lance:{tmp_path / 'index'}", [SEARCHES[DEFAULT]])
    await aclose_all()
    column = list(SEARCHES).index(DEFAULT)
    for key, [recall] in found.items():
        assert recall > TARGETS[key][column] - 0.0101, key
