"""What went wrong with a call, told apart once for all providers, and said in one line.

Provider packages raise hundreds of exceptions. What matters is read from the few things that they
share: an HTTP status, LangChain's own model errors, or a broken connection.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from time import time

from langchain_core.exceptions import ContextOverflowError, ModelError

from ragweave.models.providers import key_variable
from ragweave.state.errors import ModelRefused, ModelUnavailable, RagweaveError, RequestRefused

LONGEST_WAIT = 30.0
"""Seconds: a server that asks to wait longer is not asked again."""
MESSAGE_CHARACTERS = 300

_TRANSIENT_STATUS = {408, 409, 425, 429}
_KEY_STATUS = {401, 403}
_REQUEST_STATUS = {400, 422}
_PARAMETER_STATUS = {400, 404, 422, 501}
_OPTIONAL_PARAMETERS = {
    "response_format": ("response_format", "json_schema", "structured output", "guided_json"),
    "stream_options": ("stream_options", "include_usage"),
}
_CONTENT_REFUSED = ("content_filter", "content management policy", "context_length_exceeded")
_PASSING_NAMES = ("ConnectionError", "TransportError", "Timeout", "TimeoutError")
"""How httpx and the providers' packages name what breaks a connection."""
_NOTHING_STREAMED = "No generation chunks were returned"
"""LangChain's words for a stream without events, such as a web page."""
_OUT_OF_QUOTA = "insufficient_quota"
_SECRET_VARIABLE = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk|gsk|xai|tvly|hf)[-_][\w*.-]{6,}")


class Transient(ModelUnavailable):
    """Worth another attempt; `wait` is how many seconds the server asked to wait."""

    def __init__(self, message: str, *, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


class ParameterRefused(ModelRefused):
    """The server does not know a request field that can be done without."""

    def __init__(self, message: str, *, parameter: str) -> None:
        super().__init__(message)
        self.parameter = parameter


@contextmanager
def faults_of(model: str) -> Iterator[None]:
    """Turn what calling `model` raises into an error of ours, told in one line."""
    try:
        yield
    except RagweaveError:
        raise
    except Exception as error:
        # Not chained: the provider's own message may hold the key.
        raise fault(error, model) from None


def fault(error: Exception, model: str) -> RagweaveError:
    """The error to raise instead of `error`, which calling `model` raised."""
    while isinstance(error, ExceptionGroup):  # of a task group that a client works with
        error = error.exceptions[0]
    status, reason = _status(error), without_secrets(_one_line(error))
    told = f"{model}: {f'{status} ' if status else ''}{reason}"
    if status in _KEY_STATUS:
        return ModelRefused(f"{told}. {_check_key(model)}")
    if _OUT_OF_QUOTA in reason:
        return ModelRefused(told)
    if isinstance(error, ContextOverflowError) or any(sign in reason for sign in _CONTENT_REFUSED):
        return ModelUnavailable(told)
    if status in _TRANSIENT_STATUS or (status or 0) >= 500 or _is_passing(error):
        return _transient(error, told)
    if status in _PARAMETER_STATUS and (parameter := _parameter_named(reason)):
        return ParameterRefused(told, parameter=parameter)
    if status in _REQUEST_STATUS:
        return RequestRefused(told)
    return ModelRefused(told) if status else ModelUnavailable(told)


def without_secrets(text: str) -> str:
    """`text` without the values of secret environment variables and what looks like a key."""
    for variable, value in os.environ.items():
        if len(value) >= 6 and _SECRET_VARIABLE.search(variable):
            text = text.replace(value, "***")
    return _KEY_LIKE.sub("***", text)


def _transient(error: Exception, told: str) -> ModelUnavailable:
    wait = _retry_after(error)
    if wait is not None and wait > LONGEST_WAIT:
        return ModelUnavailable(f"{told} (asks to wait {wait:.0f} seconds)")
    return Transient(told, wait=wait)


def _status(error: Exception) -> int | None:
    response = getattr(error, "response", None)
    for status in (getattr(error, "status_code", None), getattr(response, "status_code", None)):
        if isinstance(status, int) and status >= 400:
            return status
    return None


def _is_passing(error: Exception) -> bool:
    """Whether an error without a status is a broken connection, a timeout or a garbled answer."""
    if isinstance(error, ModelError):
        return error.is_retryable
    if isinstance(error, OSError | ValueError):  # TimeoutError is an OSError, bad JSON a ValueError
        return True
    return _has_passing_name(error)


def _has_passing_name(error: Exception) -> bool:
    return any(base.__name__.endswith(_PASSING_NAMES) for base in type(error).__mro__)


def _retry_after(error: Exception) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except ValueError:
        return None


def _parameter_named(reason: str) -> str | None:
    lower = reason.lower()
    for parameter, signs in _OPTIONAL_PARAMETERS.items():
        if any(sign in lower for sign in signs):
            return parameter
    return None


def _check_key(model: str) -> str:
    variable = key_variable(model)
    return f"Check {variable}." if variable else "Check its key."


def _one_line(error: Exception) -> str:
    text = " ".join(" ".join(_messages(error)).split()) or type(error).__name__
    return text if len(text) <= MESSAGE_CHARACTERS else f"{text[:MESSAGE_CHARACTERS]}..."


def _chain(error: BaseException | None) -> Iterator[str]:
    """What `error` says, and what it was raised from."""
    while error:
        yield str(error)
        error = error.__cause__


def _messages(error: Exception) -> Iterator[str]:
    body = getattr(error, "body", None)
    if isinstance(body, dict) and isinstance(body.get("message"), str):
        yield body["message"]
        if isinstance(body.get("code"), str):
            yield f"({body['code']})"
    elif isinstance(error, TimeoutError) and not str(error):
        yield "no answer in time"
    elif _NOTHING_STREAMED in str(error):
        yield "the server sent nothing to read; OPENAI_BASE_URL usually ends in /v1"
    elif _has_passing_name(error):
        yield max(_chain(error), key=len)  # which names the host, as openai's own does not
    else:
        yield str(error)
