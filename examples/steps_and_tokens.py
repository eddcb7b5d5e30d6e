"""Show the steps of a question as they happen, then the answer as it is written.

ragweave ingest README.md docs  # make demo has done it
python examples/steps_and_tokens.py "How are citations checked?"
"""

from __future__ import annotations

import asyncio
import sys

from ragweave.serving import Answer, astream


async def main(question: str) -> None:
    """Run CRAG and print what it does."""
    async for part in astream(question, technique="crag", web_search="never"):
        if isinstance(part, Answer):
            print(f"\n\n{part['status']}, cited: {[source['path'] for source in part.cited]}")
        elif part["type"] == "token":
            print(part["text"], end="", flush=True)
        elif part["type"] == "retrieved":
            print(f"{part['at']:.2f} s: retrieved {len(part['ids'])} chunks")
        elif part["type"] == "graded":
            print(f"{part['at']:.2f} s: {part['grade']}, because {part['reason']}")


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:]) or "How are citations checked?"))
