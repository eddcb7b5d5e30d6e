"""A chat model for tests of agents: it calls the tools it is told to, then reports what they said.

It is bound to tools like a model, and remembers with which.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.messages.tool import tool_call
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field


class ScriptedAgentModel(BaseChatModel):
    """Calls every tool of `calls` at once, and answers with the texts that come back."""

    calls: list[tuple[str, dict[str, Any]]]
    tools: dict[str, Mapping[str, Any]] = Field(default_factory=dict)
    """By name, the tools as the model was told of them."""

    @property
    def _llm_type(self) -> str:
        return "scripted-agent"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Remember the tools."""
        told = [convert_to_openai_tool(tool)["function"] for tool in tools]
        self.tools.update({tool["name"]: tool for tool in told})
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        said = [message.text for message in messages if isinstance(message, ToolMessage)]
        calls = [] if said else enumerate(self.calls, 1)
        answer = AIMessage(
            " | ".join(said),
            tool_calls=[tool_call(name=name, args=args, id=f"c{n}") for n, (name, args) in calls],
        )
        return ChatResult(generations=[ChatGeneration(message=answer)])
