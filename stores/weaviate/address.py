"""Where a Weaviate index lies: `weaviate:` strings and the `WEAVIATE_*` settings beside them.

Secrets come from the environment when a connection is made. They are no part of an address, so an
index string is safe in a context, a checkpoint, a log or a trace.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NoReturn, cast, get_args
from urllib.parse import SplitResult, parse_qsl, urlsplit

from ragweave.state.errors import InvalidSetting

Consistency = Literal["ONE", "QUORUM", "ALL"]

COLLECTION = re.compile(r"[A-Z][_0-9A-Za-z]{0,200}")
TENANT = re.compile(r"[A-Za-z0-9_-]{1,64}")
SEARCH_SECONDS, REPLICATED_SEARCH_SECONDS, WRITE_SECONDS = 10.0, 20.0, 60.0
"""Deadlines. With replicas there is time for one node to fail and another to answer."""

_OPTIONS = frozenset(
    {
        "collection",
        "consistency",
        "grpc_host",
        "grpc_port",
        "path",
        "port",
        "replication",
        "shards",
        "timeout",
        "vector",
        "version",
        "write_timeout",
    }
)
_CLOUD = (".weaviate.cloud", ".weaviate.network", ".semi.technology")


@dataclass(frozen=True, slots=True)
class Server:
    """How to reach one server; indexes on the same server share their connections."""

    host: str
    port: int
    secure: bool
    grpc_host: str
    grpc_port: int
    cloud: bool = False
    """A Weaviate Cloud cluster, whose gRPC host follows from its host."""
    embedded_path: str | None = None
    """Data folder of a server that this process starts itself."""
    embedded_version: str | None = None

    def __str__(self) -> str:
        return f"{'https' if self.secure else 'http'}://{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Address:
    """A collection on a server, and how it is to be made and called."""

    server: Server
    collection: str = "Docs"
    vector: str = "chunk"
    """Name of the vector that chunks are searched by."""
    replication: int = 1
    """Nodes that hold each object. Used when the collection is made, as are shards."""
    shards: int | None = None
    consistency: Consistency | None = None
    """Replicas that must agree on a read or write; the server's own default if None."""
    search_seconds: float = SEARCH_SECONDS
    """Deadline of a search, a read or a request about the schema."""
    write_seconds: float = WRITE_SECONDS
    """Deadline of one batch with all its repetitions."""


def parse_address(name: str) -> Address:
    """Read an index string such as `weaviate:http://HOST:8080?collection=Docs&grpc_port=50051`.

    Without a host, `weaviate:?collection=Docs` means the server at `WEAVIATE_URL`;
    `weaviate:embedded?path=FOLDER` starts one in this process.

    Raises:
        InvalidSetting: an option is unknown or has no valid value.
    """
    url = urlsplit(name.removeprefix("weaviate:"))
    options = dict(parse_qsl(url.query, keep_blank_values=True))
    if not url.scheme and not url.path:
        url = urlsplit(
            os.environ.get("WEAVIATE_URL") or _invalid("name a host or set WEAVIATE_URL")
        )
        options = {**dict(parse_qsl(url.query)), **options}
    if unknown := sorted(set(options) - _OPTIONS):
        _invalid(
            f"unknown option {unknown[0]!r}; known are {', '.join(sorted(_OPTIONS))} (keys are "
            f"read from WEAVIATE_API_KEY)"
        )
    server = _embedded(options) if url.path == "embedded" else _remote(url, options)
    replication = _number(options, "replication", 1)
    return Address(
        server=server,
        collection=_collection(options.get("collection", "Docs")),
        vector=options.get("vector", "chunk"),
        replication=replication,
        shards=_number(options, "shards", 0) or None,
        consistency=_consistency(options.get("consistency"), replication),
        search_seconds=_seconds(
            options, "timeout", REPLICATED_SEARCH_SECONDS if replication > 1 else SEARCH_SECONDS
        ),
        write_seconds=_seconds(options, "write_timeout", WRITE_SECONDS),
    )


def check_tenant(tenant: str | None) -> str | None:
    """The tenant as it is, if Weaviate can hold one of that name.

    Raises:
        InvalidSetting: it cannot.
    """
    if tenant is not None and not TENANT.fullmatch(tenant):
        _invalid(f"tenant {tenant!r} must be 1 to 64 letters, digits, `_` or `-`")
    return tenant


def secrets() -> tuple[str | None, dict[str, str]]:
    """API key and extra headers of the environment: `WEAVIATE_API_KEY`, `WEAVIATE_HEADERS` (JSON).

    Raises:
        InvalidSetting: the headers are no JSON object of strings.
    """
    headers: object = {}
    if text := os.environ.get("WEAVIATE_HEADERS"):
        try:
            headers = json.loads(text)
        except ValueError:
            headers = None
    if not isinstance(headers, dict) or not all(isinstance(v, str) for v in headers.values()):
        _invalid("WEAVIATE_HEADERS must be a JSON object of strings")
    return os.environ.get("WEAVIATE_API_KEY") or None, headers


def _remote(url: SplitResult, options: Mapping[str, str]) -> Server:
    if url.scheme not in ("http", "https") or not url.hostname or url.path.strip("/"):
        _invalid(
            "expected http://HOST:PORT, https://HOST or `embedded` after `weaviate:`, or nothing "
            "and WEAVIATE_URL set"
        )
    if url.username or url.password:
        _invalid("keys do not belong in an index string; set WEAVIATE_API_KEY")
    secure = url.scheme == "https"
    try:
        port = url.port or (443 if secure else 8080)
    except ValueError:
        _invalid("the port must be a number up to 65535")
    return Server(
        host=url.hostname,
        port=port,
        secure=secure,
        grpc_host=options.get("grpc_host") or url.hostname,
        grpc_port=_number(options, "grpc_port", 443 if secure else 50051),
        cloud=url.hostname.endswith(_CLOUD) and "grpc_host" not in options,
    )


def _embedded(options: Mapping[str, str]) -> Server:
    return Server(
        host="127.0.0.1",
        port=_number(options, "port", 8079),
        secure=False,
        grpc_host="127.0.0.1",
        grpc_port=_number(options, "grpc_port", 50050),
        embedded_path=options.get("path", ".ragweave/weaviate"),
        embedded_version=options.get("version"),
    )


def _collection(name: str) -> str:
    name = name[:1].upper() + name[1:]
    if not COLLECTION.fullmatch(name):
        _invalid(f"collection {name!r} must be a letter followed by letters, digits or `_`")
    return name


def _consistency(value: str | None, replication: int) -> Consistency | None:
    """Replicated writes and reads ask for a quorum, so that a read sees what was acknowledged."""
    if value is None:
        return "QUORUM" if replication > 1 else None
    if value.upper() not in get_args(Consistency):
        _invalid(f"consistency {value!r} must be ONE, QUORUM or ALL")
    return cast(Consistency, value.upper())


def _number(options: Mapping[str, str], option: str, default: int) -> int:
    value = options.get(option, str(default))
    if not value.isdecimal() or (option in options and not 0 < int(value) < 2**16):
        _invalid(f"{option} must be a whole number above 0, not {value!r}")
    return int(value)


def _seconds(options: Mapping[str, str], option: str, default: float) -> float:
    try:
        seconds = float(options.get(option, default))
    except ValueError:
        seconds = 0
    if not 0 < seconds < 86_400:
        _invalid(f"{option} must be seconds above 0, not {options[option]!r}")
    return seconds


def _invalid(reason: str) -> NoReturn:
    raise InvalidSetting(f"Weaviate index: {reason}.")
