"""LangChain's own suites, whole, over every backend, with and without a tenant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import (
    RetrieversIntegrationTests,
    VectorStoreIntegrationTests,
)

from ragweave.stores.langchain import RagweaveRetriever, RagweaveVectorStore
from tests.stores.backends import IndexString


@pytest.fixture(params=[None, "acme"], ids=["no-tenant", "tenant"])
def tenant(request: pytest.FixtureRequest) -> str | None:
    named: str | None = request.param
    return named


class TestVectorStore(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(
        self, index_string: IndexString, tenant: str | None
    ) -> Iterator[RagweaveVectorStore]:
        embeddings = self.get_embeddings()
        with RagweaveVectorStore(index_string("standard"), embeddings, tenant=tenant) as store:
            yield store


class TestRetriever(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def filled(self, index_string: IndexString, tenant: str | None) -> Iterator[None]:
        embeddings = VectorStoreIntegrationTests.get_embeddings()
        index = index_string("standard")
        with RagweaveVectorStore(index, embeddings, tenant=tenant) as store:
            store.add_texts([f"{word} in a text" for word in ("apple", "pear", "plum", "fig")])
            self.params = {"index": index, "embeddings": embeddings, "tenant": tenant}
            yield

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return RagweaveRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return self.params

    @property
    def retriever_query_example(self) -> str:
        return "a fig and a plum"
