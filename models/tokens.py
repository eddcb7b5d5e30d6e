"""Counting tokens without knowing the model: Llama 2's tokenizer, close enough for budgets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from ragweave.models.static import is_loaded, static_model


async def token_counter() -> Callable[[Sequence[str]], list[int]]:
    """A function that counts the tokens of each text, in linear time.

    It computes (10 MB of text take some seconds), so call it off the event loop for long texts.
    """
    if not is_loaded():
        await asyncio.to_thread(static_model)
    return _count


def _count(texts: Sequence[str]) -> list[int]:
    return [len(ids) for ids in static_model().tokens(texts)]
