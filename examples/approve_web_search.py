"""Let a person see each query before it leaves for the web. Needs TAVILY_API_KEY.

python examples/approve_web_search.py "What is the capital of Spain?"
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from typing import Any

from ragweave.serving import aask


async def approve(asked: Mapping[str, Any]) -> object:
    """Yes, no, or another query."""
    reply = await asyncio.to_thread(input, f"Search the web for {asked['query']!r}? [y/n/query] ")
    return {"y": True, "n": False}.get(reply.strip(), reply)


async def main(question: str) -> None:
    """Ask with the web behind a person."""
    print(await aask(question, web_search="ask", approve=approve))


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:]) or "What is the capital of Spain?"))
