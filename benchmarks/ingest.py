"""How fast ingest is, and that its memory does not grow with the corpus.

    RAGWEAVE_DATA=... python benchmarks/ingest.py [--passages 1200] [--times 10]

Ingests a corpus (a JSON Lines file of passages and 8 PEPs), then the same corpus many times over,
each copy with words of its own, each in a process of its own, into the embedded index with the
offline embeddings. Prints speed and peak memory, then the same for a second run, which finds
everything unchanged. Past 20,000 chunks the index also builds a vector index, in memory that is
bounded by the size of its partitions.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path


def write_corpus(folder: Path, data: Path, number: int, times: int) -> None:
    passages = (data / "bench/multihop/passages.jsonl").read_text("utf-8").splitlines()[:number]
    with (folder / "passages.jsonl").open("w", encoding="utf-8") as out:
        for copy in range(times):
            for line in passages:
                record = json.loads(line)
                record["id"] = f"{copy}-{record['id']}"
                record["text"] = f"{record['text']} (copy {copy})"
                out.write(json.dumps(record, ensure_ascii=False) + "\n")
    for copy in range(times):
        (folder / f"peps{copy}").mkdir()
        for pep in sorted((data / "demo/peps").iterdir())[:8]:
            text = pep.read_text("utf-8").replace("the ", f"the copy{copy} ", 200)
            (folder / f"peps{copy}" / pep.name).write_text(text, "utf-8")


async def ingest(folder: str, index: str) -> None:
    from ragweave.graphs.ingest import graph

    report = await graph.ainvoke({"paths": [folder]}, context={"index": index})  # type: ignore[arg-type]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    report["failed"] = len(report["failed"])
    print(json.dumps({**report, "peak_mb": peak}))


def measure(folder: Path, index: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--child", str(folder), f"lance:{index}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--passages", type=int, default=1200, help="in the small corpus")
    parser.add_argument("--times", type=int, default=10, help="copies in the large corpus")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        asyncio.run(ingest(*given.child))
        return
    if not os.environ.get("RAGWEAVE_DATA"):
        sys.exit("Set RAGWEAVE_DATA to the folder of test data.")
    compare(Path(os.environ["RAGWEAVE_DATA"]), given.passages, given.times)


def compare(data: Path, passages: int, times: int) -> None:
    print("| corpus | documents | chunks | seconds | documents/s | chunks/s | peak memory |")
    print("|---|---|---|---|---|---|---|")
    peaks = {}
    for copies in (1, times):
        with tempfile.TemporaryDirectory() as place:
            corpus, index = Path(place) / "corpus", Path(place) / "index"
            corpus.mkdir()
            write_corpus(corpus, data, passages, copies)
            for run in ("first run", "run again"):
                got = measure(corpus, index)
                documents = got["added"] + got["unchanged"]
                print(
                    f"| x{copies}, {run} | {documents:,.0f} | {got['chunks']:,.0f} "
                    f"| {got['seconds']:.1f} | {documents / got['seconds']:,.0f} "
                    f"| {got['chunks'] / got['seconds']:,.0f} | {got['peak_mb']:,.0f} MB |",
                    flush=True,
                )
                peaks[copies, run] = got["peak_mb"]
    for run in ("first run", "run again"):
        ratio = peaks[times, run] / peaks[1, run]
        print(f"\nPeak memory, {run}: x{times} / x1 = {ratio:.2f}")


if __name__ == "__main__":
    main()
