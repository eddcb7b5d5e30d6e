"""Many runs at once on the LangGraph server, over two tenants of one Weaviate."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_client

from ragweave.models.embedding import embed_texts
from ragweave.stores import open_index
from ragweave.stores.base import Chunk, IndexSpec
from ragweave.stores.registry import aclose_all
from tests.integration.conftest import Server, serving
from tests.servers.tavily_stub import TavilyStub
from tests.weaviate_double import WeaviateDouble

RUNS = 200
WAIT_SECONDS = 900
WEIGHTS = {"acme": "3 kg", "globex": "9 kg"}


@pytest.fixture
def busy_server(tmp_path: Path, web: TavilyStub) -> Iterator[Server]:
    """A server that works on all runs at the same time."""
    with serving(tmp_path, web, "--n-jobs-per-worker", str(RUNS)) as running:
        yield running


async def fill(name: str, tenant: str) -> None:
    texts = [f"The brass lamp of {tenant} weighs {WEIGHTS[tenant]}.", f"{tenant} sells lamps."]
    vectors = await embed_texts(texts, embeddings="offline")
    index = await open_index(name, tenant=tenant)
    await index.ensure(IndexSpec(dimension=len(vectors[0]), embeddings="offline"))
    await index.upsert(
        [
            Chunk(id=f"{tenant}-{at}", document_id=tenant, text=text, vector=vector)
            for at, (text, vector) in enumerate(zip(texts, vectors, strict=True))
        ]
    )


@pytest.mark.slow
async def test_200_runs_over_two_tenants_share_one_connection(
    weaviate_double: WeaviateDouble, busy_server: Server
) -> None:
    name = f"{weaviate_double.url}&collection=Shared"
    for tenant in WEIGHTS:
        await fill(name, tenant)
    await aclose_all()
    weaviate_double.calls.clear()

    async with get_client(url=busy_server.url, timeout=WAIT_SECONDS) as client:

        async def ask(tenant: str) -> Any:
            return await client.runs.wait(
                None,
                "citation",
                input={"question": "What does the brass lamp weigh?"},
                context={"index": name, "tenant": tenant},
            )

        tenants = [tenant for _ in range(RUNS // 2) for tenant in WEIGHTS]
        answers = await asyncio.gather(*(ask(tenant) for tenant in tenants))

    for tenant, answer in zip(tenants, answers, strict=True):
        assert WEIGHTS[tenant] in answer["answer"]
        assert {source["document_id"] for source in answer["sources"]} == {tenant}
    searches = weaviate_double.calls_of("Search")
    assert len(searches) >= RUNS
    assert len({call.peer for call in searches}) == 1
    assert {call.request.tenant for call in searches} == set(WEIGHTS)
    assert len(weaviate_double.calls_of("GET /meta")) == 1
    log = await asyncio.to_thread(busy_server.log)
    assert re.findall("BlockingError|[Bb]locking call|Traceback", log) == []
