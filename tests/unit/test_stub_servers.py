"""The servers that other tests rely on do what they are told."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from tests.servers import Answer, Fault, Json, OpenAIStub, TavilyStub, by_schema, web_result
from tests.servers.fixtures import OPENAI_KEY, TAVILY_KEY

HELLO = {"model": "stub", "messages": [{"role": "user", "content": "one two three"}]}


def chat(stub: OpenAIStub, **fields: object) -> httpx.Response:
    headers = {"Authorization": f"Bearer {OPENAI_KEY}"}
    return httpx.post(
        f"{stub.base_url}/chat/completions", json={**HELLO, **fields}, headers=headers
    )


def search(stub: TavilyStub, query: str, key: str = TAVILY_KEY) -> httpx.Response:
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.post(f"{stub.url}/search", json={"query": query}, headers=headers)


def test_queued_answers_come_first_then_the_script(openai_stub: OpenAIStub) -> None:
    openai_stub.script = lambda request: f"{len(request['messages'])} message"
    openai_stub.say("first", Answer("cut", finish_reason="length", usage=False))
    bodies = [chat(openai_stub).json() for _ in range(3)]
    texts = [body["choices"][0]["message"]["content"] for body in bodies]
    assert texts == ["first", "cut", "1 message"]
    assert bodies[0]["usage"] == {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}
    assert "usage" not in bodies[1]
    assert bodies[1]["choices"][0]["finish_reason"] == "length"
    assert [call.status for call in openai_stub.calls] == [200, 200, 200]


def test_streams_words_and_usage(openai_stub: OpenAIStub) -> None:
    openai_stub.say("one  two three")
    answer = chat(openai_stub, stream=True, stream_options={"include_usage": True})
    events = [line[6:] for line in answer.text.splitlines() if line]
    assert events.pop() == "[DONE]"
    *pieces, end, usage = map(json.loads, events)
    text = [piece["choices"][0]["delta"]["content"] for piece in pieces]
    assert text == ["one ", " ", "two ", "three"]
    assert end["choices"][0]["finish_reason"] == "stop"
    assert usage["usage"]["completion_tokens"] == 3


def test_answers_by_schema(openai_stub: OpenAIStub) -> None:
    openai_stub.script = by_schema("text", Grade={"verdict": "relevant"})
    asked = {"type": "json_schema", "json_schema": {"name": "Grade"}}
    unknown = {"type": "json_schema", "json_schema": {"name": "Other"}}
    graded = chat(openai_stub, response_format=asked).json()
    assert graded["choices"][0]["message"]["content"] == '{"verdict": "relevant"}'
    assert chat(openai_stub).json()["choices"][0]["message"]["content"] == "text"
    assert chat(openai_stub, response_format=unknown).status_code == 400


def test_fails_as_told(openai_stub: OpenAIStub) -> None:
    openai_stub.say(Fault(429, "Slow down.", retry_after=2), Json(raw="{oops"), Fault(dropped=True))
    refused = chat(openai_stub)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "2")
    assert refused.json()["error"]["message"] == "Slow down."
    assert chat(openai_stub).text == "{oops"
    with pytest.raises(httpx.TransportError):
        chat(openai_stub)
    assert openai_stub.calls[-1].status is None


def test_a_stream_breaks_off_as_told(openai_stub: OpenAIStub) -> None:
    openai_stub.say(Answer("one two three", drop_after=2))
    with pytest.raises(httpx.TransportError):
        chat(openai_stub, stream=True)


def test_embeds_each_text_alike_and_different_texts_differently(openai_stub: OpenAIStub) -> None:
    headers = {"Authorization": f"Bearer {OPENAI_KEY}"}
    body = {"model": "stub", "input": ["a", "b", "a"]}
    data = httpx.post(f"{openai_stub.base_url}/embeddings", json=body, headers=headers).json()
    first, second, third = [item["embedding"] for item in data["data"]]
    assert first == third != second


def test_lets_in_the_right_key_only(openai_stub: OpenAIStub, tavily_stub: TavilyStub) -> None:
    assert httpx.get(f"{openai_stub.base_url}/models").status_code == 401
    assert search(tavily_stub, "x", key="wrong").status_code == 401
    assert search(tavily_stub, "x").status_code == 200


def test_searches_as_told(tavily_stub: TavilyStub) -> None:
    tavily_stub.find([web_result("text", url="https://a.example")], Json({"results": None}))
    tavily_stub.find(Fault(500, "Broken."))
    assert search(tavily_stub, "first").json()["results"][0]["url"] == "https://a.example"
    assert search(tavily_stub, "second").json() == {"results": None}
    broken = search(tavily_stub, "third")
    assert (broken.status_code, broken.json()) == (500, {"detail": {"error": "Broken."}})
    assert search(tavily_stub, "fourth").json()["results"] == []
    assert tavily_stub.queries == ["first", "second", "third", "fourth"]


def test_serves_recorded_responses_by_likeness(tavily_stub: TavilyStub, tmp_path: Path) -> None:
    records = [
        {"response": {"query": query, "results": [web_result(query)]}}
        for query in ("moons of Saturn", "劳动合同的试用期")
    ]
    file = tmp_path / "web.jsonl"
    file.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    tavily_stub.serve_fixtures(file)
    assert search(tavily_stub, "Saturn moons").json()["results"][0]["content"] == "moons of Saturn"
    assert search(tavily_stub, "试用期最长").json()["results"][0]["content"] == "劳动合同的试用期"
