from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from ragweave.state.errors import InvalidSetting
from ragweave.stores import open_index, register
from ragweave.stores.base import Index, IndexSpec
from ragweave.stores.lance.index import LanceIndex
from ragweave.stores.registry import aclose_all
from ragweave.stores.retriever import RetrieverIndex


class Nothing(BaseRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: object) -> list[Document]:
        return []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", 'There is no index "".'),
        ("nowhere", 'There is no index "nowhere". Write lance:PATH, weaviate:URL, or register'),
        ("pinecone:x", 'Unknown kind of index "pinecone:" in pinecone:x. Known: lance:PATH'),
        ("graphrag:x", "it holds GraphRAG's output, which drift and local_search read"),
    ],
)
async def test_an_unknown_index_names_the_known_ones(name: str, message: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        await open_index(name)
    assert message in str(caught.value)


async def test_an_index_is_opened_once_for_each_loop_and_tenant(tmp_path: Path) -> None:
    name = f"lance:{tmp_path}/index"
    first, second = await asyncio.gather(open_index(name), open_index(name))
    assert first is second
    assert await open_index(name, tenant="acme") is not first
    assert await open_index(f"{name}?name=other") is not first

    def elsewhere() -> Index:
        return asyncio.run(open_index(name))

    assert await asyncio.to_thread(elsewhere) is not first
    await aclose_all()
    assert await open_index(name) is not first
    await aclose_all()
    await aclose_all()


async def test_the_same_relative_name_elsewhere_is_another_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for folder in ("a", "b"):
        await asyncio.to_thread((tmp_path / folder).mkdir)
        await asyncio.to_thread(monkeypatch.chdir, tmp_path / folder)
        index = await open_index("lance:index")
        await index.ensure(IndexSpec(2, "test"))
        found.append(await index.ping())
    assert [str(tmp_path / folder) in text for folder, text in zip("ab", found, strict=True)]
    assert found[0] != found[1]
    await aclose_all()


async def test_registered_indexes_and_retrievers(tmp_path: Path) -> None:
    index = LanceIndex(tmp_path)
    register("mine", index)
    assert await open_index("mine") is index
    register("mine", Nothing())
    assert isinstance(await open_index("mine"), RetrieverIndex)
    with pytest.raises(InvalidSetting, match=r"registered: .*mine"):
        await open_index("yours")


async def test_a_registered_index_has_no_tenants(tmp_path: Path) -> None:
    register("mine", LanceIndex(tmp_path))
    with pytest.raises(InvalidSetting, match="has no tenants"):
        await open_index("mine", tenant="acme")


@pytest.mark.parametrize("name", ["", "a:b"])
def test_a_name_that_cannot_be_registered(name: str) -> None:
    with pytest.raises(InvalidSetting, match="take a name without a colon"):
        register(name, Nothing())


def test_only_indexes_and_retrievers_can_be_registered() -> None:
    with pytest.raises(InvalidSetting, match="str cannot be registered"):
        register("mine", "lance:x")  # type: ignore[arg-type]
