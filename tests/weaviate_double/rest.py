"""The double's REST side: health, schema and tenants."""

from __future__ import annotations

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.weaviate_double.collection import Refused
from tests.weaviate_double.database import Database

Answer = tuple[int, Any]

_HNSW = {
    "cleanupIntervalSeconds": 300,
    "distance": "cosine",
    "dynamicEfFactor": 8,
    "dynamicEfMax": 500,
    "dynamicEfMin": 100,
    "ef": -1,
    "efConstruction": 128,
    "filterStrategy": "acorn",
    "flatSearchCutoff": 40_000,
    "maxConnections": 32,
    "skip": False,
    "vectorCacheMaxObjects": 1_000_000_000_000,
}


def answer(database: Database, method: str, path: list[str], body: Any) -> Answer:
    """Status and JSON body for a request below `/v1`."""
    match method, path:
        case "GET", ["meta"]:
            return 200, database.meta
        case "GET", [".well-known", "ready" | "live"]:
            return 200, None
        case "GET", ["schema"]:
            return 200, {"classes": [c.schema for c in database.collections.values()]}
        case "POST", ["schema"]:
            return 200, database.create(body).schema
        case "GET", ["schema", name]:
            return 200, _described(database.collection(name).schema)
        case "DELETE", ["schema", name]:
            database.collections.pop(name, None)
            return 200, None
        case "POST", ["schema", name, "tenants"]:
            database.collection(name).add_tenants([tenant["name"] for tenant in body])
            return 200, body
        case "DELETE", ["schema", name, "tenants"]:
            for tenant in body:
                database.collection(name).tenants.pop(tenant, None)
            return 200, None
        case "GET" | "HEAD", ["schema", name, "tenants", tenant]:
            known = tenant in database.collection(name).tenants
            return (200, {"name": tenant, "activityStatus": "HOT"}) if known else (404, None)
        case _:
            return 404, None


def handler(
    respond: Callable[[str, str, Any, str | None], Answer],
) -> type[BaseHTTPRequestHandler]:
    """A request handler that leaves every answer to `respond(method, path, body, key)`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            """Keep quiet: the double has a call log of its own."""

        def _respond(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            try:
                key = self.headers.get("authorization")
                status, content = respond(self.command, self.path, body, key)
            except Refused as error:
                status, content = error.status, {"error": [{"message": str(error)}]}
            data = b"" if content is None else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _respond

    return Handler


def _described(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema as the server gives it back: with what was left open filled in."""
    return {
        "vectorizer": "none",
        "vectorIndexType": "hnsw",
        "vectorIndexConfig": _HNSW,
        "multiTenancyConfig": {"enabled": False},
        "replicationConfig": {"factor": 1},
        "shardingConfig": {},
        **schema,
        "properties": [
            {
                "indexFilterable": True,
                "indexSearchable": item["dataType"] == ["text"],
                "indexRangeFilters": False,
                **item,
            }
            for item in schema.get("properties") or []
        ],
        "vectorConfig": {
            name: {
                "vectorIndexType": "hnsw",
                **vector,
                "vectorIndexConfig": {**_HNSW, **(vector.get("vectorIndexConfig") or {})},
            }
            for name, vector in (schema.get("vectorConfig") or {}).items()
        },
    }
