"""Every error that a caller may want to catch, under one base, each saying what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragweave.state.records import Usage


class RagweaveError(RuntimeError):
    """Base of all errors that ragweave raises on purpose.

    A `RuntimeError`, because the LangGraph server shows its clients the messages of built-in kinds
    of errors only; of others they would read "An internal error occurred".
    """


class InvalidQuestion(RagweaveError, ValueError):
    """The question is empty, missing or longer than `MAX_QUESTION_CHARACTERS`."""


class InvalidSetting(RagweaveError, ValueError):
    """A name or value that the user gave does not exist or does not fit (model, index, path)."""


# --- models -----------------------------------------------------------------------------------


class ModelRefused(RagweaveError):
    """The provider refused the key or the request. Trying again cannot help."""


class RequestRefused(ModelRefused):
    """The provider refused this one request (400, 422), as filters of content do.

    Where many are sent, others may be answered. `usage` is what it cost.
    """

    usage: Usage | None = None


class CallFailed(RagweaveError):
    """One model call that gave nothing usable. A node handles it and the run goes on.

    `usage` is what the failed attempts cost, so that it can still be counted. `text` is what the
    model did say: an answer in the wrong form, or the beginning of one that was cut off.
    """

    def __init__(self, message: str, *, text: str = "", usage: Usage | None = None) -> None:
        super().__init__(message)
        self.text = text
        self.usage = usage


class ModelUnavailable(CallFailed):
    """No answer after all attempts: timeouts, refused connections, 429 or 5xx."""


class MalformedAnswer(CallFailed):
    """The model answered, but never in the structure asked for."""


class BudgetReached(CallFailed):
    """The run's budget is spent: `limit` names which one, `used` says how far it had come."""

    def __init__(
        self, message: str, *, limit: str, used: float, text: str = "", usage: Usage | None = None
    ) -> None:
        super().__init__(message, text=text, usage=usage)
        self.limit = limit
        self.used = used


# --- indexes ----------------------------------------------------------------------------------


class IndexFailure(RagweaveError):
    """Base of all errors of an index."""


class IndexMissing(IndexFailure):
    """The named index does not exist (a default index that is missing is merely empty)."""


class IndexUnavailable(IndexFailure):
    """The index cannot be reached. Retryable."""


class IndexTimeout(IndexFailure):
    """The index did not answer before the deadline. Retryable."""


class IndexAuth(IndexFailure):
    """The index refused the credentials."""


class IndexSchemaMismatch(IndexFailure):
    """Dimension, collection, field, tenant, embeddings or text analysis differ from the index."""


class WriteFailed(IndexFailure):
    """Some records were not written. `failed` maps each one's id to the reason."""

    def __init__(self, message: str, *, failed: Mapping[str, str]) -> None:
        super().__init__(message)
        self.failed = dict(failed)
