"""A process to be killed: it completes the run that the one before it began, then begins another.

python kill_program.py DATABASE TECHNIQUE CONTEXT NUMBER

It says `completed ANSWER CALLS`, then `ready`, and begins run NUMBER when it is told to go.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from typing import Any

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

QUESTION = {"question": "What does the Aurora carry to Port Vale?"}


async def complete(graph: Any, number: int, context: Any) -> None:
    """Finish a run, from its question if the process died before it was stored.

    Its context is kept in the state by the first node.
    """
    config = {"configurable": {"thread_id": str(number)}}
    stored = await graph.aget_state(config)
    state = await graph.ainvoke(
        None if stored.created_at else QUESTION,
        config,
        context=None if "settings" in stored.values else context,
        durability="sync",
    )
    print("completed", json.dumps([state["answer"], state["status"], state["messages"][-1].text]))


async def main(database: str, technique: str, context: Any, number: int) -> None:
    build = importlib.import_module(f"ragweave.graphs.{technique}").build
    async with AsyncSqliteSaver.from_conn_string(database) as saver:
        graph = build().compile(checkpointer=saver)
        if number:
            await complete(graph, number - 1, context)
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        config: Any = {"configurable": {"thread_id": str(number)}}
        await graph.ainvoke(QUESTION, config, context=context, durability="sync")
        print("ended", flush=True)


if __name__ == "__main__":
    database, technique, context, number = sys.argv[1:]
    asyncio.run(main(database, technique, json.loads(context), int(number)))
