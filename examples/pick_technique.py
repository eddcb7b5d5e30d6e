"""Let the router pick a technique for each question, and show which and why.

ragweave ingest README.md docs  # make demo has done it
python examples/pick_technique.py
"""

from __future__ import annotations

import asyncio
import sys

from ragweave.serving import Answer, astream

QUESTIONS = [
    "How are citations checked?",
    "Which model is used by default, and where does the index lie?",
    "Give me an overview of the techniques.",
    "How many moons does Saturn have?",
]


async def main(questions: list[str]) -> None:
    """Ask each question and print the choice, its reason and the beginning of the answer."""
    for question in questions:
        print(f"\n{question}")
        async for part in astream(question, technique="auto", web_search="never"):
            if isinstance(part, Answer):
                print(f"  {part['status']}: {part['answer'][:100]}")
            elif part["type"] == "routed":
                print(f"  {part['choice']}: {part['reason']}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or QUESTIONS))
