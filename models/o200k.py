"""Counting tokens as GraphRAG does, with OpenAI's o200k_base, to compare contexts with its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import cache

from ragweave.state.errors import InvalidSetting


async def o200k_counter() -> Callable[[Sequence[str]], list[int]]:
    """A function that counts the o200k_base tokens of each text. No download.

    Raises:
        InvalidSetting: the package that holds the tokenizer is not installed.
    """
    return await asyncio.to_thread(_load)


@cache
def _load() -> Callable[[Sequence[str]], list[int]]:
    try:
        from bpe_openai import get_encoding
    except ImportError as error:
        raise InvalidSetting(
            "GraphRAG's way of counting tokens needs a package of its own: "
            "pip install 'ragweave[graphrag]'"
        ) from error
    encoding = get_encoding("o200k_base")

    def count(texts: Sequence[str]) -> list[int]:
        return [len(encoding.encode_ordinary(text)) for text in texts]

    return count
