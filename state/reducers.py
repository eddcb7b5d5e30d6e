"""How parallel results merge into one state, and how a new turn of a thread starts clean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any, TypeVar, get_type_hints

from langgraph.channels import DeltaChannel
from langgraph.types import Overwrite

from ragweave.state.records import StageUsage, Usage, no_usage

ItemT = TypeVar("ItemT")


def append(left: list[ItemT] | None, right: list[ItemT] | None) -> list[ItemT]:
    """Concatenate; results of `Send` arrive in the order of sending, so the order is stable."""
    return [*(left or []), *(right or [])]


def append_unique(left: list[str] | None, right: list[str] | None) -> list[str]:
    """Concatenate and keep the first of equal strings (eight workers may warn of one fault)."""
    return list(dict.fromkeys(append(left, right)))


def replace(value: list[ItemT], writes: Sequence[list[ItemT] | None]) -> list[ItemT]:
    """The last list that was written; None empties it."""
    return (writes[-1] or []) if writes else value


def append_all(value: list[ItemT], writes: Sequence[list[ItemT] | None]) -> list[ItemT]:
    """Concatenate, in the order of sending."""
    return [*(value or []), *chain.from_iterable(write or () for write in writes)]


# Lists that hold much text. Their checkpoints store what each node wrote, once, where those of
# another channel hold its whole value, with some checkpointers at every step.
Replaced: DeltaChannel[Any] = DeltaChannel(replace)
Appended: DeltaChannel[Any] = DeltaChannel(append_all)


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


_EMPTY: dict[Any, Any] = {
    append: list,
    append_all: list,
    append_unique: list,
    add_usage: no_usage,
}


def fresh_channels(state_type: type) -> dict[str, Overwrite]:
    """Values that empty every accumulating channel of `state_type`.

    Reducer channels live as long as their thread; without this the second question of a
    conversation would start with the first one's documents. `messages` is kept: it is the
    conversation.
    """
    return {
        name: Overwrite(_EMPTY[reducer]())
        for name, reducer in _reducers(state_type).items()
        if reducer in _EMPTY
    }


@cache
def _reducers(state_type: type) -> Mapping[str, Any]:
    """The reducer of each channel, if it has one; read once, since hints take a millisecond."""
    hints = get_type_hints(state_type, include_extras=True)
    return {name: _reducer(hint) for name, hint in hints.items()}


def _reducer(hint: Any) -> Any:
    *_, last = getattr(hint, "__metadata__", (None,))
    return last.reducer if isinstance(last, DeltaChannel) else last
