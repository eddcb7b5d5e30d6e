"""A model for tests of building a graph. It says the same whenever it is asked the same."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from typing import Any

from ragweave.models.offline.sections import all_of
from ragweave.models.prompt import parse
from tests.servers import schema_of

NAMES = re.compile(r"\b[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,})*|[\u4e00-\u9fff]{2}(?:公司|机构|法)")
MOST_NAMES = 12


class GraphScript:
    """Extracts the names of a text, relates those of one sentence, and reports on the first."""

    def __init__(self, *, latency: float = 0.0, wordy: int = 0) -> None:
        self.latency = latency
        self.wordy = wordy
        """Times that a description repeats itself."""

    def __call__(self, request: dict[str, Any]) -> Any:
        time.sleep(self.latency)
        kind = schema_of(request)
        text = all_of(parse(request["messages"][1]["content"]), "document")[0].text
        if kind == "Extraction":
            return self._extraction(text)
        if kind == "CommunityReport":
            found = [{"summary": "Names", "explanation": text[:200]}]
            return {"title": text[8:40], "summary": text[:80], "rating": 5, "findings": found}
        return {"description": f"Summary of {len(text)} characters."}

    def _extraction(self, text: str) -> dict[str, Any]:
        names = [name for name, _ in Counter(NAMES.findall(text)).most_common(MOST_NAMES)]
        pairs: dict[tuple[str, str], None] = {}
        for sentence in re.split(r"[.。;；]", text):
            there = sorted({name for name in NAMES.findall(sentence) if name in names})
            pairs.update(dict.fromkeys(combinations(there[:4], 2)))
        said = f" It says {text[:30]!r}." * self.wordy
        return {
            "entities": [
                {"title": name, "type": "thing", "description": f"{name} is named.{said}"}
                for name in names
            ],
            "relationships": [
                {"source": one, "target": other, "description": "together", "strength": 2}
                for one, other in pairs
            ],
            "claims": [],
        }


def asked(requests: Iterable[dict[str, Any]]) -> Counter[str | None]:
    """Requests by kind."""
    return Counter(schema_of(request) for request in requests)


def prompts(requests: Iterable[dict[str, Any]]) -> Counter[str]:
    """How often each prompt was sent."""
    return Counter(str(request["messages"]) for request in requests)
