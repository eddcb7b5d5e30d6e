"""Counting what an ingest has done."""

from __future__ import annotations

from dataclasses import dataclass, field

from ragweave.indexing.document import LoadedDocument, LoadFailure


@dataclass(slots=True)
class Tally:
    """What a run has done so far."""

    added: int = 0
    unchanged: int = 0
    removed: int = 0
    chunks: int = 0
    """Of the documents that were added or are unchanged."""
    bytes: int = 0
    """Of the sources that are done with."""
    last: str = ""
    """The document that was finished last."""
    failures: list[LoadFailure] = field(default_factory=list)
    """The first `most_failures` of them."""
    failed: int = 0
    """All that failed, each broken record counted."""
    most_failures: int = 1000

    def add(self, document: LoadedDocument, chunks: int) -> None:
        """Count a document that is new or has changed."""
        self.added += 1
        self._finish(document, chunks)

    def keep(self, document: LoadedDocument, chunks: int) -> None:
        """Count a document that has not changed."""
        self.unchanged += 1
        self._finish(document, chunks)

    def fail(self, failure: LoadFailure) -> None:
        """Count a document, or several, that could not be ingested."""
        self.failed += failure.count
        self.bytes += failure.size
        self.last = failure.path
        if len(self.failures) < self.most_failures:
            self.failures.append(failure)

    def _finish(self, document: LoadedDocument, chunks: int) -> None:
        self.chunks += chunks
        self.bytes += document.size
        self.last = document.place
