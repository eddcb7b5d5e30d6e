"""A server that speaks the OpenAI protocol and says what it is told to say."""

from __future__ import annotations

import hashlib
import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.servers.http import Call, Fault, Json, Stream, StubServer

DIMENSION = 16


@dataclass(frozen=True)
class Answer:
    """What the model says, and how."""

    text: str = ""
    finish_reason: str | None = "stop"
    usage: bool = True
    """Whether the server reports tokens; it counts words."""
    latency: float = 0
    """Seconds before the first byte."""
    pause: float = 0
    """Seconds between the pieces of a streamed answer, which are words."""
    drop_after: int | None = None
    """Break the connection after that many pieces of a streamed answer."""
    before: Callable[[int], None] | None = None
    """Called with the number of each piece, from 0, before it is sent."""


Said = str | Mapping[str, Any] | Answer | Json | Fault
"""Text; a mapping, sent as JSON text; or something more particular."""
Script = Callable[[dict[str, Any]], Said]
"""From the request's JSON to what is said. Called from the server's threads."""


class OpenAIStub(StubServer):
    """`POST /v1/chat/completions`, `POST /v1/embeddings`, `GET /v1/models`.

    Answers that were given to `say` come first, each once, in order; then `script` is asked.
    `api_key`, if set, is the only key that is let in.
    """

    def __init__(self, script: Script | None = None, *, api_key: str | None = None) -> None:
        super().__init__()
        self.script = script or (lambda request: "OK")
        self.api_key = api_key
        self.embed: Callable[[str], Any] = _vector
        """Vector of a text, or a `Json` or `Fault` to send instead of any vectors."""
        self._queue: deque[Said] = deque()

    @property
    def base_url(self) -> str:
        """What goes into OPENAI_BASE_URL."""
        return f"{self.url}/v1"

    @property
    def chats(self) -> list[dict[str, Any]]:
        """The requests for chat completions so far."""
        return [call.body for call in self.calls if call.path == "/v1/chat/completions"]

    def say(self, *answers: Said) -> None:
        """Put answers in the queue."""
        self._queue.extend(answers)

    def respond(self, call: Call) -> Json | Stream | Fault:
        """Answer one request."""
        given = call.headers.get("authorization", "").removeprefix("Bearer ")
        if self.api_key and given != self.api_key:
            return Fault(401, f"Incorrect API key provided: {given}.", code="invalid_api_key")
        if call.path == "/v1/models":
            return Json({"object": "list", "data": [{"id": "stub", "object": "model"}]})
        if call.path == "/v1/embeddings":
            return self._embeddings(call.body)
        if call.path == "/v1/chat/completions":
            return self._chat(call.body)
        return Fault(404, f"There is no {call.path}.")

    def _chat(self, request: dict[str, Any]) -> Json | Stream | Fault:
        said = self._next(request)
        if isinstance(said, Json | Fault):
            return said
        answer = said if isinstance(said, Answer) else Answer(_as_text(said))
        if request.get("stream"):
            return _streamed(request, answer)
        message = {"role": "assistant", "content": answer.text}
        choice = {"index": 0, "message": message, "finish_reason": answer.finish_reason}
        body = {**_head(request, "chat.completion"), "choices": [choice]}
        if answer.usage:
            body["usage"] = _usage(request, answer)
        return Json(body, latency=answer.latency)

    def _next(self, request: dict[str, Any]) -> Said:
        try:
            return self._queue.popleft()
        except IndexError:
            pass
        try:
            return self.script(request)
        except Exception as error:
            return Fault(400, f"The stub's script failed: {error!r}")

    def _embeddings(self, request: dict[str, Any]) -> Json | Fault:
        texts = request["input"] if isinstance(request["input"], list) else [request["input"]]
        vectors = [self.embed(text) for text in texts]
        for vector in vectors:
            if isinstance(vector, Json | Fault):
                return vector
        data = [
            {"object": "embedding", "index": index, "embedding": vector}
            for index, vector in enumerate(vectors)
        ]
        usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
        return Json({"object": "list", "model": request["model"], "data": data, "usage": usage})


def by_schema(text: Said = "OK", **answers: Said) -> Script:
    """A script that answers each schema by its name, and `text` where no structure is asked for.

    by_schema("It is so [1].", DocumentGrade={"reason": "says so", "verdict": "relevant"})
    """

    def script(request: dict[str, Any]) -> Said:
        name = schema_of(request)
        return text if name is None else answers.get(name, Fault(400, f"Nothing to say as {name}"))

    return script


def schema_of(request: Mapping[str, Any]) -> str | None:
    """Name of the schema that a request asks for; None if it asks for text."""
    response_format = request.get("response_format") or {}
    name: str | None = response_format.get("json_schema", {}).get("name")
    return name


def prompt_of(request: Mapping[str, Any]) -> str:
    """Text of a request's last message: the data of a prompt, without its instructions."""
    text: str = request["messages"][-1]["content"]
    return text


def _as_text(said: str | Mapping[str, Any]) -> str:
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


def _streamed(request: dict[str, Any], answer: Answer) -> Stream:
    return Stream(
        [json.dumps(event, ensure_ascii=False) for event in _events(request, answer)] + ["[DONE]"],
        latency=answer.latency,
        pause=answer.pause,
        drop_after=answer.drop_after,
        before=answer.before,
    )


def _events(request: dict[str, Any], answer: Answer) -> Iterator[dict[str, Any]]:
    head = _head(request, "chat.completion.chunk")
    for piece in _pieces(answer.text):
        delta = {"role": "assistant", "content": piece}
        yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    end = {"index": 0, "delta": {}, "finish_reason": answer.finish_reason}
    yield {**head, "choices": [end]}
    if answer.usage and (request.get("stream_options") or {}).get("include_usage"):
        yield {**head, "choices": [], "usage": _usage(request, answer)}


def _pieces(text: str) -> list[str]:
    words = text.split(" ")
    return [f"{word} " for word in words[:-1]] + words[-1:]


def _head(request: Mapping[str, Any], kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{time.monotonic_ns()}",
        "object": kind,
        "created": int(time.time()),
        "model": request["model"],
    }


def _usage(request: Mapping[str, Any], answer: Answer) -> dict[str, int]:
    read = sum(len(str(message["content"]).split()) for message in request["messages"])
    written = len(answer.text.split())
    return {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
    }


def _vector(text: str) -> list[float]:
    """The same text always gets the same vector; different texts point in different directions."""
    digest = hashlib.sha256(str(text).encode()).digest()
    return [byte / 127.5 - 1 for byte in digest[:DIMENSION]]
