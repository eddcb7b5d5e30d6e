"""Making the collections of an index or a graph, and knowing what they were made for."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any

from weaviate import WeaviateAsyncClient
from weaviate.classes.tenants import Tenant
from weaviate.exceptions import UnexpectedStatusCodeError

from ragweave.state.errors import IndexMissing, IndexSchemaMismatch
from ragweave.stores.analysis import ANALYSIS_VERSION
from ragweave.stores.base import IndexSpec
from ragweave.stores.checks import check_spec
from ragweave.stores.weaviate.access import Access
from ragweave.stores.weaviate.address import Address
from ragweave.stores.weaviate.schema import (
    Made,
    chunk_collection,
    document_collection,
    parent_collection,
    read_description,
)

_REMEMBERED_SECONDS = 60
"""How long an index may have been made anew by others before it is noticed."""


Definitions = Callable[..., list[dict[str, Any]]]
"""From spec, address and `tenants` to the arguments that create each collection. The main one,
which says what they were made for, comes last: where it is, everything is."""


def index_collections(spec: IndexSpec, address: Address, *, tenants: bool) -> list[dict[str, Any]]:
    """What creates the collections of an index: parents, documents, and the chunks as the main."""
    return [
        parent_collection(address, tenants=tenants),
        document_collection(address, tenants=tenants),
        chunk_collection(spec, address, tenants=tenants),
    ]


class Layout:
    """The collections of one index, or of one graph, as one tenant sees them."""

    def __init__(
        self,
        access: Access,
        main: str,
        definitions: Definitions = index_collections,
        *,
        missing: str,
    ) -> None:
        self._access = access
        self._main = main
        self._definitions = definitions
        self._missing = missing
        self._made: Made | None = None
        self._read_at = 0.0

    async def ensure(self, spec: IndexSpec) -> None:
        """Create collections and tenant if they are not there.

        Raises:
            IndexSchemaMismatch: they are there, for something else.
        """
        self._remember(await self._access.ask(lambda client: self._make(client, spec)))

    async def spec(self) -> IndexSpec | None:
        """What the index was made for; None if it, or its tenant, is not there."""
        made = await self._existing()
        return made.spec if made else None

    async def searched_spec(self) -> IndexSpec | None:
        """What the index was made for, before searching it; None if it is not there.

        Raises:
            IndexSchemaMismatch: its text was analysed by another version than a query would be.
        """
        made = await self._existing()
        if made is None:
            return None
        self._check_analysis(made)
        return made.spec

    async def written_spec(self) -> IndexSpec:
        """What the index was made for, before writing to it.

        Raises:
            IndexMissing: it is not there. (The server would make a collection of its own.)
            IndexSchemaMismatch: its text was analysed by another version.
        """
        spec = await self.searched_spec()
        if spec is None:
            raise IndexMissing(self._missing)
        return spec

    async def ping(self) -> str:
        """Reach the server by REST and by gRPC; its name and version."""
        meta = await self._access.ask(lambda client: client.get_meta())
        with suppress(IndexMissing, IndexSchemaMismatch):  # an answer by gRPC all the same
            await self._access.read(
                self._main,
                lambda collection: collection.query.fetch_objects(limit=1, return_properties=[]),
            )
        return f"Weaviate {meta['version']}"

    def _fitting(self, description: str) -> Made:
        """What the description says, if this tenant and this version can use it."""
        address = self._access.address
        made = read_description(description, self._main)
        if made.tenants and self._access.tenant is None:
            fault = "holds several tenants: name one"
        elif not made.tenants and self._access.tenant is not None:
            fault = "was made without tenants: name none, or another collection"
        elif made.vector != address.vector:
            fault = f"calls its vector {made.vector!r}: put `vector={made.vector}` in its string"
        else:
            return made
        raise IndexSchemaMismatch(f"The index at {self._where} {fault}.")

    async def _existing(self) -> Made | None:
        if self._made is not None and monotonic() - self._read_at < _REMEMBERED_SECONDS:
            return self._made
        self._made = None
        if made := await self._access.ask(self._look_up):
            self._remember(made)
        return made

    async def _look_up(self, client: WeaviateAsyncClient) -> Made | None:
        """What the server says that the index was made for; None if it, or its tenant, is not."""
        description = await self._description(client)
        if description is None:
            return None
        made = self._fitting(description)
        tenant = self._access.tenant
        collection = client.collections.use(self._main)
        if tenant is not None and not await collection.tenants.exists(tenant):
            return None
        return made

    async def _make(self, client: WeaviateAsyncClient, spec: IndexSpec) -> Made:
        """Create what is not there; made twice, it changes nothing."""
        tenant = self._access.tenant
        definitions = self._definitions(spec, self._access.address, tenants=tenant is not None)
        description = await self._description(client)
        if description is None:
            for definition in definitions:
                await _create(client, definition)
            description = await self._description(client)
        made = self._fitting(description or "")
        check_spec(self._where, spec, made.spec)
        self._check_analysis(made)
        for definition in definitions if tenant is not None else ():
            collection = client.collections.use(definition["name"])
            await collection.tenants.create([Tenant(name=str(tenant))])
        return made

    def _check_analysis(self, made: Made) -> None:
        if made.analysis not in (None, ANALYSIS_VERSION):
            raise IndexSchemaMismatch(
                f"The index at {self._where} was made with version {made.analysis} of the text "
                f"analysis, this is {ANALYSIS_VERSION}. Ingest into another index."
            )

    async def _description(self, client: WeaviateAsyncClient) -> str | None:
        """The main collection's description; None if there is no such collection."""
        try:
            config = await client.collections.use(self._main).config.get(simple=True)
        except UnexpectedStatusCodeError as error:
            if error.status_code == 404:
                return None
            raise
        return config.description or ""

    def forget(self) -> None:
        """Read anew what the index was made for when it is next needed."""
        self._made = None

    def _remember(self, made: Made) -> None:
        self._made, self._read_at = made, monotonic()

    @property
    def _where(self) -> str:
        return f"{self._access.address.server} ({self._main})"


async def _create(client: WeaviateAsyncClient, definition: dict[str, Any]) -> None:
    """Create a collection; another process may just have done so."""
    try:
        await client.collections.create(**definition)
    except UnexpectedStatusCodeError as error:
        if "already exists" not in str(error):
            raise
