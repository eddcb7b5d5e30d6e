"""What the servers share: threads, a log of calls, faults, and answers as JSON or as a stream."""

from __future__ import annotations

import json
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from types import TracebackType
from typing import Any, Self

IDLE_SECONDS = 30
"""A connection that stays silent that long is closed."""


@dataclass
class Call:
    """One request, as it came in."""

    path: str
    body: dict[str, Any]
    headers: Mapping[str, str]
    started: float
    """Seconds of the monotonic clock."""
    ended: float | None = None
    status: int | None = None
    """None while it is being answered, and for a connection that was dropped."""
    content: bytes = b""
    """What was sent, where it is not JSON; `body` is empty then."""


@dataclass(frozen=True)
class Json:
    """A JSON answer: any value, or `raw` text that need not be JSON at all."""

    value: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    latency: float = 0
    """Seconds before the answer."""
    raw: str | None = None

    @property
    def payload(self) -> bytes:
        """What is sent."""
        return (json.dumps(self.value) if self.raw is None else self.raw).encode()


@dataclass(frozen=True)
class Stream:
    """Server-sent events, one after the other, with a `pause` of seconds between them."""

    events: list[str]
    latency: float = 0
    pause: float = 0
    drop_after: int | None = None
    """Close the connection after that many events, as if the server had died."""
    before: Callable[[int], None] | None = None
    """Called with the number of each event, from 0, before it is sent."""


@dataclass(frozen=True)
class Fault:
    """A failure: an HTTP status with the provider's message, or a dropped connection."""

    status: int = 500
    message: str = "The server had an error."
    code: str | None = None
    retry_after: float | str | None = None
    """Seconds or an HTTP date, sent as the `Retry-After` header."""
    latency: float = 0
    dropped: bool = False
    """Close the connection without any answer."""


class StubServer(ABC):
    """An HTTP server on a free port of this machine, to be used as a context manager.

    Subclasses decide in `respond`, which runs in one thread per connection.
    """

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.in_flight = 0
        self.max_in_flight = 0
        self.connections = 0
        """How many were opened so far."""
        self._lock = Lock()
        self._connections: set[socket.socket] = set()
        self._server = _Server(self)
        self._thread = Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """Address without a path, such as `http://127.0.0.1:40123`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @abstractmethod
    def respond(self, call: Call) -> Json | Stream | Fault:
        """What to answer."""

    def fault_body(self, fault: Fault) -> Any:
        """The provider's JSON for a failure."""
        return {"error": {"message": fault.message, "type": "error", "code": fault.code}}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        with self._lock:
            for connection in self._connections:
                connection.close()
        self._server.server_close()

    def _opened(self, connection: socket.socket) -> None:
        with self._lock:
            self.connections += 1
            self._connections.add(connection)

    def _closed(self, connection: socket.socket) -> None:
        with self._lock:
            self._connections.discard(connection)

    def _begun(self, call: Call) -> None:
        with self._lock:
            self.calls.append(call)
            self.in_flight += 1
            self.max_in_flight = max(self.max_in_flight, self.in_flight)

    def _ended(self, call: Call) -> None:
        with self._lock:
            call.ended = time.monotonic()
            self.in_flight -= 1


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, stub: StubServer) -> None:
        self.stub = stub
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients that hang up are part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = IDLE_SECONDS

    def setup(self) -> None:
        super().setup()
        self.server.stub._opened(self.connection)

    def finish(self) -> None:
        self.server.stub._closed(self.connection)
        super().finish()

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        self._serve(self.rfile.read(int(self.headers.get("content-length") or 0)))

    do_PATCH = do_POST

    def _serve(self, sent: bytes) -> None:
        stub = self.server.stub
        headers = {name.lower(): value for name, value in self.headers.items()}
        is_form = headers.get("content-type", "").startswith("multipart/")
        body = {} if is_form else json.loads(sent or b"{}")
        content = sent if is_form else b""
        call = Call(self.path, body, headers, time.monotonic(), content=content)
        stub._begun(call)
        try:
            self._send(call, stub.respond(call))
        finally:
            stub._ended(call)

    def _send(self, call: Call, answer: Json | Stream | Fault) -> None:
        time.sleep(answer.latency)
        if isinstance(answer, Stream):
            self._send_stream(call, answer)
        elif isinstance(answer, Json):
            self._send_json(call, answer)
        elif answer.dropped:
            self._hang_up()
        else:
            wait = answer.retry_after
            headers = {} if wait is None else {"Retry-After": str(wait)}
            body = self.server.stub.fault_body(answer)
            self._send_json(call, Json(body, status=answer.status, headers=headers))

    def _send_json(self, call: Call, answer: Json) -> None:
        call.status = answer.status
        self.send_response(answer.status)
        for name, value in {"Content-Type": "application/json", **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.payload)))
        self.end_headers()
        self.wfile.write(answer.payload)

    def _send_stream(self, call: Call, answer: Stream) -> None:
        call.status = 200
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for sent, event in enumerate(self._paced(answer)):
            if sent == answer.drop_after:
                return self._hang_up()
            self._send_chunk(f"data: {event}\n\n".encode())
        return self._send_chunk(b"")

    def _paced(self, answer: Stream) -> Iterator[str]:
        for number, event in enumerate(answer.events):
            time.sleep(answer.pause if number else 0)
            if answer.before:
                answer.before(number)
            yield event

    def _send_chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the test's output clean; `StubServer.calls` is the log."""
