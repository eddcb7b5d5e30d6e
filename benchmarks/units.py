"""Time and memory of grouping documents with random links of degree 4 into retrieval units.

    python benchmarks/units.py [DOCUMENTS ...]

Each size runs in processes of its own; time is the least of `RUNS`, memory the peak resident set.
To reach: 50,000 documents in at most 1 s, and in at most 15 times what 5,000 take.
"""

from __future__ import annotations

import subprocess
import sys

RUNS = 5
SIZES = (5_000, 50_000, 1_000_000)
SCRIPT = """
import resource, sys, time
import numpy as np
from ragweave.indexing.units import group_documents

count = int(sys.argv[1])
random = np.random.default_rng(1)
links = np.stack([np.repeat(np.arange(count), 4), random.integers(0, count, 4 * count)], axis=1)
sizes = random.integers(50, 1_500, count).tolist()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
started = time.perf_counter()
units = group_documents(sizes, [links], max_tokens=4_000, max_documents=20)
seconds = time.perf_counter() - started
print(seconds, len(units), before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def measure(count: int) -> tuple[float, int, float, float]:
    """Seconds, number of units, and megabytes before and at the peak."""
    runs = []
    for _ in range(RUNS if count <= 100_000 else 1):
        command = [sys.executable, "-c", SCRIPT, str(count)]
        ended = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds, units, before, peak = ended.stdout.split()
        runs.append((float(seconds), int(units), int(before) / 1024, int(peak) / 1024))
    return min(runs)


def main() -> None:
    """Print one row for each size."""
    print(f"{'documents':>10} {'units':>8} {'seconds':>8} {'MB':>6} {'of it links and sizes':>22}")
    for count in map(int, sys.argv[1:] or SIZES):
        seconds, units, before, peak = measure(count)
        print(f"{count:>10,} {units:>8,} {seconds:>8.2f} {peak:>6.0f} {before:>22.0f}")


if __name__ == "__main__":
    main()
