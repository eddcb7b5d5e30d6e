"""The graphs behind the real LangGraph server, driven as applications and agents drive it."""

from __future__ import annotations

import ast
import asyncio
import gc
import json
import re
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from mcp import Client

from ragweave.state.base import Output
from ragweave.state.crag import CragContext

if TYPE_CHECKING:
    from tests.integration.conftest import Server

ROOT = Path(__file__).parents[2]
GRAPHS = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))["graphs"]
LEAKING_CLIENT = "ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning"
"""The MCP client leaves a socket to the garbage collector."""
PILOT = "Which ships need a pilot?"
SPAIN = "What is the capital of Spain?"


@pytest.fixture
async def client(server: Server) -> AsyncIterator[LangGraphClient]:
    async with get_client(url=server.url) as client:
        yield client


async def run(client: LangGraphClient, thread: str | None = None, **given: Any) -> Any:
    """The output of one run of CRAG; `given` are `input`, `context`, `command`."""
    return await client.runs.wait(thread, "crag", **given)


async def new_thread(client: LangGraphClient) -> str:
    return (await client.threads.create())["thread_id"]


async def schemas_of(client: LangGraphClient, graph: str) -> Any:
    assistants = await client.assistants.search(graph_id=graph)
    return await client.assistants.get_schemas(assistants[0]["assistant_id"])


async def test_a_question_is_answered(client: LangGraphClient) -> None:
    answer = await run(client, input={"question": PILOT})
    assert set(answer) == set(Output.__annotations__)
    assert answer["status"] == "answered"
    assert "90 metres" in answer["answer"]
    assert answer["citations"][0]["status"] == "grounded"
    assert answer["sources"][0]["path"] == "docs/harbour.md"
    assert answer["messages"][-1]["content"] == answer["answer"]


async def test_a_message_is_answered_in_its_language(client: LangGraphClient) -> None:
    messages = [{"role": "user", "content": "灯塔多久闪光一次？"}]
    answer = await run(client, input={"messages": messages})
    assert "十二秒" in answer["answer"]


async def test_streamed_tokens_are_the_answer(client: LangGraphClient) -> None:
    tokens, values = [], {}
    async for part in client.runs.stream(
        None, "crag", input={"question": PILOT}, stream_mode=["custom", "values"]
    ):
        if part.event == "custom":
            assert part.data["technique"] == "crag"
            if part.data["type"] == "token":
                tokens.append(part.data["text"])
        elif part.event == "values":
            values = part.data
    assert len(tokens) > 1
    assert "".join(tokens).strip() == values["answer"]


@pytest.mark.parametrize("name", GRAPHS)
async def test_studio_is_given_every_schema(client: LangGraphClient, name: str) -> None:
    assistants = await client.assistants.search(graph_id=name)
    schemas = await schemas_of(client, name)
    assert assistants[0]["description"] == GRAPHS[name]["description"]
    for kind in ("input_schema", "output_schema", "state_schema", "context_schema"):
        assert schemas[kind], f"{kind} is empty"
    undescribed = [
        field
        for field, schema in schemas["context_schema"]["properties"].items()
        if not schema.get("description")
    ]
    assert undescribed == []


async def test_studio_shows_bounds_choices_and_prompts(client: LangGraphClient) -> None:
    fields = (await schemas_of(client, "crag"))["context_schema"]["properties"]
    assert set(fields) == set(CragContext.model_fields)
    assert (fields["top_k"]["minimum"], fields["top_k"]["maximum"]) == (1, 100)
    assert fields["web_search"]["enum"] == ["auto", "always", "never", "ask"]
    assert fields["answer_prompt"]["langgraph_type"] == "prompt"
    assistants = await client.assistants.search(graph_id="crag")
    drawn = await client.assistants.get_graph(assistants[0]["assistant_id"])
    nodes = {node["id"] for node in drawn["nodes"]}
    prompts = [field for field in fields.values() if "langgraph_nodes" in field]
    assert prompts
    assert {node for field in prompts for node in field["langgraph_nodes"]} <= nodes


async def test_a_follow_up_sees_the_conversation(client: LangGraphClient) -> None:
    thread = await new_thread(client)
    await run(client, thread, input={"question": PILOT})
    answer = await run(
        client,
        thread,
        input={"messages": [{"role": "user", "content": "And where does the pilot board?"}]},
    )
    assert "breakwater" in answer["answer"]
    assert [message["type"] for message in answer["messages"]] == ["human", "ai", "human", "ai"]
    assert answer["usage"]["stages"]["condense"]["calls"] == 1


async def test_a_person_edits_the_web_query(client: LangGraphClient, server: Server) -> None:
    thread = await new_thread(client)
    context = {"web_search": "ask", "max_rewrites": 1, "index": "lance:.ragweave/index"}
    await run(client, thread, input={"question": SPAIN}, context=context)
    state = await client.threads.get_state(thread)
    paused = state["tasks"][0]["interrupts"][0]
    assert state["next"] == ["approve_web_query"]
    assert paused["value"]["question"] == SPAIN
    before = len(server.web.queries)

    answer = await run(client, thread, command={"resume": "Spain capital city"})

    assert server.web.queries[before:] == ["Spain capital city"]
    assert answer["status"] == "answered"
    assert "Madrid" in answer["answer"]
    assert answer["sources"][0]["url"].startswith("https://")


async def test_a_person_refuses_the_web(client: LangGraphClient, server: Server) -> None:
    thread = await new_thread(client)
    context = {"web_search": "ask"}
    await run(client, thread, input={"question": SPAIN}, context=context)
    before = len(server.web.queries)
    answer = await run(client, thread, command={"resume": False})
    assert server.web.queries[before:] == []
    assert answer["status"] == "no_evidence"


async def test_a_resumed_run_keeps_its_index(client: LangGraphClient, server: Server) -> None:
    """The context is not in the checkpoint: index and tenant come from the state."""
    thread = await new_thread(client)
    context = {"web_search": "ask", "index": f"lance:{server.folder}/.ragweave/index", "top_k": 3}
    await run(client, thread, input={"question": SPAIN}, context=context)
    await run(client, thread, command={"resume": True})
    state: Any = await client.threads.get_state(thread)
    settings = state["values"]["settings"]
    assert (settings["index"], settings["top_k"]) == (context["index"], 3)


async def test_settings_may_come_as_configurable(client: LangGraphClient) -> None:
    """The older way, in which the server puts names of its own beside them."""
    config: Any = {"configurable": {"top_k": 1, "web_search": "never"}}
    answer = await run(client, input={"question": PILOT}, config=config)
    assert (answer["status"], len(answer["sources"])) == ("answered", 1)


async def test_an_empty_question_is_refused(client: LangGraphClient) -> None:
    with pytest.raises(Exception, match="The question is empty"):
        await run(client, input={"question": " "}, raise_error=True)


async def test_errors_say_what_to_do(client: LangGraphClient) -> None:
    """The server hides the messages of errors that it does not know."""
    with pytest.raises(Exception, match="There is no index at lance:nowhere"):
        await run(client, input={"question": PILOT}, context={"index": "lance:nowhere"})
    with pytest.raises(Exception, match=r"^InvalidSetting: top_k: Input should be .* to 1$"):
        await run(client, input={"question": PILOT}, context={"top_k": 0})


@pytest.mark.usefixtures("blocking_clients")
@pytest.mark.filterwarnings(LEAKING_CLIENT)
async def test_agents_are_offered_described_tools(server: Server) -> None:
    async with Client(f"{server.url}/mcp") as agent:
        tools = {tool.name: tool for tool in (await agent.list_tools()).tools}
        called = await agent.call_tool("crag", {"question": PILOT})
    del agent
    gc.collect()  # what the client leaves behind, while its warning is ignored
    assert set(tools) == set(GRAPHS)
    assert tools["crag"].description == GRAPHS["crag"]["description"]
    question = tools["crag"].input_schema["properties"]["question"]
    assert question["description"].startswith("One complete question")
    text = called.content[0].text  # type: ignore[union-attr]
    assert not called.is_error
    assert text.startswith("{'answer': 'Ships longer than 90 metres need a pilot [1].'")


@pytest.mark.usefixtures("blocking_clients")
@pytest.mark.filterwarnings(LEAKING_CLIENT)
async def test_an_agent_is_given_an_answer_in_few_words(server: Server) -> None:
    async with Client(f"{server.url}/mcp") as agent:
        tools = {tool.name: tool for tool in (await agent.list_tools()).tools}
        answered = await agent.call_tool("ask_documents", {"question": PILOT})
        refused = await agent.call_tool("ask_documents", {"question": " "})
    del agent
    gc.collect()
    schema = tools["ask_documents"].input_schema
    assert (set(schema["properties"]), schema["required"]) == ({"question"}, ["question"])
    pilot = "Ships longer than 90 metres need a pilot"
    source = {"number": 1, "place": "Harbour rules, docs/harbour.md", "quotes": [f"{pilot}."]}
    assert ast.literal_eval(answered.content[0].text) == {  # type: ignore[union-attr]
        "answer": f"{pilot} [1].",
        "status": "answered",
        "sources": [source],
        "warnings": [],
    }
    failed = ast.literal_eval(refused.content[0].text)  # type: ignore[union-attr]
    assert failed["status"] == "failed"
    assert failed["answer"].startswith("The question is empty.")


@pytest.mark.usefixtures("blocking_clients")
@pytest.mark.filterwarnings(LEAKING_CLIENT)
async def test_an_assistant_is_a_tool_with_settings_of_its_own(
    server: Server, client: LangGraphClient
) -> None:
    settings: Any = {"techniques": ["crag"], "web_search": "never", "top_k": 1}
    made = await client.assistants.create(
        "ask_documents", name="ask_harbour", description="About the harbour.", context=settings
    )
    try:
        async with Client(f"{server.url}/mcp") as agent:
            tools = {tool.name: tool for tool in (await agent.list_tools()).tools}
            called = await agent.call_tool("ask_harbour", {"question": PILOT})
        del agent
        gc.collect()
    finally:
        await client.assistants.delete(made["assistant_id"])
    assert tools["ask_harbour"].description == "About the harbour."
    assert "90 metres" in called.content[0].text  # type: ignore[union-attr]


# --- agents by A2A ---------------------------------------------------------------------------


async def ask_a2a(server: Server, assistant: str, method: str, **message: Any) -> httpx.Response:
    """One JSON-RPC request to the A2A endpoint of an assistant."""
    parts = [{"kind": "text", "text": message.pop("text")}]
    said = {"role": "user", "messageId": uuid.uuid4().hex, "parts": parts, **message}
    request = {"jsonrpc": "2.0", "id": "1", "method": method, "params": {"message": said}}
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as agent:
        accept = {"accept": "application/json, text/event-stream"}
        response = await agent.post(f"/a2a/{assistant}", json=request, headers=accept)
    return response.raise_for_status()


async def assistant_of(client: LangGraphClient, graph: str) -> str:
    return (await client.assistants.search(graph_id=graph))[0]["assistant_id"]


@pytest.mark.usefixtures("blocking_clients")
async def test_an_agent_asks_and_asks_on_by_a2a(server: Server, client: LangGraphClient) -> None:
    assistant = await assistant_of(client, "auto")
    async with httpx.AsyncClient(base_url=server.url) as agent:
        card = (
            await agent.get("/.well-known/agent-card.json", params={"assistant_id": assistant})
        ).json()
    assert (card["name"], card["description"]) == ("auto", GRAPHS["auto"]["description"])
    task = (await ask_a2a(server, assistant, "message/send", text=PILOT)).json()["result"]
    assert task["status"]["state"] == "completed"
    said = task["artifacts"][0]["parts"][0]["text"]
    assert said == "Ships longer than 90 metres need a pilot [1]."

    thread = task["contextId"]
    kept: Any = (await client.threads.get_state(thread))["values"]
    assert kept["technique"] == "citation"
    assert kept["citations"][0]["quote"] == "Ships longer than 90 metres need a pilot."
    follow_up = {"text": "And where does the pilot board?", "contextId": thread}
    task = (await ask_a2a(server, assistant, "message/send", **follow_up)).json()["result"]
    assert "breakwater" in task["artifacts"][0]["parts"][0]["text"]


@pytest.mark.usefixtures("blocking_clients")
async def test_an_answer_is_streamed_by_a2a(server: Server, client: LangGraphClient) -> None:
    assistant = await assistant_of(client, "crag")
    streamed = await ask_a2a(server, assistant, "message/stream", text=PILOT)
    lines = streamed.text.splitlines()
    events = [json.loads(line.partition(":")[2])["result"] for line in lines if "data:" in line[:5]]
    assert events[-1]["status"]["state"] == "completed"
    artifacts = [event["artifact"] for event in events if event["kind"] == "artifact-update"]
    assert "90 metres need a pilot [1]." in artifacts[-1]["parts"][0]["text"]


# --- forks -----------------------------------------------------------------------------------


async def fork(
    client: LangGraphClient, thread: str, graph: str, after: str, **edited: Any
) -> dict[str, Any]:
    """Edit what a node left in a finished run, go on from there, and return the new output."""
    history = await client.threads.get_history(thread, limit=50)
    times = [state for state in history if any(t["name"] == after for t in state["tasks"])]
    following = history[history.index(times[0]) - 1]
    forked: Any = await client.threads.update_state(
        thread, edited, checkpoint=following["checkpoint"], as_node=after
    )
    output: Any = await client.runs.wait(thread, graph, checkpoint=forked["checkpoint"])
    return dict(output)


async def test_a_fork_with_another_query_finds_something_else(client: LangGraphClient) -> None:
    thread = await new_thread(client)
    first = await run(client, thread, input={"question": PILOT})
    second = await fork(
        client, thread, "crag", "prepare", search_question="How often does the 灯塔 flash? 十二秒"
    )
    assert second["sources"][0]["path"] == "docs/lighthouse.md"
    assert second["usage"]["calls"] == first["usage"]["calls"]
    assert [message["type"] for message in second["messages"]] == ["human", "ai"]


async def test_a_fork_without_documents_has_no_evidence(client: LangGraphClient) -> None:
    thread = await new_thread(client)
    context = {"web_search": "never"}
    await run(client, thread, input={"question": PILOT}, context=context)
    second = await fork(client, thread, "crag", "retrieve_documents", documents=[])
    assert (second["status"], second["usage"]["calls"]) == ("no_evidence", 0)
    history: Any = await client.threads.get_history(thread, limit=50)
    answers = [state["values"].get("status") for state in history if not state["next"]]
    assert answers == ["no_evidence", "answered"]


async def test_a_fork_takes_another_technique(client: LangGraphClient) -> None:
    thread = await new_thread(client)
    first = await client.runs.wait(thread, "auto", input={"question": PILOT})
    assert isinstance(first, dict)
    assert first["technique"] == "citation"
    second = await fork(client, thread, "auto", "choose_technique", technique="crag")
    assert (second["technique"], second["answer"]) == ("crag", first["answer"])
    assert set(second["usage"]["stages"]) == {"grade", "answer"}


async def test_the_log_has_nothing_to_complain_of(server: Server, client: LangGraphClient) -> None:
    """Last: no call blocked the server's loop, and no type was unknown to its checkpoints."""
    await run(client, input={"question": PILOT})
    log = await asyncio.to_thread(server.log)
    assert "Background run succeeded" in log
    assert re.findall("BlockingError|[Bb]locking call|msgpack|unregistered", log) == []
