"""Answers of models kept by what was asked, so that no finished call is ever made again."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

FILE = "graph_answers.sqlite"
_AT_ONCE = 500


def answer_key(*parts: str) -> str:
    """Key of an answer: a hash of everything that it depends on."""
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


class AnswerCache:
    """A file of answers by key. Every write is safe on disk when the call returns."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = asyncio.Lock()

    async def get_many(self, keys: Iterable[str]) -> dict[str, Any]:
        """The answers that are there, by key."""
        return await asyncio.to_thread(self._read, list(dict.fromkeys(keys)))

    async def put(self, key: str, answer: Any) -> None:
        """Keep an answer, which is plain data."""
        async with self._lock:
            await asyncio.to_thread(self._write, key, json.dumps(answer, ensure_ascii=False))

    def _read(self, keys: Sequence[str]) -> dict[str, Any]:
        if not self._path.is_file():
            return {}
        found: dict[str, Any] = {}
        with closing(self._connect()) as connection:
            for first in range(0, len(keys), _AT_ONCE):
                batch = keys[first : first + _AT_ONCE]
                marks = ",".join("?" * len(batch))
                rows = connection.execute(
                    f"SELECT key, answer FROM answers WHERE key IN ({marks})", batch
                )
                found.update((key, json.loads(answer)) for key, answer in rows)
        return found

    def _write(self, key: str, answer: str) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with closing(self._connect()) as connection, connection:
            connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", (key, answer))

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=60)
        connection.execute("CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT)")
        return connection
