"""From names to models."""

from __future__ import annotations

import asyncio
import builtins
import gc
import sys
import weakref
from typing import Any

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from ragweave.models import register, registry
from ragweave.models.offline.chat import ExtractiveChatModel
from ragweave.models.offline.embeddings import OfflineEmbeddings
from ragweave.models.registry import chat_model, embeddings
from ragweave.state.errors import InvalidSetting

KEY = "sk-a-key-that-nobody-may-see"


@pytest.fixture(autouse=True)
def fresh_registrations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_chat_models", {})
    monkeypatch.setattr(registry, "_embeddings", {})


async def test_offline_needs_nothing() -> None:
    assert isinstance(await chat_model("offline"), ExtractiveChatModel)
    assert isinstance(await embeddings("offline"), OfflineEmbeddings)


async def test_one_name_can_stand_for_a_chat_model_and_for_embeddings() -> None:
    chat = GenericFakeChatModel(messages=iter([AIMessage("hi")]))
    vectors = DeterministicFakeEmbedding(size=4)
    register("mine", chat)
    register("mine", vectors)
    assert await chat_model("mine") is chat
    assert await embeddings("mine") is vectors


@pytest.mark.parametrize("name", ["", "offline", "openai:mine"])
def test_some_names_cannot_be_registered(name: str) -> None:
    with pytest.raises(InvalidSetting, match="cannot be registered"):
        register(name, DeterministicFakeEmbedding(size=4))


def test_only_models_can_be_registered() -> None:
    with pytest.raises(InvalidSetting, match="neither a LangChain chat model"):
        register("mine", "gpt-4")  # type: ignore[arg-type]


async def test_an_unknown_name_is_told_what_there_is() -> None:
    register("mine", DeterministicFakeEmbedding(size=4))
    with pytest.raises(InvalidSetting, match=r'no embeddings "yours"\. Known: offline, .*, mine\.'):
        await embeddings("yours")
    with pytest.raises(InvalidSetting, match='no chat model "mine"'):
        await chat_model("mine")


@pytest.mark.parametrize("name", ["openai:", ":gpt"])
async def test_half_a_name_is_no_name(name: str) -> None:
    with pytest.raises(InvalidSetting, match="Write PROVIDER:MODEL"):
        await chat_model(name)


async def test_openai_needs_a_key_and_other_servers_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(InvalidSetting, match="openai:gpt needs OPENAI_API_KEY"):
        await chat_model("openai:gpt")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    model: Any = await chat_model("openai:gpt")
    assert str(model.root_async_client.base_url) == "http://127.0.0.1:9/v1/"
    assert model.max_retries == 0


async def test_a_key_is_not_in_what_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for model in (await chat_model("openai:gpt"), await embeddings("openai:vectors")):
        assert KEY not in f"{model!r}{model}"


async def test_texts_go_to_other_servers_as_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    at_openai: Any = await embeddings("openai:large")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    elsewhere: Any = await embeddings("openai:small")
    assert at_openai.check_embedding_ctx_length
    assert not elsewhere.check_embedding_ctx_length


async def test_another_provider_says_what_to_install() -> None:
    with pytest.raises(InvalidSetting, match="langchain-mistralai"):
        await chat_model("mistralai:large")
    with pytest.raises(InvalidSetting, match="langchain-cohere"):
        await embeddings("cohere:embed")


@pytest.mark.parametrize(("resolve", "kind"), [(chat_model, "chat"), (embeddings, "embeddings")])
async def test_a_provider_that_does_not_exist_is_named_with_the_nearest(
    resolve: Any, kind: str
) -> None:
    with pytest.raises(InvalidSetting, match=r"Did you mean ollama[?] https://") as near:
        await resolve("olama:x")
    with pytest.raises(InvalidSetting, match=f'"zzz"[.] https://.*/{kind} lists all') as far:
        await resolve("zzz:x")
    for caught in (near, far):
        assert "OPENAI_BASE_URL" in str(caught.value)
        assert len(str(caught.value)) < 220


async def test_without_langchain_other_providers_name_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "langchain"]:
        monkeypatch.delitem(sys.modules, name)
    real_import = builtins.__import__

    def without_langchain(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.split(".")[0] == "langchain":
            raise ModuleNotFoundError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_langchain)
    for resolve in (chat_model, embeddings):
        with pytest.raises(InvalidSetting, match=r"pip install 'ragweave\[providers\]'"):
            await resolve("ollama:llama")


async def test_a_model_is_built_once_for_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    models = await asyncio.gather(*(chat_model("openai:gpt") for _ in range(10)))
    assert len(set(map(id, models))) == 1


def test_loops_that_ended_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    async def client() -> weakref.ref[Any]:
        model: Any = await chat_model("openai:gpt")
        return weakref.ref(model.http_async_client)

    clients = [asyncio.run(client()) for _ in range(5)]
    gc.collect()
    assert sum(client() is not None for client in clients) <= 1
    assert len(registry._built._values) <= 1
