"""What tests of every technique share: documents with their graph, and a model that suits all."""

from __future__ import annotations

import asyncio
import importlib
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ragweave.models.offline.sections import question_of
from ragweave.models.prompt import parse
from tests.servers import prompt_of, schema_of

BUILDERS: dict[str, Callable[..., Any]] = {
    name: importlib.import_module(f"ragweave.graphs.{name}").build
    for name in ("crag", "rag_fusion", "longrag", "citation", "local_search", "drift")
}
TECHNIQUES = list(BUILDERS)

TOWN = {
    "ships.md": "The Aurora sails to Port Vale. Captain Brandt commands the Aurora.",
    "towns.md": "Port Vale trades with Karlsburg. Mayor Linde rules Port Vale.",
    "crew.md": "Captain Brandt met Mayor Linde in Karlsburg. The Aurora was repaired there.",
    "trade.md": "Karlsburg sells salt and Port Vale sells rope. The Aurora carries both.",
    "annals.md": "\n\n".join(
        f"In the year {year} the Aurora carried {year} barrels of salt from Karlsburg to Port Vale."
        for year in range(1701, 1761)
    ),
}
QUESTION = "What does the Aurora carry to Port Vale?"
ANSWER = "The Aurora carries salt and rope [1]. Captain Brandt commands it [2]."

THOROUGH: dict[str, dict[str, Any]] = {
    "crag": {"web_search": "never", "refine": False},
    "rag_fusion": {},
    "longrag": {"reader_tokens": 1_000, "short_answer": True},
    "citation": {"prompt_tokens": 1_000},
    "local_search": {},
    "drift": {
        "similar_above": 1,
        "stop_when_flat": False,
        "primer_folds": 2,
        "n_depth": 2,
        "drift_k_followups": 3,
        "local_search_max_data_tokens": 1_500,
    },
}
"""Settings by technique under which it makes several calls, some of them at once."""


def make_town(folder: Path) -> str:
    """Index a few documents and, without a model, their knowledge graph. Returns its name."""
    from ragweave.graphs.graph_index import graph as graph_index
    from ragweave.graphs.ingest import graph as ingest
    from ragweave.state.graph_index import GraphIndexContext
    from ragweave.state.ingest import IngestContext

    texts = folder / "texts"
    texts.mkdir(parents=True)
    for name, text in TOWN.items():
        (texts / name).write_text(text, encoding="utf-8")
    index = f"lance:{folder / 'index'}"

    async def make() -> None:
        paths: Any = {"paths": [str(texts)]}
        await ingest.ainvoke(paths, context=IngestContext(index=index))
        context = GraphIndexContext(index=index, extract="offline")
        await graph_index.ainvoke(paths, context=context, config={"recursion_limit": 200})

    asyncio.run(make())
    return index


def script(request: dict[str, Any]) -> Any:
    """Says the same to the same prompt, whatever kind of answer is asked for."""
    question = question_of(parse(request["messages"][1]["content"]))
    follow_ups = [f"Who is {number} of {zlib.crc32(question.encode()) % 997}?" for number in (1, 2)]
    match schema_of(request):
        case None:
            return ANSWER
        case "DocumentGrade":
            return {"reason": "It is about it.", "verdict": "relevant"}
        case "SearchQueries":
            queries = ["cargo of the Aurora", "trade of Port Vale"]
            return {"reason": "", "kind": "paraphrase", "queries": queries}
        case "StandaloneQuestion":
            return {"question": f"Of the Aurora: {prompt_of(request)[-30:]}"}
        case "Refinement":
            return {"adds": False, "answer": ""}
        case "PrimerAnswer":
            return {
                "intermediate_answer": "# First\nThe reports speak of the Aurora [1].",
                "score": 60,
                "follow_up_queries": follow_ups,
            }
        case "LocalAnswer":
            return {"response": "So it is [1][2].", "score": 70, "follow_up_queries": follow_ups}
        case name:
            raise ValueError(f"nothing to say as {name}")
