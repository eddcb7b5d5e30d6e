"""Index strings of Weaviate, and what is never in them."""

from __future__ import annotations

import pytest

from ragweave.state.errors import InvalidSetting
from ragweave.stores.weaviate.address import parse_address, secrets
from ragweave.stores.weaviate.index import WeaviateIndex


def test_a_string_names_server_ports_and_collection() -> None:
    address = parse_address("weaviate:http://db.example:8090?collection=Papers&grpc_port=50099")
    assert (address.server.host, address.server.port) == ("db.example", 8090)
    assert (address.server.grpc_host, address.server.grpc_port) == ("db.example", 50099)
    assert address.collection == "Papers"
    assert not address.server.secure


def test_what_is_left_out_has_the_usual_values() -> None:
    address = parse_address("weaviate:http://localhost")
    assert (address.server.port, address.server.grpc_port) == (8080, 50051)
    assert (address.collection, address.vector, address.replication) == ("Docs", "chunk", 1)
    assert address.consistency is None


def test_https_uses_443_for_both_and_the_cloud_its_own_grpc_host() -> None:
    own = parse_address("weaviate:https://db.example?grpc_host=grpc.db.example").server
    assert (own.port, own.grpc_port, own.secure, own.cloud) == (443, 443, True, False)
    assert own.grpc_host == "grpc.db.example"
    assert parse_address("weaviate:https://abc.c0.europe-west3.gcp.weaviate.cloud").server.cloud


def test_a_replicated_index_asks_for_a_quorum_and_leaves_time_for_a_failover() -> None:
    address = parse_address("weaviate:http://a?replication=3&shards=6")
    assert (address.replication, address.shards, address.consistency) == (3, 6, "QUORUM")
    assert address.search_seconds == 20
    assert parse_address("weaviate:http://a?replication=3&consistency=one").consistency == "ONE"


def test_without_a_host_the_server_is_that_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WEAVIATE_URL", "http://db.example:8090?grpc_port=50099&collection=A")
    address = parse_address("weaviate:?collection=B")
    assert (address.server.host, address.server.grpc_port) == ("db.example", 50099)
    assert address.collection == "B"


def test_embedded_needs_no_host() -> None:
    server = parse_address("weaviate:embedded?path=/tmp/wv&version=1.39.0&port=9000").server
    assert (server.embedded_path, server.embedded_version, server.port) == (
        "/tmp/wv",
        "1.39.0",
        9000,
    )


@pytest.mark.parametrize(
    ("string", "says"),
    [
        ("weaviate:", "WEAVIATE_URL"),
        ("weaviate:ftp://a", "http://HOST"),
        ("weaviate:http://a/v1", "http://HOST"),
        ("weaviate:http://a:port", "port"),
        ("weaviate:http://a?colection=Docs", "'colection'"),
        ("weaviate:http://a?collection=my-docs", "'My-docs'"),
        ("weaviate:http://a?replication=0", "replication"),
        ("weaviate:http://a?replication=three", "replication"),
        ("weaviate:http://a?consistency=most", "ONE, QUORUM or ALL"),
        ("weaviate:http://a?timeout=soon", "timeout"),
        ("weaviate:http://a?timeout=0", "timeout"),
        ("weaviate:http://a?grpc_port=70000", "grpc_port"),
    ],
)
def test_a_bad_string_says_what_is_wrong(
    string: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WEAVIATE_URL", raising=False)
    with pytest.raises(InvalidSetting, match=says):
        parse_address(string)


@pytest.mark.parametrize(
    "string", ["weaviate:http://key:s3cret@a", "weaviate:http://a?api_key=s3cret"]
)
def test_a_key_in_a_string_is_refused_without_repeating_it(string: str) -> None:
    with pytest.raises(InvalidSetting, match="WEAVIATE_API_KEY") as raised:
        parse_address(string)
    assert "s3cret" not in str(raised.value)


def test_keys_come_from_the_environment_and_stay_out_of_the_index(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WEAVIATE_API_KEY", "s3cret")
    monkeypatch.setenv("WEAVIATE_HEADERS", '{"X-Proxy": "t0ken"}')
    assert secrets() == ("s3cret", {"X-Proxy": "t0ken"})
    index = WeaviateIndex.from_url("weaviate:http://a")
    assert "s3cret" not in f"{index.name}{vars(index)}{index._access.address}"


def test_headers_that_are_no_object_of_strings_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WEAVIATE_HEADERS", "[1]")
    with pytest.raises(InvalidSetting, match="WEAVIATE_HEADERS"):
        secrets()


@pytest.mark.parametrize("tenant", ["", "a b", "a/b", "x" * 65, "ä"])
def test_a_tenant_that_weaviate_cannot_name_is_refused(tenant: str) -> None:
    with pytest.raises(InvalidSetting, match="tenant"):
        WeaviateIndex.from_url("weaviate:http://a", tenant=tenant)
