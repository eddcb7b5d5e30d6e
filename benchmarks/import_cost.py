"""What importing a graph adds to importing langgraph and langchain-openai.

    python benchmarks/import_cost.py [GRAPH ...]

Each import runs in a process of its own; the figures are medians of `RUNS`. CPU is user and system
time together, memory the peak resident set. To reach: at most 0.3 s and 30 MB.
"""

from __future__ import annotations

import subprocess
import sys
from statistics import median

RUNS = 7
BASE = "langgraph.graph, langchain_openai"


def cost(modules: str) -> tuple[float, float]:
    """Median CPU seconds and peak megabytes of a process that imports these modules."""
    script = f"""
import resource
import {modules}
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, used.ru_maxrss)
"""
    runs = []
    for _ in range(RUNS):
        ended = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        )
        seconds, kilobytes = map(float, ended.stdout.split())
        runs.append((seconds, kilobytes / 1024))
    return median(seconds for seconds, _ in runs), median(size for _, size in runs)


def main() -> None:
    base_seconds, base_size = cost(BASE)
    print(f"{BASE}: {base_seconds:.2f} s, {base_size:.0f} MB")
    for name in sys.argv[1:] or ["crag"]:
        seconds, size = cost(f"{BASE}, ragweave.graphs.{name}")
        print(f"{name}: + {seconds - base_seconds:.2f} s, + {size - base_size:.0f} MB")


if __name__ == "__main__":
    main()
