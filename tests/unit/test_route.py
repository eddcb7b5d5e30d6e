"""The rules by which a technique is picked, on questions of all forms in two languages."""

from __future__ import annotations

from typing import Any, cast

import pytest

from ragweave.nodes.question_form import question_form
from ragweave.nodes.route import choose
from ragweave.state.auto import Abilities

FORMS = {
    "broad": [
        "What are the recurring themes of these reports?",
        "How has the harbour's pricing evolved since 1990?",
        "How did the strike change the town?",
        "Give me an overview of the regulations.",
        "港口的管理制度是如何演变的？",
        "这些报告总体上说了什么？",
        "新规定怎样影响渔民？",
    ],
    "document": [
        "Summarise the harbour master's report.",
        "Explain in detail what a pilot does.",
        "请概括第三章的内容。",
        "详细说明引航的流程",
    ],
    "relation": [
        "What is the relationship between the pilot and the harbour master?",
        "How is Berth 4 connected to the refinery?",
        "港务局和海关之间是什么关系？",
    ],
    "many_sided": [
        "Who built the lighthouse, and when was it lit first?",
        "Which berth takes tankers and in which year was it deepened?",
        "How does Berth 4 differ from Berth 7?",
        "Where is it? Who owns it?",
        "Are both the tug and the pilot boat needed?",
        "灯塔是谁建的，什么时候点亮的？",
        "四号泊位与七号泊位有什么区别？",
    ],
    "narrow": [
        "Which ships need a pilot?",
        "And where does the pilot board?",
        "How many berths are there?",
        "On what date were the rules changed?",
        "The tug, which was built in 1950, belongs to whom?",
        "How do I order a pilot?",
        "灯塔多久闪光一次？",
        "超过九十米的船，需要什么？",
        "Combien de navires ?",
    ],
}


@pytest.mark.parametrize(
    ("form", "question"), [(form, question) for form, asked in FORMS.items() for question in asked]
)
def test_form(form: str, question: str) -> None:
    found = question_form(question)
    assert found.form == form
    assert found.shown_by or form == "narrow"


def abilities(**other: Any) -> Abilities:
    """An index that has everything, and a passage that answers."""
    everything = Abilities(
        documents=True, units=True, graph=True, web=True, evidence=1.2, missing=[]
    )
    return cast("Abilities", dict(everything) | other)


NARROW, BROAD = FORMS["narrow"][0], FORMS["broad"][0]
GRAPH_ALONE = {"documents": False, "units": False, "evidence": None}
NOTHING = {**GRAPH_ALONE, "graph": False}


@pytest.mark.parametrize(
    ("question", "index", "technique"),
    [
        (NARROW, {}, "citation"),
        (NARROW, {"evidence": 0.4}, "crag"),
        (NARROW, {"evidence": None}, "crag"),
        (NARROW, GRAPH_ALONE, "local_search"),
        (NARROW, NOTHING, "crag"),
        (BROAD, {}, "drift"),
        (BROAD, {"evidence": 0.1}, "drift"),
        (BROAD, {"graph": False}, "longrag"),
        (BROAD, {"graph": False, "units": False}, "rag_fusion"),
        (BROAD, GRAPH_ALONE, "drift"),
        (BROAD, NOTHING, "crag"),
        (FORMS["document"][0], {}, "longrag"),
        (FORMS["document"][0], {"units": False}, "drift"),
        (FORMS["relation"][0], {}, "local_search"),
        (FORMS["relation"][0], {"graph": False}, "rag_fusion"),
        (FORMS["relation"][0], {"evidence": 0.4}, "crag"),
        (FORMS["many_sided"][0], {}, "rag_fusion"),
        (FORMS["many_sided"][0], {"evidence": 0.4}, "crag"),
        (FORMS["many_sided"][0], GRAPH_ALONE, "local_search"),
    ],
)
def test_choice(question: str, index: dict[str, Any], technique: str) -> None:
    chosen, reason = choose(question, abilities(**index))
    assert chosen == technique
    assert reason.endswith(".")


def test_what_is_not_allowed_is_not_chosen() -> None:
    assert choose(BROAD, abilities(), ["longrag", "crag"])[0] == "longrag"
    assert choose(NARROW, abilities(), ["drift", "rag_fusion"])[0] == "drift"
    assert choose(NARROW, abilities(**NOTHING), ["drift"])[0] == "drift"


def test_reasons_name_what_shows_them() -> None:
    assert "(and when)" in choose(FORMS["many_sided"][0], abilities())[1]
    thin = abilities(evidence=0.3, missing=["saturn", "moons"])
    reason = choose("How many moons does Saturn have?", thin)[1]
    assert "lacks saturn, moons" in reason
    assert reason.endswith("searches the web.")
    chinese = abilities(evidence=0.3, missing=["土星", "星有"], web=False)
    assert choose("土星有几颗卫星？", chinese)[1] == (
        "No passage was found that seems to answer the question; "
        "it grades what was found before it answers."
    )
