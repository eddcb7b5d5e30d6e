"""Contexts: read from whatever the runtime holds, kept in the state, read back the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from ragweave.graphs.crag import graph as crag
from ragweave.state.auto import AutoContext
from ragweave.state.citation import CitationContext
from ragweave.state.context import IndexContext, RagContext, context_of, settings_of
from ragweave.state.crag import CragContext
from ragweave.state.drift import DriftContext
from ragweave.state.errors import InvalidSetting
from ragweave.state.graph_index import GraphIndexContext
from ragweave.state.ingest import IngestContext
from ragweave.state.local_search import LocalSearchContext
from ragweave.state.longrag import LongRagContext
from ragweave.state.rag_fusion import RagFusionContext
from ragweave.state.units import UnitsContext

CONTEXTS: list[type[IndexContext]] = [
    AutoContext,
    CitationContext,
    CragContext,
    DriftContext,
    GraphIndexContext,
    IngestContext,
    LocalSearchContext,
    LongRagContext,
    RagFusionContext,
    UnitsContext,
]


class Shorter(RagContext):
    """A technique with a default of its own for a shared field."""

    top_k: int = 6


@dataclass
class Parent:
    """Context of somebody else's graph."""

    index: str = "lance:elsewhere"
    top_k: int = 500
    model: object = object()
    alpha: str = "0.5"


def test_no_context_gives_the_defaults() -> None:
    assert context_of({}, None, CragContext) == CragContext()


def test_a_dict_is_validated() -> None:
    assert context_of({}, {"top_k": 3, "unknown": 1}, CragContext).top_k == 3
    with pytest.raises(InvalidSetting, match=r"top_k: .*less than or equal to 100"):
        context_of({}, {"top_k": 1000}, CragContext)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"topk": 3}, 'There is no setting "topk". Did you mean top_k?'),
        ({"top_k": 0}, "top_k: Input should be greater than or equal to 1"),
        ({"top_k": 0, "alpha": 2}, "top_k: Input should be .*; alpha: Input should be"),
        ({"web_search": "maybe"}, "web_search: Input should be 'auto', 'always', 'never' or"),
    ],
)
async def test_a_graph_says_in_one_line_what_is_wrong_with_its_context(
    given: Any, said: str
) -> None:
    question: Any = {"question": "Who?"}
    with pytest.raises(InvalidSetting, match=f"^{said}") as invoked:
        await crag.ainvoke(question, context=given)
    with pytest.raises(InvalidSetting) as made:
        CragContext(**given)
    assert str(made.value) == str(invoked.value)
    assert "\n" not in str(made.value)


@pytest.mark.parametrize("schema", CONTEXTS)
def test_every_context_refuses_what_it_does_not_know(schema: type[IndexContext]) -> None:
    known = {name: value for name, value in schema().model_dump().items() if value is not None}
    assert schema(**known) == schema()
    with pytest.raises(InvalidSetting, match=r'no setting "tenannt"\. Did you mean tenant\?'):
        schema(**{"tenannt": "a"})


def test_of_a_foreign_context_only_fitting_values_are_used() -> None:
    context = context_of({}, Parent(), CragContext)
    assert context.index == "lance:elsewhere"
    assert (context.top_k, context.model, context.alpha) == (8, "offline", 0.25)


def test_another_techniques_context_is_read_by_its_shared_fields() -> None:
    assert context_of({}, Shorter(tenant="a"), CragContext).tenant == "a"


def test_settings_win_over_the_runtime() -> None:
    state = {"settings": settings_of(CragContext(index="lance:mine", tenant="a"))}
    context = context_of(state, CragContext(), CragContext)
    assert (context.index, context.tenant) == ("lance:mine", "a")


@pytest.mark.parametrize("field", ["grade_prompt", "answer_prompt"])
def test_settings_hold_prompts_only_when_edited(field: str) -> None:
    assert field not in settings_of(CragContext())
    edited = CragContext.model_validate({field: "Be kind."})
    assert context_of({"settings": settings_of(edited)}, None, CragContext) == edited


def test_shared_nodes_see_a_techniques_own_default() -> None:
    state = {"settings": settings_of(Shorter())}
    assert context_of(state, None, RagContext).top_k == 6
    assert context_of(state, None, Shorter).top_k == 6


def test_environment_replaces_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_INDEX", "lance:other")
    monkeypatch.setenv("RAGWEAVE_MODEL", "openai:m")
    context = CragContext()
    assert (context.index, context.model, context.hidden_model) == (
        "lance:other",
        "openai:m",
        "openai:m",
    )


def test_studio_gets_a_form() -> None:
    schema = CragContext.model_json_schema()["properties"]
    assert all(field.get("description") for field in schema.values())
    assert schema["grade_prompt"]["langgraph_type"] == "prompt"
    assert schema["grade_prompt"]["langgraph_nodes"] == ["grade_document", "grade_documents"]
