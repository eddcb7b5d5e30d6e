"""A server that speaks Tavily's protocol and finds what it is told to find."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from tests.servers.http import Call, Fault, Json, StubServer

Found = Sequence[Any] | Json | Fault
"""Results; a `Json` for a body that is not Tavily's; a failure."""
Search = Callable[[dict[str, Any]], Found]


class TavilyStub(StubServer):
    """`POST /search`. Its `url` goes into TAVILY_BASE_URL.

    What was given to `find` comes first, each once, in order; then `search` is asked, which finds
    nothing unless it is set. `api_key`, if set, is the only key that is let in.
    """

    def __init__(self, search: Search | None = None, *, api_key: str | None = None) -> None:
        super().__init__()
        self.search = search or (lambda request: [])
        self.api_key = api_key
        self._queue: deque[Found] = deque()

    @property
    def queries(self) -> list[str]:
        """What was searched for so far."""
        return [call.body.get("query", "") for call in self.calls if call.path == "/search"]

    def find(self, *found: Found) -> None:
        """Put answers in the queue."""
        self._queue.extend(found)

    def serve_fixtures(self, path: Path) -> None:
        """Answer from a file of recorded responses: the one whose query is most like the asked."""
        records = [json.loads(line)["response"] for line in path.read_text("utf-8").splitlines()]
        self.search = lambda request: max(
            records, key=lambda record: _overlap(record["query"], request["query"])
        )["results"]

    def respond(self, call: Call) -> Json | Fault:
        """Answer one request."""
        given = call.headers.get("authorization", "").removeprefix("Bearer ")
        if self.api_key and given != self.api_key:
            return Fault(401, "Unauthorized: missing or invalid API key.")
        if call.path != "/search":
            return Fault(404, f"There is no {call.path}.")
        try:
            found = self._queue.popleft()
        except IndexError:
            found = self.search(call.body)
        if isinstance(found, Json | Fault):
            return found
        query, most = call.body.get("query"), call.body.get("max_results", 5)
        return Json(
            {
                "query": query,
                "follow_up_questions": None,
                "answer": None,
                "images": [],
                "results": list(found)[:most],
                "response_time": 0.1,
            }
        )

    def fault_body(self, fault: Fault) -> Any:
        """Tavily wraps its errors in `detail`."""
        return {"detail": {"error": fault.message}}


def web_result(content: str | None, **fields: Any) -> dict[str, Any]:
    """One result; `url`, `title` and `score` unless given."""
    return {
        "title": "A page",
        "url": "https://example.org/page",
        "content": content,
        "score": 0.9,
        "raw_content": None,
        **fields,
    }


def _overlap(one: str, other: str) -> float:
    """Share of word pieces in common; of Chinese, of characters."""
    first, second = set(_pieces(one)), set(_pieces(other))
    return len(first & second) / (len(first | second) or 1)


def _pieces(text: str) -> Iterable[str]:
    return text.lower().split() if text.isascii() else text
