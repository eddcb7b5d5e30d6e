"""What building a graph will cost, before the first call.

Extractions are counted. How many entities they will give is not known, so summaries and reports
are estimated by what two graphs of real models came to: A Christmas Carol (42 units, 122
communities) and a short story (5 units, 10 communities).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from ragweave.state.graph_index import GraphIndexContext

UNIT_TOKENS = 1_200
"""Tokens of a text unit in those graphs."""
REPORTS_A_UNIT = 2.9
REPORTS_TOUCHED = 8
"""Communities that the entities of one unit belong to, on all levels."""
SUMMARIES_A_UNIT = 0.1
"""Entities that are described in more than `DESCRIPTION_TOKENS`, for each unit."""
DESCRIPTION_TOKENS = 500
REPORT_TOKENS = 1_200
"""What is known of a community."""
ANSWER_TOKENS = {"extract": 760, "summarize": 520, "report": 960}


class Estimate(TypedDict):
    """Fields of `GraphIndexOutput`."""

    expected_calls: int
    expected_tokens: int
    expected_answer_tokens: int
    expected_stages: dict[str, int]


def nothing_expected() -> Estimate:
    """What a build without a model asks."""
    return Estimate(
        expected_calls=0, expected_tokens=0, expected_answer_tokens=0, expected_stages={}
    )


def estimate(
    prompts: Sequence[int],
    *,
    new_tokens: int,
    all_tokens: int,
    instructions: int,
    context: GraphIndexContext,
) -> Estimate:
    """What extracting, summarising and reporting will take.

    Args:
        prompts: tokens of the prompt of each text unit that is to be extracted.
        new_tokens: tokens of these text units.
        all_tokens: tokens of all text units, those that were extracted before included.
        instructions: tokens of the instructions for a summary and for a report together.
        context: the settings of the build.
    """
    new, rounds = new_tokens / UNIT_TOKENS, 1 + context.gleanings
    reports = min(REPORTS_A_UNIT * all_tokens / UNIT_TOKENS, REPORTS_TOUCHED * new)
    summaries = SUMMARIES_A_UNIT * new * DESCRIPTION_TOKENS / context.max_description_tokens
    calls = {
        "extract": rounds * len(prompts),
        "summarize": round(summaries),
        "report": max(round(reports), bool(prompts)),
    }
    read = {
        "extract": rounds * sum(prompts),
        "summarize": calls["summarize"] * (context.max_description_tokens + instructions),
        "report": calls["report"] * (min(REPORT_TOKENS, context.max_report_tokens) + instructions),
    }
    return Estimate(
        expected_calls=sum(calls.values()),
        expected_tokens=sum(read.values()),
        expected_answer_tokens=sum(calls[stage] * ANSWER_TOKENS[stage] for stage in calls),
        expected_stages=calls,
    )
