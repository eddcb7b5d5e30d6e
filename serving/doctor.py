"""Diagnosis: is everything there that a question needs, and if not, what to do."""

from __future__ import annotations

import asyncio
import importlib.metadata
import os
import platform
import uuid
from collections.abc import Awaitable
from typing import Literal

from langchain_core.messages import HumanMessage
from packaging.requirements import Requirement
from typing_extensions import TypedDict

from ragweave.models.calls import ask_text
from ragweave.models.embedding import embed_query
from ragweave.nodes.tavily_search import tavily_search
from ragweave.nodes.web import SEARCH_SECONDS, web_is_configured
from ragweave.state.context import RagContext
from ragweave.state.errors import RagweaveError
from ragweave.state.missing import making
from ragweave.stores import open_index
from ragweave.stores.open_graph import open_graph

SECONDS = 30.0
"""Longest that one check may take."""


class Check(TypedDict):
    """What one look at the installation found."""

    name: str
    status: Literal["ok", "warning", "error"]
    detail: str
    fix: str | None
    """What to do, where something can or must be done."""


async def diagnose(context: RagContext) -> list[Check]:
    """Check versions, models, index, web search, tracing and server, all at once.

    Each configured service is called once, as small as it goes: one short chat completion, one
    embedding, one web search for a single result.
    """
    checks: dict[str, Awaitable[Check]] = {
        "versions": asyncio.to_thread(_versions),
        "model": _model(context),
        "embeddings": _embeddings(context),
        "index": _index(context),
        "web search": _web_search(),
        "tracing": asyncio.to_thread(_tracing),
        "studio": asyncio.to_thread(_studio),
    }
    return await asyncio.gather(*(_checked(name, check) for name, check in checks.items()))


async def _checked(name: str, check: Awaitable[Check]) -> Check:
    try:
        async with asyncio.timeout(SECONDS):
            return await check
    except RagweaveError as error:
        return Check(name=name, status="error", detail=str(error), fix=None)
    except TimeoutError:
        detail = f"No answer within {SECONDS:g} seconds."
        return Check(name=name, status="error", detail=detail, fix="Check the address and network.")


def _versions() -> Check:
    found = {
        requirement.name: importlib.metadata.version(requirement.name)
        for requirement in _core_requirements()
    }
    old = [
        f"{requirement} (installed: {found[requirement.name]})"
        for requirement in _core_requirements()
        if not requirement.specifier.contains(found[requirement.name], prereleases=True)
    ]
    if old:
        detail = f"Needed: {', '.join(old)}."
        return Check(
            name="versions", status="error", detail=detail, fix="pip install --upgrade ragweave"
        )
    shown = ("langgraph", "langchain-core", "langchain-openai", "lancedb", "weaviate-client")
    ours = f"ragweave {importlib.metadata.version('ragweave')}, Python {platform.python_version()}"
    detail = ", ".join([ours, *(f"{name} {found[name]}" for name in shown)])
    return Check(name="versions", status="ok", detail=detail, fix=None)


def _core_requirements() -> list[Requirement]:
    lines = importlib.metadata.requires("ragweave") or []
    requirements = [Requirement(line) for line in lines]
    return [r for r in requirements if r.marker is None or r.marker.evaluate({"extra": ""})]


async def _model(context: RagContext) -> Check:
    models = list(dict.fromkeys([context.model, context.hidden_model]))
    if models == ["offline"]:
        return Check(
            name="model",
            status="ok",
            detail="offline: answers quote the documents; no language model is used.",
            fix="For written answers: --model openai:MODEL with OPENAI_API_KEY, or RAGWEAVE_MODEL.",
        )
    for model in models:
        await ask_text(
            [HumanMessage("Reply with OK.")],
            model=model,
            stage="doctor",
            state={"settings": {"run_id": uuid.uuid4().hex}},
            context=context,
        )
    return Check(name="model", status="ok", detail=f"{', '.join(models)}: answered.", fix=None)


async def _embeddings(context: RagContext) -> Check:
    name = context.new_embeddings
    dimension = len(await embed_query("ragweave", embeddings=name))
    return Check(
        name="embeddings", status="ok", detail=f"{name}: {dimension} dimensions.", fix=None
    )


async def _index(context: RagContext) -> Check:
    if context.index.startswith("graphrag:"):
        return await _graph(context)
    index = await open_index(context.index, tenant=context.tenant)
    server = await index.ping()
    spec = await index.spec()
    if spec is None or not await index.count():
        return Check(
            name="index",
            status="warning",
            detail=f"{context.index} ({server}): nothing is there yet.",
            fix=making("ingest", context.index, context.tenant),
        )
    if context.embeddings:
        spec.expect_embeddings(context.embeddings, index.name)
    detail = (
        f"{context.index} ({server}): {await index.count():,} chunks, {spec.dimension} dimensions"
    )
    if spec.embeddings:
        dimension = len(await embed_query("ragweave", embeddings=spec.embeddings))
        if dimension != spec.dimension:
            return Check(
                name="index",
                status="error",
                detail=f"{detail}, but {spec.embeddings} now gives {dimension}.",
                fix="Ingest into another index with the embeddings of today.",
            )
    return Check(name="index", status="ok", detail=f"{detail}, {spec.embeddings}.", fix=None)


async def _graph(context: RagContext) -> Check:
    """A folder of GraphRAG, which holds no chunks to search but a graph."""
    tables = await (await open_graph(context.index)).tables()
    detail = (
        f"{context.index}: {len(tables.entities):,} entities, {len(tables.reports):,} reports, "
        "for local_search and drift."
    )
    return Check(name="index", status="ok", detail=detail, fix=None)


async def _web_search() -> Check:
    if not web_is_configured():
        return Check(
            name="web search",
            status="warning",
            detail="No key: CRAG answers from the documents alone.",
            fix="Set TAVILY_API_KEY.",
        )
    try:
        found = await tavily_search("ragweave", 1, seconds=SEARCH_SECONDS)
    except Exception as error:  # Tavily's own errors and httpx's
        return Check(
            name="web search",
            status="error",
            detail=f"Tavily failed: {type(error).__name__}.",
            fix="Check TAVILY_API_KEY, and TAVILY_BASE_URL if it is set.",
        )
    return Check(name="web search", status="ok", detail=f"Tavily: {len(found)} result.", fix=None)


def _tracing() -> Check:
    wanted = any(
        os.environ.get(name, "").lower() == "true"
        for name in ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2")
    )
    if wanted and not (os.environ.get("LANGSMITH_API_KEY") or os.environ.get("LANGCHAIN_API_KEY")):
        return Check(
            name="tracing",
            status="warning",
            detail="LANGSMITH_TRACING is on, but there is no key: traces are lost.",
            fix="Set LANGSMITH_API_KEY.",
        )
    detail = "Traces go to LangSmith." if wanted else "Off (LANGSMITH_TRACING=true turns it on)."
    return Check(name="tracing", status="ok", detail=detail, fix=None)


def _studio() -> Check:
    try:
        version = importlib.metadata.version("langgraph-api")
    except importlib.metadata.PackageNotFoundError:
        return Check(
            name="studio",
            status="ok",
            detail="The LangGraph server is not installed; only Studio needs it.",
            fix='pip install "ragweave[studio]"',
        )
    return Check(name="studio", status="ok", detail=f"langgraph-api {version}.", fix=None)
