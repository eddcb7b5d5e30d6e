"""What a function that makes a node returns."""

from __future__ import annotations

from typing import Any, Protocol

from langgraph.runtime import Runtime


class Node(Protocol):
    """A node: the state so far to what changes in it."""

    async def __call__(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        """Run the node."""
