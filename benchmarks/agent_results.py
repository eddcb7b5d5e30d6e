"""What a question costs an agent that asks a graph by MCP: characters and tokens of the result.

    python benchmarks/agent_results.py [QUESTION]

The server gives an agent the text of a graph's output. For each technique: its own output, and that
of `ask_documents` bound to it. The index is made of this project's documentation and code, offline.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any

from ragweave.graphs.ask_documents import graph as ask_documents
from ragweave.models.tokens import token_counter
from ragweave.serving.graph_indexing import agraph_index
from ragweave.serving.ingesting import agroup, aingest
from ragweave.serving.techniques import context_type, load
from ragweave.state.auto import TECHNIQUE_NAMES, AutoContext
from ragweave.state.context import context_of

ROOT = Path(__file__).parents[1]
PATHS = [str(ROOT / name) for name in ("README.md", "docs")]
QUESTION = "How are the citations of an answer checked?"


async def make_index(index: str) -> None:
    """Chunks, retrieval units and a knowledge graph of this project's documentation."""
    await aingest(*PATHS, index=index)
    await agroup(index=index)
    await agraph_index(*PATHS, index=index, extract="offline")


async def results(technique: Any, index: str, question: str) -> tuple[str, str]:
    """The text of a technique's own output, and of the brief one."""
    asked: Any = {"question": question}
    graph = load(technique)
    brief = AutoContext(index=index, techniques=[technique], web_search="never")
    own = context_of({}, brief.model_dump(), context_type(graph))
    whole = await graph.ainvoke(asked, context=own)
    return repr(whole), repr(await ask_documents.ainvoke(asked, context=brief))


async def main(question: str) -> None:
    """Print one row for each technique."""
    count = await token_counter()
    print(f"{'':14}{'own output':>22}{'ask_documents':>22}")
    print(f"{'technique':14}{'characters':>12}{'tokens':>10}{'characters':>12}{'tokens':>10}")
    with tempfile.TemporaryDirectory() as folder:
        index = f"lance:{folder}/index"
        await make_index(index)
        for technique in TECHNIQUE_NAMES:
            whole, brief = await results(technique, index, question)
            tokens = count([whole, brief])
            sizes = f"{len(whole):>12,}{tokens[0]:>10,}{len(brief):>12,}{tokens[1]:>10,}"
            print(f"{technique:14}{sizes}")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:2] or [QUESTION]))
