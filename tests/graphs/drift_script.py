"""A model for tests of DRIFT search. It answers every kind of call, alike to the same prompt."""

from __future__ import annotations

import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ragweave.models.offline.sections import all_of, question_of
from ragweave.models.prompt import parse
from tests.servers import prompt_of, schema_of
from tests.servers.openai_stub import Said

Odd = Callable[[int], Said | None]
"""From the number of a call of its kind, from 0, to what is said instead of the usual answer."""


@dataclass
class DriftScript:
    """Said to a primer, to a local search, and as text (the hypothesis and the final answer)."""

    follow_ups: Callable[[str], Any] = lambda question: [
        f"Who is person {number} of {zlib.crc32(question.encode()) % 9973}?" for number in range(5)
    ]
    """From a question to what its answer suggests."""
    score: Callable[[str], Any] = lambda question: 50 + zlib.crc32(question.encode()) % 50
    odd_local: Odd = lambda number: None
    odd_primer: Odd = lambda number: None
    odd_text: Odd = lambda number: None
    fails: Callable[[str], bool] = lambda question: False
    """Whether no usable answer is given to a local question, however often it is asked."""
    latency: float = 0.0
    crowd: int = 0
    """No local search is answered before so many calls have been here at once, for 20 seconds."""
    most_in_flight: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    """Local questions and how often they were searched."""
    _flying: int = 0
    _counts: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, request: dict[str, Any]) -> Said:
        kind = schema_of(request) or "text"
        with self._lock:
            number = self._counts[kind]
            self._counts[kind] += 1
            self._flying += 1
            self.most_in_flight = max(self.most_in_flight, self._flying)
        ends = time.monotonic() + 20
        while (
            kind == "LocalAnswer" and self.most_in_flight < self.crowd and time.monotonic() < ends
        ):
            time.sleep(0.01)
        time.sleep(self.latency)
        with self._lock:
            self._flying -= 1
        return self._say(kind, number, request)

    def _say(self, kind: str, number: int, request: dict[str, Any]) -> Said:
        question = question_of(parse(request["messages"][1]["content"]))  # before any correction
        if kind == "PrimerAnswer":
            return self.odd_primer(number) or {
                "intermediate_answer": f"# First\nThe reports speak of {question} [1].",
                "score": self.score(question),
                "follow_up_queries": self.follow_ups(question),
            }
        if kind == "LocalAnswer":
            with self._lock:
                self.asked[question] += 1
            if self.fails(question):
                return "null"
            return self.odd_local(number) or {
                "response": f"The records say so of {question} [1][2].",
                "score": self.score(question),
                "follow_up_queries": self.follow_ups(question),
            }
        return self.odd_text(number) or "The squad prepares Operation: Dulce [1][2]. All agree [1]."


def is_reduce(request: dict[str, Any]) -> bool:
    """Whether a request asks for the final answer of a DRIFT run."""
    return bool(all_of(parse(prompt_of(request)), "answer"))
