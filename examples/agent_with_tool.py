"""An agent that asks the documents by a tool. Without a model a script stands in for one.

ragweave ingest README.md docs  # make demo has done it
python examples/agent_with_tool.py "How are citations checked?"
python examples/agent_with_tool.py "How are citations checked?" openai:gpt-4.1-mini

Needs langchain (`pip install ".[providers]"`).
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call

from ragweave.serving import as_tool


class Script(GenericFakeChatModel):
    """Says what it is told to say, in the place of a model."""

    def bind_tools(self, tools: Any, **kwargs: Any) -> Script:
        """A model would be told of the tools here."""
        return self


def script(question: str) -> Iterator[AIMessage]:
    """What a model would say: first that it calls the tool, then an answer."""
    yield AIMessage(
        "", tool_calls=[tool_call(name="ask_auto", args={"question": question}, id="1")]
    )
    yield AIMessage("That is what the documents say.")


async def main(question: str, model: str | None) -> None:
    """Let the agent ask, and show what it read and what the program has."""
    tool = as_tool("auto", about="ragweave, a library of RAG techniques", web_search="never")
    agent = create_agent(model or Script(messages=script(question)), [tool])
    state = await agent.ainvoke({"messages": [HumanMessage(question)]})
    for message in state["messages"]:
        if isinstance(message, ToolMessage):
            print(f"The agent read:\n{message.text}\n")
            for citation in message.artifact["citations"]:
                print(f"[{citation['number']}] {citation['status']}: {citation['quote']}")
    print(f"\nThe agent says: {state['messages'][-1].text}")


if __name__ == "__main__":
    asked = sys.argv[1] if len(sys.argv) > 1 else "How are citations checked?"
    asyncio.run(main(asked, sys.argv[2] if len(sys.argv) > 2 else None))
