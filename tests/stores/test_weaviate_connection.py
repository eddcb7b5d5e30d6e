"""The life of connections: one per loop, closed by its last user, bounded by a deadline."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import socket
import warnings
from collections.abc import Awaitable

import grpc
import pytest

from ragweave.state.errors import IndexAuth, IndexTimeout, IndexUnavailable
from ragweave.stores.base import Chunk, IndexSpec, SearchSpec
from ragweave.stores.weaviate.index import WeaviateIndex
from tests.weaviate_double import Fault, WeaviateDouble

SPEC = IndexSpec(dimension=2, embeddings="test")
QUERY = SearchSpec(text="fox", vector=[1.0, 0.0])
UNAVAILABLE = Fault(code=grpc.StatusCode.UNAVAILABLE)


def chunk(id: str, text: str = "a red fox") -> Chunk:
    return Chunk(id=id, document_id="d", text=text, vector=[1.0, 2.0])


async def filled(url: str, tenant: str | None = None) -> WeaviateIndex:
    index = WeaviateIndex.from_url(url, tenant=tenant)
    await index.ensure(SPEC)
    await index.upsert([chunk(f"{tenant or 'x'}-{at}") for at in range(3)])
    return index


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def fails_in_time(call: Awaitable[object], error: type[Exception]) -> None:
    """Long before the client, left to itself, would stop trying."""
    async with asyncio.timeout(20):
        with pytest.raises(error):
            await call


async def test_200_searches_over_two_tenants_share_one_connection(
    weaviate_double: WeaviateDouble,
) -> None:
    first = await filled(weaviate_double.url, "acme")
    second = await filled(weaviate_double.url, "other")
    weaviate_double.calls.clear()
    searches = [(first if at % 2 else second).search(QUERY) for at in range(200)]
    found = await asyncio.gather(*searches)
    for at, hits in enumerate(found):
        tenant = "acme" if at % 2 else "other"
        assert {hit.chunk.id for hit in hits} == {f"{tenant}-{n}" for n in range(3)}
    calls = weaviate_double.calls_of("Search")
    assert len(calls) == 200
    assert len({call.peer for call in calls}) == 1
    await first.aclose()
    assert await second.count() == 3  # still connected
    await second.aclose()


async def test_first_calls_at_once_connect_once(weaviate_double: WeaviateDouble) -> None:
    index = WeaviateIndex.from_url(weaviate_double.url)
    await asyncio.gather(*(index.count() for _ in range(20)))
    assert len(weaviate_double.calls_of("GET /meta")) == 1
    await index.aclose()


def test_three_runs_in_a_row_use_one_index(weaviate_double: WeaviateDouble) -> None:
    index = WeaviateIndex.from_url(weaviate_double.url)

    async def run() -> int:
        await index.ensure(SPEC)
        await index.upsert([chunk("a")])
        found = await index.search(QUERY)
        await index.aclose()
        return len(found)

    assert [asyncio.run(run()) for _ in range(3)] == [1, 1, 1]


async def test_closing_twice_or_before_the_first_call_is_harmless(
    weaviate_double: WeaviateDouble,
) -> None:
    index = WeaviateIndex.from_url(weaviate_double.url)
    await index.aclose()
    assert await index.count() == 0
    await index.aclose()
    await index.aclose()
    assert await index.count() == 0  # and it may be used again
    await index.aclose()


def test_nothing_is_left_open(weaviate_double: WeaviateDouble) -> None:
    """Applications were warned of connections that nobody closed (dify#29299)."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")

        async def run() -> None:
            index = await filled(weaviate_double.url)
            await index.aclose()

        asyncio.run(run())
        gc.collect()
    assert [str(warning.message) for warning in caught] == []


@pytest.mark.slow
def test_a_forked_process_makes_a_connection_of_its_own(weaviate_double: WeaviateDouble) -> None:
    """Servers that connect once and then fork their workers used to hang in the workers
    (weaviate-python-client#1292 and #1309)."""
    script = multiprocessing.get_context("spawn").Process(
        target=_fork_after_use, args=(weaviate_double.url,)
    )
    script.start()
    script.join(60)
    assert script.exitcode == 0


def _fork_after_use(url: str) -> None:
    import os

    async def count() -> int:
        index = WeaviateIndex.from_url(url)
        await index.ensure(SPEC)
        counted = await index.count()
        await index.aclose()
        return counted

    asyncio.run(count())
    child = os.fork()
    if child == 0:
        os._exit(asyncio.run(count()))
    _, status = os.waitpid(child, 0)
    raise SystemExit(os.waitstatus_to_exitcode(status))


async def test_a_dead_server_is_an_error_at_once() -> None:
    index = WeaviateIndex.from_url(f"weaviate:http://127.0.0.1:{free_port()}")
    with pytest.raises(IndexUnavailable, match="Is it running"):
        await index.search(QUERY)
    with pytest.raises(IndexUnavailable):
        await index.ensure(SPEC)
    await index.aclose()


async def test_a_server_that_died_costs_the_deadline_and_no_more() -> None:
    """The client alone would repeat the search for a minute."""
    double = await asyncio.to_thread(WeaviateDouble().start)
    index = await filled(double.url)
    short = WeaviateIndex.from_url(f"{double.url}&timeout=1&write_timeout=1")
    assert len(await short.search(QUERY)) == 3
    await asyncio.to_thread(double.stop)
    await fails_in_time(short.search(QUERY), IndexTimeout)
    await fails_in_time(short.upsert([chunk("b")]), IndexTimeout)
    await fails_in_time(short.delete(ids=["b"]), IndexTimeout)
    await short.aclose()
    await index.aclose()


async def test_a_slow_server_costs_the_deadline_and_no_more(
    weaviate_double: WeaviateDouble,
) -> None:
    index = await filled(weaviate_double.url)
    short = WeaviateIndex.from_url(f"{weaviate_double.url}&timeout=1")
    await short.spec()
    weaviate_double.fail("Search", Fault(seconds=3))
    with pytest.raises(
        IndexTimeout, match=r"within 1 s\. Check its gRPC port too \(\d+, .grpc_port"
    ):
        await short.search(QUERY)
    assert len(await index.search(QUERY)) == 3
    await short.aclose()
    await index.aclose()


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Fault(seconds=3), id="never answered"),
        pytest.param(
            Fault(
                code=grpc.StatusCode.UNKNOWN,
                text="explorer: get class: tried to browse non-existing index for Docs",
            ),
            id="collection still being made",
        ),
    ],
)
async def test_with_replicas_a_search_is_asked_again(
    fault: Fault, weaviate_double: WeaviateDouble
) -> None:
    """A leader that was killed left searches through another node unanswered for good, and new
    ones for ten seconds; the third one was answered."""
    index = await filled(weaviate_double.url)
    replicated = WeaviateIndex.from_url(f"{weaviate_double.url}&replication=3&timeout=5")
    await replicated.spec()
    weaviate_double.fail("Search", fault, times=2)
    assert len(await replicated.search(QUERY)) == 3
    assert len(weaviate_double.calls_of("Search")) == 3
    await replicated.aclose()
    await index.aclose()


async def test_with_replicas_nothing_is_asked_without_end(
    weaviate_double: WeaviateDouble,
) -> None:
    index = await filled(weaviate_double.url)
    replicated = WeaviateIndex.from_url(f"{weaviate_double.url}&replication=3&timeout=1")
    await replicated.spec()
    weaviate_double.fail("Search", Fault(seconds=2), times=20)
    await fails_in_time(replicated.search(QUERY), IndexTimeout)
    assert 2 <= len(weaviate_double.calls_of("Search")) <= 5
    await replicated.aclose()
    await index.aclose()


async def test_a_server_that_hangs_while_connecting_costs_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        index = WeaviateIndex.from_url(
            f"weaviate:http://127.0.0.1:{silent.getsockname()[1]}?timeout=0.3"
        )
        await fails_in_time(index.count(), IndexTimeout)
        await index.aclose()


async def test_a_cancelled_call_leaves_the_connection_usable(
    weaviate_double: WeaviateDouble,
) -> None:
    index = await filled(weaviate_double.url)
    weaviate_double.fail("Search", Fault(seconds=0.5))
    search = asyncio.create_task(index.search(QUERY))
    await asyncio.sleep(0.1)
    search.cancel()
    with pytest.raises(asyncio.CancelledError):
        await search
    assert len(await index.search(QUERY)) == 3
    await index.aclose()


async def test_a_search_survives_two_refusals(weaviate_double: WeaviateDouble) -> None:
    index = await filled(weaviate_double.url)
    weaviate_double.fail("Search", UNAVAILABLE, times=2)
    assert len(await index.search(QUERY)) == 3
    await index.aclose()


@pytest.mark.parametrize("method", ["BatchObjects", "BatchDelete"])
async def test_a_write_survives_two_refusals(method: str, weaviate_double: WeaviateDouble) -> None:
    index = await filled(weaviate_double.url)
    weaviate_double.fail(method, UNAVAILABLE, times=2)
    await index.upsert([chunk("b")])
    await index.delete(ids=["x-0"])
    assert await index.count() == 3
    await index.aclose()


async def test_the_same_connection_serves_a_restarted_server(
    weaviate_double: WeaviateDouble,
) -> None:
    index = await filled(weaviate_double.url)
    await asyncio.to_thread(weaviate_double.stop)
    search = asyncio.create_task(index.search(QUERY))
    await asyncio.sleep(0.3)
    await asyncio.to_thread(weaviate_double.start)
    assert len(await search) == 3
    assert len(weaviate_double.calls_of("GET /meta")) == 1
    await index.aclose()


async def test_a_key_is_sent_and_a_wrong_one_is_refused(
    weaviate_double: WeaviateDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    weaviate_double.key = "right"
    monkeypatch.setenv("WEAVIATE_API_KEY", "right")
    index = await filled(weaviate_double.url)
    assert len(await index.search(QUERY)) == 3
    weaviate_double.key = "changed"
    with pytest.raises(IndexAuth, match="WEAVIATE_API_KEY"):
        await index.search(QUERY)
    await index.aclose()
    with pytest.raises(IndexAuth):
        await index.count()


async def test_what_is_not_weaviate_is_said_to_be_so(weaviate_double: WeaviateDouble) -> None:
    double = weaviate_double
    double.database.meta = {"hello": "world"}
    index = WeaviateIndex.from_url(double.url)
    with pytest.raises(IndexUnavailable, match="not Weaviate"):
        await index.count()


async def test_ping_reaches_both_ports(weaviate_double: WeaviateDouble) -> None:
    index = WeaviateIndex.from_url(weaviate_double.url)
    assert await index.ping() == "Weaviate 1.39.0"
    port = free_port()
    wrong = f"weaviate:http://127.0.0.1:{weaviate_double.port}?timeout=0.5&grpc_port={port}"
    unreachable = WeaviateIndex.from_url(wrong)
    with pytest.raises((IndexTimeout, IndexUnavailable), match=f"gRPC port.*{port}"):
        await unreachable.ping()
    await index.aclose()
    await unreachable.aclose()
