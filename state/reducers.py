"""How parallel results merge into one state, and how a new turn of a thread starts clean."""

from __future__ import annotations

from typing import Any, TypeVar, get_type_hints

from langgraph.types import Overwrite

from ragweave.state.records import StageUsage, Usage, no_usage

ItemT = TypeVar("ItemT")


def append(left: list[ItemT] | None, right: list[ItemT] | None) -> list[ItemT]:
    """Concatenate; results of `Send` arrive in the order of sending, so the order is stable."""
    return [*(left or []), *(right or [])]


def append_unique(left: list[str] | None, right: list[str] | None) -> list[str]:
    """Concatenate and keep the first of equal strings (eight workers may warn of one fault)."""
    return list(dict.fromkeys(append(left, right)))


def add_usage(left: Usage | None, right: Usage | None) -> Usage:
    """Sum two usages, in total and stage by stage."""
    left, right = left or no_usage(), right or no_usage()
    stages = {
        name: _add(left["stages"].get(name), right["stages"].get(name))
        for name in {**left["stages"], **right["stages"]}
    }
    return Usage(**_add(left, right), stages=stages)


def _add(left: StageUsage | None, right: StageUsage | None) -> StageUsage:
    parts = [part for part in (left, right) if part is not None]
    return StageUsage(
        calls=sum(part["calls"] for part in parts),
        input_tokens=sum(part["input_tokens"] for part in parts),
        output_tokens=sum(part["output_tokens"] for part in parts),
        seconds=sum(part["seconds"] for part in parts),
    )


_EMPTY: dict[Any, Any] = {append: list, append_unique: list, add_usage: no_usage}


def fresh_channels(state_type: type) -> dict[str, Overwrite]:
    """Values that empty every accumulating channel of `state_type`.

    Reducer channels live as long as their thread; without this the second question of a
    conversation would start with the first one's documents. `messages` is kept: it is the
    conversation.
    """
    hints = get_type_hints(state_type, include_extras=True)
    reducers = {name: _reducer(hint) for name, hint in hints.items()}
    return {
        name: Overwrite(_EMPTY[reducer]())
        for name, reducer in reducers.items()
        if reducer in _EMPTY
    }


def _reducer(hint: Any) -> Any:
    metadata = getattr(hint, "__metadata__", ())
    return metadata[-1] if metadata and callable(metadata[-1]) else None
