"""A deep agent that hands a question to a technique, its sub-agent. A script stands in for a model.

ragweave ingest README.md docs  # make demo has done it
python examples/deep_agent.py "How are citations checked?"
python examples/deep_agent.py "How are citations checked?" anthropic:claude-sonnet-4-5

Needs deepagents (`pip install deepagents`).
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from typing import Any

from deepagents import create_deep_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call

from ragweave.serving import as_subagent
from ragweave.serving.agents import CitedAnswer


class Script(GenericFakeChatModel):
    """Says what it is told to say, in the place of a model."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Script:
        """A model would be told of the tools here."""
        return self


def script(question: str) -> Iterator[AIMessage]:
    """What a model would say: first that it hands on a task, then an answer."""
    task = {"description": question, "subagent_type": "documents"}
    yield AIMessage("", tool_calls=[tool_call(name="task", args=task, id="1")])
    yield AIMessage("That is what the documents say.")


async def main(question: str, model: str | None) -> None:
    """Let the agent hand on the question, and show what it got back."""
    documents = as_subagent("citation", name="documents", about="ragweave, a library for RAG")
    agent = create_deep_agent(
        model=model or Script(messages=script(question)), subagents=[{**documents}]
    )
    state = await agent.ainvoke({"messages": [HumanMessage(question)]})
    for message in state["messages"]:
        if isinstance(message, ToolMessage) and message.name != "write_todos":
            answer = CitedAnswer.model_validate_json(message.text)
            print(answer.answer)
            for source in answer.sources:
                print(f"[{source.number}] {source.place}: {source.quotes}")
    print(f"\nThe agent says: {state['messages'][-1].text}")


if __name__ == "__main__":
    asked = sys.argv[1] if len(sys.argv) > 1 else "How are citations checked?"
    asyncio.run(main(asked, sys.argv[2] if len(sys.argv) > 2 else None))
