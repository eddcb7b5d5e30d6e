"""The double as a server: its two ports, its faults, and a log of what it was asked."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from typing import Any, TypeVar

import grpc
from weaviate.proto.v1 import weaviate_pb2_grpc

from tests.weaviate_double import rest
from tests.weaviate_double.collection import Refused
from tests.weaviate_double.database import Database

_MESSAGE_LIMIT = 104_858_000
_Reply = TypeVar("_Reply")


@dataclass(frozen=True)
class Call:
    """One request: the gRPC method or `METHOD /path`, its message or body, and who sent it."""

    name: str
    request: Any
    peer: str = ""


@dataclass(frozen=True)
class Fault:
    """What happens to a request before its answer, and instead of it if there is a code."""

    seconds: float = 0
    code: grpc.StatusCode | None = None
    text: str = "injected"
    carried_out: bool = False
    """The request was carried out all the same: only its answer is lost."""


class WeaviateDouble:
    """A server on loopback: `with WeaviateDouble() as double:`, or `start()` and `stop()`.

    Stopped and started again it has the same data and ports, as a restarted server does.
    """

    def __init__(self, *, port: int = 0, grpc_port: int = 0) -> None:
        self.database = Database()
        self.port, self.grpc_port = port, grpc_port
        self.key: str | None = None
        """API key that every request must carry."""
        self.calls: list[Call] = []
        self._faults: dict[str, list[Fault]] = defaultdict(list)
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """The index string of this server, without a collection."""
        return f"weaviate:http://127.0.0.1:{self.port}?grpc_port={self.grpc_port}"

    def start(self) -> WeaviateDouble:
        """Listen on both ports."""
        self._pool = ThreadPoolExecutor(8)
        self._grpc = grpc.server(
            self._pool,
            options=[
                ("grpc.max_receive_message_length", _MESSAGE_LIMIT),
                ("grpc.max_send_message_length", _MESSAGE_LIMIT),
                ("grpc.so_reuseport", 0),
            ],
        )
        weaviate_pb2_grpc.add_WeaviateServicer_to_server(  # type: ignore[no-untyped-call]
            _Service(self), self._grpc
        )
        self.grpc_port = self._grpc.add_insecure_port(f"127.0.0.1:{self.grpc_port}")
        self._grpc.start()
        self._http = ThreadingHTTPServer(("127.0.0.1", self.port), rest.handler(self._rest))
        self._http.daemon_threads = True
        self.port = self._http.server_port
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Close both ports and break off what is being answered."""
        self._grpc.stop(None).wait()
        self._pool.shutdown()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def __enter__(self) -> WeaviateDouble:
        return self.start()

    def __exit__(self, *error: object) -> None:
        self.stop()

    def fail(self, name: str, fault: Fault, *, times: int = 1) -> None:
        """Let the next `times` requests of a gRPC method or `METHOD /path` meet a fault."""
        self._faults[name] += [fault] * times

    def calls_of(self, name: str) -> list[Call]:
        """The logged calls of one gRPC method or `METHOD /path`."""
        return [call for call in self.calls if call.name == name]

    def answer(self, call: Call, key: str | None, answer: Callable[[], _Reply]) -> _Reply:
        """Answer a request: log it, check its key, meet the fault that waits for it."""
        with self._lock:
            self.calls.append(call)
            waiting = self._faults[call.name]
            fault = waiting.pop(0) if waiting else Fault()
        if self.key and key != f"Bearer {self.key}":
            raise Refused("invalid api key", 401, grpc.StatusCode.UNAUTHENTICATED)
        time.sleep(fault.seconds)
        if fault.code is not None:
            if fault.carried_out:
                with self._lock:
                    answer()
            raise Refused(fault.text, 503, fault.code)
        with self._lock:
            return answer()

    def _rest(self, method: str, path: str, body: Any, key: str | None) -> rest.Answer:
        parts = path.partition("?")[0].removeprefix("/v1").strip("/").split("/")
        call = Call(f"{method} /{'/'.join(parts)}", body)
        return self.answer(call, key, lambda: rest.answer(self.database, method, parts, body))


class _Service(weaviate_pb2_grpc.WeaviateServicer):
    """The gRPC methods that the client calls."""

    def __init__(self, double: WeaviateDouble) -> None:
        self._double = double
        self._database = double.database

    def Search(self, request: Any, context: Any) -> Any:
        return self._answer("Search", self._database.search, request, context)

    def BatchObjects(self, request: Any, context: Any) -> Any:
        return self._answer("BatchObjects", self._database.insert, request, context)

    def BatchDelete(self, request: Any, context: Any) -> Any:
        return self._answer("BatchDelete", self._database.delete, request, context)

    def Aggregate(self, request: Any, context: Any) -> Any:
        return self._answer("Aggregate", self._database.count, request, context)

    def TenantsGet(self, request: Any, context: Any) -> Any:
        return self._answer("TenantsGet", self._database.tenants, request, context)

    def _answer(self, name: str, answer: Callable[[Any], Any], request: Any, context: Any) -> Any:
        key = dict(context.invocation_metadata()).get("authorization")
        call = Call(name, request, context.peer())
        try:
            return self._double.answer(call, key, lambda: answer(request))
        except Refused as error:
            context.abort(error.code, str(error))
