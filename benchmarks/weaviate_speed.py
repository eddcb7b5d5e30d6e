"""What an index in Weaviate costs beside the bare client, and how soon a dead server is noticed.

    python benchmarks/weaviate_speed.py weaviate:http://HOST:8080

Both write and search the same objects in one run, in turns, in collections `SpeedOurs` and
`SpeedBare`, which are made anew and deleted afterwards. `CHUNKS=N` writes another number.
"""

from __future__ import annotations

import asyncio
import os
import random
import socket
import statistics
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
from weaviate.classes.query import HybridFusion, MetadataQuery

from ragweave.state.errors import IndexFailure
from ragweave.stores.base import Chunk, IndexSpec, SearchSpec
from ragweave.stores.checks import check_chunks
from ragweave.stores.weaviate.access import Access
from ragweave.stores.weaviate.address import parse_address
from ragweave.stores.weaviate.index import WeaviateIndex
from ragweave.stores.weaviate.rows import CHUNK_PROPERTIES, chunk_row

DIMENSION = 1536
BATCH = 200
SEARCHES = 200
SPEC = IndexSpec(dimension=DIMENSION, embeddings="random")


def main() -> None:
    """Print one line for each figure."""
    if len(sys.argv) != 2:
        sys.exit("Usage: python benchmarks/weaviate_speed.py weaviate:URL")
    asyncio.run(measure(sys.argv[1], int(os.environ.get("CHUNKS", "2000"))))


async def measure(url: str, count: int) -> None:
    chunks = made_up(count)
    join = "&" if "?" in url else "?"
    names = [f"{url}{join}collection=Speed{name}" for name in ("Ours", "Bare")]
    await asyncio.gather(*map(delete, names))
    ours, bare = [WeaviateIndex.from_url(name) for name in names]
    await ours.ensure(SPEC)
    await bare.ensure(SPEC)
    collection = await Access(parse_address(names[1]), None).collection("SpeedBare")
    await compare_writes(ours, collection, chunks)
    await compare_searches(ours, collection, chunks)
    print(f"200 hybrid searches at once: {await seconds(lambda: at_once(ours, chunks)):.2f} s")
    await notice_a_dead_server()
    await asyncio.gather(*map(delete, names))
    await ours.aclose()
    await bare.aclose()


async def compare_writes(ours: WeaviateIndex, collection: Any, chunks: list[Chunk]) -> None:
    """In turns of a few batches, so that both meet indexes of the same size."""
    checked, _ = check_chunks(chunks, SPEC)
    objects = [chunk_row(item, "SpeedBare", "chunk").object for item in checked]
    turn = BATCH * 5
    taken = {"ours": 0.0, "bare": 0.0}

    async def write_bare(start: int) -> None:
        for first in range(start, min(start + turn, len(objects)), BATCH):
            await collection.data.insert_many(objects[first : first + BATCH])

    for start in range(0, len(chunks), turn):
        taken["ours"] += await seconds(lambda s=start: ours.upsert(chunks[s : s + turn]))
        taken["bare"] += await seconds(lambda s=start: write_bare(s))
    speeds = {name: len(chunks) / spent for name, spent in taken.items()}
    print(
        f"upsert of {len(chunks)} x {DIMENSION}: {speeds['ours']:.0f}/s, insert_many "
        f"{speeds['bare']:.0f}/s, {speeds['ours'] / speeds['bare']:.0%}"
    )


async def compare_searches(ours: WeaviateIndex, collection: Any, chunks: list[Chunk]) -> None:
    """Paired: each query by both, first one then the other."""
    bare_times, our_times = [], []
    for at in range(SEARCHES):
        chunk = random.Random(at).choice(chunks)
        words = " ".join(chunk.text.split()[:6])
        query = SearchSpec(text=words, vector=chunk.vector, k=8)

        async def bare(words: str = words, vector: Any = chunk.vector) -> object:
            return await collection.query.hybrid(
                words,
                vector=vector,
                target_vector="chunk",
                alpha=0.25,
                fusion_type=HybridFusion.RELATIVE_SCORE,
                query_properties=["terms"],
                limit=8,
                return_metadata=MetadataQuery(score=True),
                return_properties=CHUNK_PROPERTIES,
            )

        async def our(query: SearchSpec = query) -> object:
            return await ours.search(query)

        for call, times in ((bare, bare_times), (our, our_times))[:: 1 if at % 2 else -1]:
            times.append(await seconds(call))
    over = statistics.median(o - b for o, b in zip(our_times, bare_times, strict=True))
    print(
        f"hybrid search: {statistics.median(our_times) * 1e3:.2f} ms, client "
        f"{statistics.median(bare_times) * 1e3:.2f} ms, over it {over * 1e3:.2f} ms (p50)"
    )


async def at_once(ours: WeaviateIndex, chunks: list[Chunk]) -> None:
    await ours.search_many(
        [SearchSpec(text="word1 word2", vector=chunk.vector) for chunk in chunks[:200]]
    )


async def notice_a_dead_server() -> None:
    """A port that takes connections and never answers, with a deadline of 1 s."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        index = WeaviateIndex.from_url(
            f"weaviate:http://127.0.0.1:{silent.getsockname()[1]}?timeout=1"
        )

        async def fail() -> None:
            try:
                await index.count()
            except IndexFailure as error:
                print(f"silent server, deadline 1 s: {type(error).__name__} ", end="")

        print(f"after {await seconds(fail):.2f} s")


async def delete(name: str) -> None:
    access = Access(parse_address(name), None)
    for suffix in ("", "_parents", "_documents"):
        name = access.address.collection + suffix
        await access.ask(lambda client, name=name: client.collections.delete(name))
    await access.aclose()


async def seconds(call: Callable[[], Awaitable[object]]) -> float:
    loop = asyncio.get_running_loop()
    started = loop.time()
    await call()
    return loop.time() - started


def made_up(count: int) -> list[Chunk]:
    """Chunks of 120 words and vectors of noise: the cost, not the quality, of search."""
    words = [f"word{number}" for number in range(5_000)]
    chosen = random.Random(0)
    vectors = np.random.default_rng(0).normal(size=(count, DIMENSION)).astype(np.float32).tolist()
    return [
        Chunk(f"c{at}", f"d{at // 10}", " ".join(chosen.choices(words, k=120)), vector=vector)
        for at, vector in enumerate(vectors)
    ]


if __name__ == "__main__":
    main()
