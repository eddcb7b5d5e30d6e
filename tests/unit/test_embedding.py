"""Embedding over real HTTP, and offline."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.embeddings import Embeddings

from ragweave.models import attempts, embedding, register
from ragweave.models.embedding import embed_query, embed_texts
from ragweave.state.errors import ModelRefused, ModelUnavailable
from tests.servers import Fault, Json, OpenAIStub


def inputs(stub: OpenAIStub) -> list[Any]:
    return [call.body["input"] for call in stub.calls]


async def test_texts_keep_their_order_over_batches(openai_stub: OpenAIStub) -> None:
    openai_stub.embed = lambda text: [float(text), 1.0]
    texts = [str(number) for number in range(300)]
    vectors = await embed_texts(texts, embeddings="openai:stub")
    assert [vector[0] for vector in vectors] == list(range(300))
    assert sorted(map(len, inputs(openai_stub))) == [44, 128, 128]


async def test_a_query_is_embedded_like_a_text(openai_stub: OpenAIStub) -> None:
    query = await embed_query("some words", embeddings="openai:stub")
    assert [query] == await embed_texts(["some words"], embeddings="openai:stub")
    assert inputs(openai_stub)[0] == ["some words"]


async def test_no_texts_need_no_call(openai_stub: OpenAIStub) -> None:
    assert await embed_texts([], embeddings="openai:stub") == []
    assert openai_stub.calls == []


async def test_a_passing_fault_is_tried_again(openai_stub: OpenAIStub) -> None:
    faults = [Fault(429, retry_after=0), Fault(dropped=True)]
    openai_stub.embed = lambda text: faults.pop() if faults else [1.0]
    assert await embed_texts(["a"], embeddings="openai:stub") == [[1.0]]
    assert len(openai_stub.calls) == 3


async def test_a_refusal_is_one_error(openai_stub: OpenAIStub) -> None:
    openai_stub.embed = lambda text: Fault(401, "Incorrect API key provided.")
    with pytest.raises(ModelRefused, match="Check OPENAI_API_KEY"):
        await embed_texts(["a"] * 300, embeddings="openai:stub")


async def test_a_server_that_stays_silent_is_given_up(
    openai_stub: OpenAIStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "REQUEST_SECONDS", 0.3)
    monkeypatch.setattr(attempts, "_backoff", lambda state: 0)
    openai_stub.embed = lambda text: Json({}, latency=5)
    with pytest.raises(ModelUnavailable, match=r"no vectors in .* \(3 attempts\)"):
        await embed_query("a", embeddings="openai:stub")


class Odd(Embeddings):
    """Gives the vectors it was made with."""

    def __init__(self, *vectors: list[float]) -> None:
        self.vectors = list(vectors)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self.vectors

    def embed_query(self, text: str) -> list[float]:
        return self.vectors[0]


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        ([[1.0]], "gave 1 vectors for 2 texts"),
        ([[1.0], [1.0, 2.0]], r"different lengths: \[1, 2\]"),
        ([[], []], r"different lengths: \[0\]"),
        ([[1.0], [float("nan")]], "NaN"),
        ([[1.0], [float("inf")]], "NaN or infinity"),
    ],
)
async def test_what_is_no_vector_is_an_error(vectors: list[list[float]], said: str) -> None:
    register("odd", Odd(*vectors))
    with pytest.raises(ModelUnavailable, match=f"odd gave .*{said}|odd {said}"):
        await embed_texts(["a", "b"], embeddings="odd")
