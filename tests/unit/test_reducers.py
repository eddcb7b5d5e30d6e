"""Parallel results merge; a new turn starts clean."""

from __future__ import annotations

from langgraph.types import Overwrite

from ragweave.state.crag import CragState
from ragweave.state.records import StageUsage, Usage, no_usage
from ragweave.state.reducers import add_usage, append_all, append_unique, fresh_channels, replace


def usage(stage: str, calls: int) -> Usage:
    spent = StageUsage(calls=calls, input_tokens=10 * calls, output_tokens=calls, seconds=0.5)
    return Usage(**spent, stages={stage: spent})


def test_usage_adds_up_in_total_and_by_stage() -> None:
    total = add_usage(add_usage(usage("grade", 2), usage("grade", 3)), usage("answer", 1))
    assert (total["calls"], total["input_tokens"], total["seconds"]) == (6, 60, 1.5)
    assert {name: stage["calls"] for name, stage in total["stages"].items()} == {
        "grade": 5,
        "answer": 1,
    }


def test_usage_of_a_failed_call_may_be_unknown() -> None:
    assert add_usage(None, usage("grade", 1)) == usage("grade", 1)
    assert add_usage(None, None) == no_usage()


def test_lists_of_documents_can_be_rebuilt_from_what_was_written_in_any_portions() -> None:
    assert replace(["a"], [["b"], ["c"]]) == replace(replace(["a"], [["b"]]), [["c"]]) == ["c"]
    assert replace(["a"], [None]) == []
    assert append_all(["a"], [["b"], None, ["c"]]) == ["a", "b", "c"]
    assert append_all(append_all(["a"], [["b"]]), [["c"]]) == ["a", "b", "c"]


def test_equal_warnings_are_kept_once() -> None:
    assert append_unique(["a", "b"], ["b", "c"]) == ["a", "b", "c"]


def test_every_accumulating_channel_but_the_conversation_is_emptied() -> None:
    fresh = fresh_channels(CragState)
    assert set(fresh) == {"usage", "decisions", "warnings", "grades", "queries", "web_results"}
    assert all(isinstance(value, Overwrite) for value in fresh.values())
    assert fresh["usage"].value == no_usage()
