"""Time and memory of merging, clustering and writing knowledge graphs of growing corpora.

    PYTHONPATH=. python benchmarks/graph_scale.py [UNITS ...]

For each number of text units there are ten times as many entities, with names, descriptions and
relationships as a model extracts them: 20 entities a unit, half of them named before, and 20
relationships. Everything is drawn from one seed. Each size runs in a process of its own. Writing
is into the embedded index and as a folder of GraphRAG's, with reports and random vectors of 256
dimensions; `again` writes one entity that has changed, and reads the graph anew. Seconds are CPU
time of all threads, memory is the peak resident set so far.
"""

from __future__ import annotations

import asyncio
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from ragweave.indexing.graph.communities import find_communities
from ragweave.indexing.graph.merge import merge_extractions, records
from ragweave.indexing.graph.reports import quoted_report, report_record
from ragweave.models.graph_schemas import ExtractedEntity, ExtractedRelationship, Extraction
from ragweave.stores.base import IndexSpec
from ragweave.stores.graph import (
    EMBEDDED,
    Embedded,
    GraphChanges,
    GraphDocument,
    GraphIndex,
    GraphTables,
    TextUnit,
)
from ragweave.stores.graphrag.folder import GraphRagFolder
from ragweave.stores.lance.graph import LanceGraph

SIZES = (200, 1_000, 2_000)
ENTITIES_A_UNIT = 20
NEW_A_UNIT = 10
RELATIONSHIPS_A_UNIT = 20
UNITS_A_DOCUMENT = 20
DIMENSION = 256
STEPS = ("merge", "cluster", "report", "lance", "again", "graphrag")


def main() -> None:
    """Measure the sizes given, each in a process of its own, and print a table of them."""
    if sys.argv[1:2] == ["--child"]:
        asyncio.run(measure(int(sys.argv[2])))
        return
    print(f"{'units':>6} {'entities':>9} {'relations':>9} {'communities':>11}", end="")
    print("".join(f"{step:>18}" for step in STEPS))
    for size in map(int, sys.argv[1:] or SIZES):
        command = [sys.executable, __file__, "--child", str(size)]
        subprocess.run(command, check=True, env={**os.environ, "LANCE_LOG": "error"})


async def measure(size: int) -> None:
    """Make one graph and print its row."""
    measured: list[str] = []
    units = list(corpus(size))
    with step(measured):
        entities, edges, _ = records(merge_extractions(units))
    with step(measured):
        communities = find_communities(entities, edges)
    tables = GraphTables(
        documents=tuple(documents(size)),
        text_units=tuple(text_units(size)),
        entities=tuple(entities),
        relationships=tuple(edges),
        communities=tuple(communities),
    )
    with step(measured):
        reports = [report_record(item, quoted_report(tables, item)) for item in communities]
    tables = replace(tables, reports=tuple(reports))
    with tempfile.TemporaryDirectory() as place:
        lance, folder = LanceGraph(Path(place) / "lance"), GraphRagFolder(f"graphrag:{place}/out")
        await write(lance, tables, measured)
        changed = replace(entities[0], description="It was said anew.")
        with step(measured):
            await lance.write(GraphChanges(upsert=GraphTables(entities=(changed,))))
            await lance.tables()
        await write(folder, tables, measured)
    print(f"{size:>6,} {len(entities):>9,} {len(edges):>9,} {len(communities):>11,}", end="")
    print("".join(f"{cell:>18}" for cell in measured))


@contextmanager
def step(measured: list[str]) -> Iterator[None]:
    """Note the seconds of what is done inside, and the peak memory of the process at its end."""
    started = time.process_time()
    yield
    seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    measured.append(f"{seconds:.2f} s {peak:,.0f} MB")


async def write(graph: GraphIndex, tables: GraphTables, measured: list[str]) -> None:
    """Write a whole graph into an empty store."""
    await graph.ensure(IndexSpec(DIMENSION, "offline"))
    changes = GraphChanges(upsert=tables, vectors=vectors(tables))
    with step(measured):
        await graph.write(changes)


def vectors(tables: GraphTables) -> dict[Embedded, dict[str, list[float]]]:
    """A random vector for each record that has one."""
    draw = np.random.default_rng(7)
    found: dict[Embedded, dict[str, list[float]]] = {}
    for table in EMBEDDED:
        ids = [record.id for record in getattr(tables, table)]
        rows = draw.standard_normal((len(ids), DIMENSION), dtype=np.float32).tolist()
        found[table] = dict(zip(ids, rows, strict=True))
    return found


def corpus(size: int) -> Iterator[tuple[str, Extraction]]:
    """What was extracted of each text unit: neighbours speak of the same, and a few of anything."""
    draw = random.Random(7)
    names: list[str] = []
    for number in range(size):
        new = [name(draw, len(names) + place) for place in range(NEW_A_UNIT)]
        near = names[-100:]
        old = draw.sample(near, min(len(near), NEW_A_UNIT - 2))
        old += draw.sample(names[:1_000], min(len(names), 2))
        names += new
        titles = list(dict.fromkeys([*new, *old]))
        yield f"unit-{number}", extraction(draw, titles)


def extraction(draw: random.Random, titles: list[str]) -> Extraction:
    pairs = [draw.sample(titles, 2) for _ in range(RELATIONSHIPS_A_UNIT)]
    kinds = ("person", "organization", "place", "concept")
    return Extraction(
        entities=[
            ExtractedEntity(
                title=title,
                type=kinds[len(title) % len(kinds)],
                description=f"{title} {words(draw, 20)}.",
            )
            for title in titles
        ],
        relationships=[
            ExtractedRelationship(
                source=one, target=other, description=f"{one} {words(draw, 12)} {other}."
            )
            for one, other in pairs
        ],
    )


def name(draw: random.Random, number: int) -> str:
    """A name of two words that is no other one's."""
    return f"{words(draw, 1)} {spelled(number)}".title()


def spelled(number: int) -> str:
    """Syllables for a number."""
    syllables = []
    for _ in range(4):
        number, place = divmod(number, 75)
        syllables.append("bdfgklmnprstvwz"[place // 5] + "aeiou"[place % 5])
    return "".join(syllables)


def words(draw: random.Random, count: int) -> str:
    return " ".join(spelled(draw.randrange(5_000)) for _ in range(count))


def documents(size: int) -> Iterator[GraphDocument]:
    for number in range(-(-size // UNITS_A_DOCUMENT)):
        text = words(random.Random(number), 900 * UNITS_A_DOCUMENT)
        yield GraphDocument(id=f"document-{number}", number=number, title=f"{number}", text=text)


def text_units(size: int) -> Iterator[TextUnit]:
    for number in range(size):
        text = words(random.Random(-number - 1), 900)
        document = f"document-{number // UNITS_A_DOCUMENT}"
        yield TextUnit(f"unit-{number}", number, text, tokens=1_200, document_id=document)


if __name__ == "__main__":
    main()
