"""Evaluators for LangSmith's `evaluate` and `aevaluate`: a score from 0 to 1 for each answer.

Each takes a technique's output and, where it compares, the reference outputs of the example. None
calls a model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Score = dict[str, Any]


def citation_groundedness(outputs: Mapping[str, Any]) -> Score:
    """Share of the citations whose quote supports their sentence; uncited sentences count as not.

    Null where there was nothing to cite.
    """
    statuses = [citation["status"] for citation in outputs["citations"]]
    share = statuses.count("grounded") / len(statuses) if statuses else None
    return {"key": "citation_groundedness", "score": share}


def status_match(outputs: Mapping[str, Any], reference_outputs: Mapping[str, Any]) -> Score:
    """Whether the status is the example's: `answered`, or `no_evidence` where nothing answers."""
    matches = outputs["status"] == reference_outputs.get("status", "answered")
    return {"key": "status_match", "score": float(matches)}


def retrieval_recall(outputs: Mapping[str, Any], reference_outputs: Mapping[str, Any]) -> Score:
    """Share of the example's `document_ids` that are among the answer's sources.

    A document is known by its id or by the end of its path. Null where the example names none.
    """
    wanted = list(reference_outputs.get("document_ids") or ())
    found = sum(any(_is(source, name) for source in outputs["sources"]) for name in wanted)
    return {"key": "retrieval_recall", "score": found / len(wanted) if wanted else None}


def _is(source: Mapping[str, Any], name: str) -> bool:
    path = source["path"] or ""
    return name == source["document_id"] or path == name or path.endswith(f"/{name}")
