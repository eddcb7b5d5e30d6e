"""The scores that evaluators give an answer."""

from __future__ import annotations

from typing import Any

import pytest

from ragweave.serving.evaluators import citation_groundedness, retrieval_recall, status_match


def output(*statuses: str, **fields: Any) -> dict[str, Any]:
    sources = [{"document_id": "d1", "path": "docs/a.md"}, {"document_id": "d2", "path": None}]
    citations = [{"status": status} for status in statuses]
    return {"citations": citations, "sources": sources, "status": "answered", **fields}


@pytest.mark.parametrize(
    ("statuses", "score"),
    [(("grounded", "ungrounded", "missing", "grounded"), 0.5), (("grounded",), 1), ((), None)],
)
def test_groundedness_is_a_share(statuses: tuple[str, ...], score: float | None) -> None:
    assert citation_groundedness(output(*statuses))["score"] == score


@pytest.mark.parametrize(
    ("wanted", "score"), [(["a.md", "d2"], 1), (["a.md", "b.md"], 0.5), (["md"], 0), ([], None)]
)
def test_recall_knows_documents_by_id_or_path(wanted: list[str], score: float | None) -> None:
    assert retrieval_recall(output(), {"document_ids": wanted})["score"] == score


@pytest.mark.parametrize(
    ("reference", "score"), [({}, 1), ({"status": "no_evidence"}, 0), ({"status": "answered"}, 1)]
)
def test_a_status_matches_or_not(reference: dict[str, Any], score: float) -> None:
    assert status_match(output(), reference)["score"] == score
