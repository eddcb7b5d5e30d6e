"""Telling apart what providers raise, whatever their package."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace

import httpx
import pytest
from langchain_core.exceptions import ContextOverflowError, ModelRateLimitError

from ragweave.models.faults import ParameterRefused, Transient, fault, faults_of, without_secrets
from ragweave.models.providers import key_variable
from ragweave.state.errors import InvalidSetting, ModelRefused, ModelUnavailable


class ProviderError(Exception):
    """An error as provider packages make them."""

    def __init__(self, message: str, status: int | None = None, **headers: str) -> None:
        super().__init__(message)
        self.status_code = status
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        self.response = SimpleNamespace(status_code=status, headers=names)


class APIConnectionError(Exception):
    """A name that several packages give to a broken connection."""


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ProviderError("slow down", 429), Transient),
        (ProviderError("conflict", 409), Transient),
        (ProviderError("broken", 502), Transient),
        (ProviderError("who are you", 401), ModelRefused),
        (ProviderError("not you", 403), ModelRefused),
        (ProviderError("no such model", 404), ModelRefused),
        (ProviderError("response_format: unknown field", 400), ParameterRefused),
        (ProviderError("stream_options is not permitted", 422), ParameterRefused),
        (ProviderError("content_filter", 400), ModelUnavailable),
        (ContextOverflowError("too long"), ModelUnavailable),
        (ModelRateLimitError("slow down"), Transient),
        (TimeoutError(), Transient),
        (ConnectionResetError("reset"), Transient),
        (httpx.ReadError("cut"), Transient),
        (APIConnectionError("cut"), Transient),
        (KeyError("choices"), ModelUnavailable),
    ],
    ids=repr,
)
def test_kinds(error: Exception, kind: type[Exception]) -> None:
    assert type(fault(error, "some:model")) is kind


def test_says_who_and_what_in_one_short_line() -> None:
    told = str(fault(ProviderError("first line\n  second line " + "x" * 1000, 400), "some:model"))
    assert told.startswith("some:model: 400 first line second line xxx")
    assert len(told) < 340
    assert str(fault(TimeoutError(), "some:model")) == "some:model: no answer in time"
    assert str(fault(RuntimeError(), "some:model")) == "some:model: RuntimeError"


def test_a_date_to_retry_after_is_a_wait() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    waiting = fault(ProviderError("slow down", 429, retry_after=later), "some:model")
    assert isinstance(waiting, Transient)
    assert waiting.wait is not None
    assert 10 < waiting.wait <= 20
    nonsense = fault(ProviderError("slow down", 429, retry_after="soon"), "some:model")
    assert isinstance(nonsense, Transient)
    assert nonsense.wait is None


def test_secrets_are_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hunter2-hunter2")
    monkeypatch.setenv("SOME_TOKEN", "abc")  # too short to be a secret, and in many words
    told = without_secrets("key hunter2-hunter2, sk-proj-abcdef123, gsk_abcdef123, abc, task-force")
    assert told == "key ***, ***, ***, abc, task-force"


def test_our_own_errors_pass_and_others_leave_no_trace_of_their_message() -> None:
    with pytest.raises(InvalidSetting, match="as it is"), faults_of("some:model"):
        raise InvalidSetting("as it is")
    with pytest.raises(ModelRefused) as raised, faults_of("some:model"):
        raise ProviderError("sk-proj-abcdef123", 401)
    assert raised.value.__suppress_context__


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("openai:gpt", "OPENAI_API_KEY"),
        ("anthropic:claude", "ANTHROPIC_API_KEY"),
        ("google_genai:gemini", "GOOGLE_API_KEY"),
        ("mine", None),
    ],
)
def test_the_variable_that_holds_a_key(name: str, variable: str | None) -> None:
    assert key_variable(name) == variable
    assert (variable or "its key") in str(fault(ProviderError("no", 401), name))
