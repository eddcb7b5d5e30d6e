"""A technique as a tool of an agent, or as one of its sub-agents.

Both fix the settings when they are made. What an agent then gives is a question, and what it gets
is text to go on with; what a program needs comes beside it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langchain_core.runnables.config import ensure_config, set_config_context
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langgraph.config import get_stream_writer
from pydantic import BaseModel, Field, ValidationError
from typing_extensions import TypedDict

from ragweave.nodes.citations.cited import in_brief, place
from ragweave.nodes.running import values_at_the_end
from ragweave.serving import blocking
from ragweave.serving.answer import Answer
from ragweave.serving.searchable import expect_searchable
from ragweave.serving.techniques import (
    DEFAULT_TECHNIQUE,
    TECHNIQUES,
    context_type,
    load,
    settled,
)
from ragweave.state.base import MAX_QUESTION_CHARACTERS, Input
from ragweave.state.errors import RagweaveError

T = TypeVar("T")
Show = Callable[[Any], None]
Ask = Callable[[Input, Show], Awaitable[Answer]]

ABOUT = "the indexed documents"
GIVES = (
    "Gives an answer in which [n] marks what rests on which source, checked against the sources' "
    "own words, and then the list of these sources; or says that nothing was found."
)

REPEATED = ("messages", "structured_response")
"""What an artifact leaves out."""


class Question(BaseModel):
    """What the tool is given."""

    question: str = Field(
        description="One complete question in the user's language. It is answered by itself: name "
        "what it is about, since the conversation is not known here.",
        max_length=MAX_QUESTION_CHARACTERS,
    )


class CitedSource(BaseModel):
    """One source that an answer cites."""

    number: int
    place: str
    """Title, path or address, and page."""
    quotes: list[str]
    """The words of the source that the answer rests on."""


class CitedAnswer(BaseModel):
    """What a sub-agent hands to its agent, as JSON."""

    answer: str
    status: str
    """`answered`, `no_evidence` or `partial`."""
    sources: list[CitedSource]
    warnings: list[str]


class SubAgent(TypedDict):
    """What deepagents calls a `CompiledSubAgent`."""

    name: str
    description: str
    runnable: Runnable[Any, Any]


def as_tool(
    technique: str = DEFAULT_TECHNIQUE,
    *,
    about: str = ABOUT,
    name: str | None = None,
    **settings: Any,
) -> BaseTool:
    """A technique as a LangChain tool, to be called with a `question`, with or without `await`.

    The tool's content is the answer with its `[n]` and a list of the sources. Its artifact is the
    whole output as a dict, without `messages` and `structured_response`, which say the same again.
    Step events go to the agent's custom stream. What ragweave knows to go wrong (no index, a key
    that is refused, ...) is an error message to the agent.

    Make it when the application starts: this imports the graph.

    Args:
        technique: a name of `ragweave.serving.techniques.TECHNIQUES`.
        about: what the documents are about, by which an agent chooses between tools.
        name: name of the tool; `ask_` and the technique if not given.
        settings: any field of the technique's context, such as `index`, `model` or `filters`.

    Raises:
        InvalidSetting: there is no such technique or setting, or a value does not fit.
    """
    ask = _asking(technique, settings)

    async def answer(question: str) -> tuple[str, dict[str, Any]]:
        return await _for_tool(ask, question, _outer_stream())

    def answer_blocking(question: str) -> tuple[str, dict[str, Any]]:
        return _apart(_for_tool(ask, question, _outer_stream()))

    return StructuredTool.from_function(
        func=answer_blocking,
        coroutine=answer,
        name=name or f"ask_{technique}",
        description=_description(technique, about),
        args_schema=Question,
        response_format="content_and_artifact",
        handle_tool_error=True,
        handle_validation_error=_what_is_wrong,
    )


def as_subagent(
    technique: str = DEFAULT_TECHNIQUE,
    *,
    about: str = ABOUT,
    name: str | None = None,
    **settings: Any,
) -> SubAgent:
    """A technique as a sub-agent of deepagents (`create_deep_agent(subagents=[...])`).

    It reads the last human message as the question, with those before it as the conversation. It
    gives back the answer as the last message, and a `CitedAnswer` as `structured_response`. What
    ragweave knows to go wrong is the last message, without a `structured_response`.

    Arguments and errors are those of `as_tool`; the name is the technique's if not given.
    """
    ask = _asking(technique, settings)

    async def run(state: Mapping[str, Any]) -> dict[str, Any]:
        return await _for_agent(ask, state["messages"], _outer_stream())

    def run_blocking(state: Mapping[str, Any]) -> dict[str, Any]:
        return _apart(_for_agent(ask, state["messages"], _outer_stream()))

    return SubAgent(
        name=name or technique,
        description=_description(technique, about),
        runnable=RunnableLambda(run_blocking, run, name=name or technique),
    )


def _asking(technique: str, settings: Mapping[str, Any]) -> Ask:
    """How to ask a technique. Within a run it is part of it, of its checkpoints and pauses."""
    graph = load(technique)
    context = settled(context_type(graph), settings, f"setting of {technique}")

    async def ask(given: Input, show: Show) -> Answer:
        state = await values_at_the_end(graph, given, show=show, context=context)
        if state.get("status") == "no_evidence":  # which an agent would take for a fact
            await expect_searchable(technique, settings)
        return Answer.of(technique, state)

    return ask


def _outer_stream() -> Show:
    """Where step events go: the custom stream of the graph that this is called in, if any."""
    try:
        return get_stream_writer()
    except (RuntimeError, KeyError):  # no runnable is running, or none that is a graph
        return lambda event: None


def _apart(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run it for a synchronous caller: traced as part of the caller's run, but not kept in it.

    A checkpointer of synchronous code cannot serve an async graph.
    """
    outer = ensure_config()
    traced = RunnableConfig(
        callbacks=outer["callbacks"], tags=outer["tags"], metadata=outer["metadata"]
    )
    with set_config_context(traced) as apart:
        return apart.run(blocking.run, coroutine)


async def _for_tool(ask: Ask, question: str, show: Show) -> tuple[str, dict[str, Any]]:
    try:
        answer = await ask({"question": question}, show)
    except RagweaveError as error:
        raise ToolException(str(error)) from error
    return _text(answer), {name: answer[name] for name in answer if name not in REPEATED}


async def _for_agent(ask: Ask, messages: list[AnyMessage], show: Show) -> dict[str, Any]:
    try:
        answer = await ask({"messages": messages}, show)
    except RagweaveError as error:
        return {"messages": [*messages, AIMessage(str(error))], "structured_response": None}
    cited = CitedAnswer.model_validate(in_brief(answer))
    return {"messages": answer["messages"], "structured_response": cited}


def _text(answer: Answer) -> str:
    sources = [f"[{source['number']}] {place(source)}" for source in answer.cited]
    parts = [
        answer["answer"],
        "\n".join(["Sources:", *sources]) if sources else "",
        "\n".join(f"Warning: {warning}" for warning in answer["warnings"]),
    ]
    return "\n\n".join(part for part in parts if part)


def _description(technique: str, about: str) -> str:
    return f"Answers a question about {about}. {GIVES} How: {TECHNIQUES[technique]}"


def _what_is_wrong(error: object) -> str:
    assert isinstance(error, ValidationError)
    problems = [f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()]
    return f"The tool takes one `question`, as text. {'; '.join(problems)}"
