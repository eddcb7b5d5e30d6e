"""In the default context every table has its share, and unused tokens move on."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.models.offline.embeddings import OfflineEmbeddings
from ragweave.models.tokens import token_counter
from ragweave.nodes.graph_search.context_records import LocalContext
from ragweave.nodes.graph_search.local_context import local_context, sources_of_context
from ragweave.state.local_search import ContextLimits
from ragweave.stores.graph import Community, Entity, GraphTables, Neighbour, Report, TextUnit
from ragweave.stores.graphrag.folder import GraphRagFolder
from ragweave.stores.vector_table import VectorTable

QUESTIONS = (
    "What is the role of Marley's ghost?",
    "How do the Cratchits celebrate Christmas?",
    "What does Project Gutenberg's license allow?",
)


@pytest.fixture
async def carol(data: Path) -> tuple[GraphTables, VectorTable]:
    graph = await GraphRagFolder(f"graphrag:{data / 'graphrag/carol'}").tables()
    texts = [entity.embedded_text for entity in graph.entities]
    vectors = await OfflineEmbeddings().aembed_documents(texts)
    ids = [entity.id for entity in graph.entities]
    return graph, VectorTable.of(dict(zip(ids, vectors, strict=True)))


async def context_of(
    carol: tuple[GraphTables, VectorTable], question: str, tokens: int
) -> LocalContext:
    graph, vectors = carol
    vector = await OfflineEmbeddings().aembed_query(question)
    nearest = vectors.nearest_by_distance(vector, 20)
    limits = ContextLimits(tokens, text_unit_prop=0.4, community_prop=0.2)
    return local_context(graph, nearest, limits, await token_counter())


@pytest.mark.parametrize("tokens", [3_000, 5_000, 12_000])
@pytest.mark.parametrize("question", QUESTIONS)
async def test_no_table_is_left_out_and_the_budget_holds(
    carol: tuple[GraphTables, VectorTable], question: str, tokens: int
) -> None:
    context = await context_of(carol, question, tokens)

    rows = {name: len(records) for name, records in context.records.items()}
    assert rows["reports"] >= 1
    assert rows["entities"] >= 10
    assert rows["relationships"] >= 10
    assert rows["sources"] >= 1
    [size] = (await token_counter())([context.text])
    assert 0.9 * tokens <= size <= tokens


@pytest.mark.parametrize("tokens", [0, 1, 40, 300, 1_000])
async def test_the_smallest_budgets_hold_too(
    carol: tuple[GraphTables, VectorTable], tokens: int
) -> None:
    context = await context_of(carol, QUESTIONS[0], tokens)

    assert (await token_counter())([context.text])[0] <= tokens


async def test_long_records_are_cut_at_a_sentence_and_stay_whole_as_sources(
    carol: tuple[GraphTables, VectorTable],
) -> None:
    context = await context_of(carol, QUESTIONS[0], 3_000)

    sources, excerpts = sources_of_context(carol[0], context)

    assert excerpts
    texts = {source["id"]: source["text"] for source in sources}
    for source_id, excerpt in excerpts.items():
        assert texts[source_id].startswith(excerpt)
        assert len(excerpt) < len(texts[source_id])
    assert all(excerpt in context.text for excerpt in excerpts.values() if "<" not in excerpt)
    assert [source["number"] for source in sources] == list(range(1, len(sources) + 1))


async def test_the_citations_inside_a_report_are_not_shown(
    carol: tuple[GraphTables, VectorTable],
) -> None:
    context = await context_of(carol, QUESTIONS[0], 12_000)

    assert "[Data: " in carol[0].reports[0].full_content
    assert "[Data: " not in context.text


async def test_a_text_unit_knows_its_place_in_the_document(
    carol: tuple[GraphTables, VectorTable],
) -> None:
    graph = carol[0]
    context = await context_of(carol, QUESTIONS[0], 12_000)

    sources, _ = sources_of_context(graph, context)

    units = [source for source in sources if source["metadata"]["table"] == "sources"]
    assert units
    for unit in units:
        document = graph.document_by_id[unit["document_id"]].text
        assert document[unit["start"] : unit["end"]] == unit["text"]
    entity = next(source for source in sources if source["metadata"]["table"] == "entities")
    assert entity["document_id"] == units[0]["document_id"]
    assert entity["metadata"]["text_unit_ids"]


def small_graph(reports: str, units: int) -> GraphTables:
    """One entity `a`, its community with a report, and text units of 50 characters each."""
    ids = tuple(f"u{number}" for number in range(units))
    return GraphTables(
        entities=(Entity("a", 0, "a", "", "d" * 50, ids, 1, 1),),
        communities=(Community("c", 0, 0, 0, -1, (), "", ("a",)),),
        reports=(Report("p", 0, 0, 0, -1, (), "", "", reports, 5.0),),
        text_units=tuple(TextUnit(unit, n, "t" * 50, 50, None) for n, unit in enumerate(ids)),
    )


def built(graph: GraphTables, tokens: int) -> LocalContext:
    """The context for `a`, with one token a character."""
    limits = ContextLimits(tokens, text_unit_prop=0.4, community_prop=0.2)
    return local_context(
        graph, [Neighbour("a", 1.0)], limits, lambda texts: [len(text) for text in texts]
    )


def test_what_a_table_leaves_over_goes_to_the_others() -> None:
    # Text units have a share of 800 here, in which 9 of them would fit.
    assert len(built(small_graph("A report.", units=30), 2_000).records["sources"]) > 18


def test_what_the_last_table_leaves_over_lengthens_what_was_cut() -> None:
    report = "One sentence. " * 60

    assert built(small_graph(report, units=1), 2_000).excerpts == {}
    cut = built(small_graph(report, units=30), 1_000).excerpts
    assert cut["p"].endswith("One sentence.")
    assert len(cut["p"]) < len(report) / 2
