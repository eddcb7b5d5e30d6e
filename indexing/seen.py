"""Which documents a run has met, on disk once they are many, so that memory stays bounded."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence


class SeenDocuments:
    """Ids that a run has met, each with the place where it was met first.

    Lives in a private temporary database that vanishes when it is closed. Blocks on disk now and
    then, so it belongs in a thread; any number of threads may use it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._opened: sqlite3.Connection | None = None

    def add(self, documents: Sequence[tuple[str, str]]) -> list[str | None]:
        """Note documents, as id and place; for each, the place of an earlier one of its id."""
        with self._lock:
            return [self._add(id_, place) for id_, place in documents]

    def missing(self, ids: Sequence[str]) -> list[str]:
        """Those ids that the run has not met."""
        with self._lock:
            return [id_ for id_ in ids if self._place(id_) is None]

    def close(self) -> None:
        """Drop the database."""
        with self._lock:
            if self._opened:
                self._opened.close()
            self._opened = None

    @property
    def _database(self) -> sqlite3.Connection:
        if self._opened is None:
            self._opened = sqlite3.connect("", check_same_thread=False, isolation_level=None)
            self._opened.execute(
                "CREATE TABLE seen (id TEXT PRIMARY KEY, place TEXT) WITHOUT ROWID"
            )
        return self._opened

    def _add(self, id_: str, place: str) -> str | None:
        if earlier := self._place(id_):
            return earlier
        self._database.execute("INSERT INTO seen VALUES (?, ?)", (id_, place))
        return None

    def _place(self, id_: str) -> str | None:
        row = self._database.execute("SELECT place FROM seen WHERE id = ?", (id_,)).fetchone()
        return str(row[0]) if row else None
