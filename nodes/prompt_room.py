"""How many tokens a prompt leaves to its sources."""

from __future__ import annotations

import re
from collections.abc import Sequence

from langchain_core.messages import BaseMessage

from ragweave.indexing.split import TokenCounter
from ragweave.models.tokens import token_counter

ANSWER_TOKENS = 1_000
"""Kept free for the answer, but at most a tenth of the budget."""
_DIGITS = re.compile(r"\d{2,}")
_DIGITS_A_TOKEN = 3


async def prompt_counter() -> TokenCounter:
    """A function that counts the tokens of each text, close to today's models but not below them.

    Our tokenizer takes a token for every digit, theirs one for three, which matters in tables. In
    all else it takes somewhat more than they do, so what fits by this count fits theirs.
    """
    count = await token_counter()

    def counted(texts: Sequence[str]) -> list[int]:
        return [
            tokens - sum(map(_saved, _DIGITS.findall(text)))
            for text, tokens in zip(texts, count(texts), strict=True)
        ]

    return counted


def room_for_sources(budget: int, messages: Sequence[BaseMessage], count: TokenCounter) -> int:
    """Tokens of the budget that are left beside a prompt without sources and its answer."""
    fixed = sum(count([message.text for message in messages]))
    return budget - fixed - min(ANSWER_TOKENS, budget // 10)


def _saved(digits: str) -> int:
    return len(digits) - -(-len(digits) // _DIGITS_A_TOKEN)
