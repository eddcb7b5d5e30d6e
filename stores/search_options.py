"""What LangChain's callers may say of a search, checked before anything is searched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from inspect import signature
from numbers import Integral, Real
from typing import Any, get_args

from ragweave.state.errors import InvalidSetting
from ragweave.state.unknown_name import unknown
from ragweave.stores.base import Filters, Fusion, SearchMode, SearchSpec


def search_spec(
    k: int,
    *,
    text: str | None = None,
    vector: Sequence[float] | None = None,
    filter: Filters | None = None,
    mode: SearchMode = "vector",
    alpha: float = 0.25,
    fusion: Fusion = "relative",
    **others: Any,
) -> SearchSpec:
    """The search for `k` chunks; a LangChain vector store goes by vectors unless told otherwise.

    Raises:
        InvalidSetting: there is no such option, or no such value of it.
    """
    refuse_unknown(others, ("k", *_OPTIONS))
    check_count("k", k)
    check_share("alpha", alpha)
    _check_name("mode", mode, get_args(SearchMode))
    _check_name("fusion", fusion, get_args(Fusion))
    return SearchSpec(
        text=text,
        vector=vector,
        mode=mode,
        k=k,
        alpha=alpha,
        fusion=fusion,
        filters=filter or {},
    )


_OPTIONS = tuple(
    name
    for name in signature(search_spec).parameters
    if name not in ("k", "text", "vector", "others")
)


def diverse_spec(
    vector: Sequence[float], k: int, fetch_k: int, lambda_mult: float, **options: Any
) -> SearchSpec:
    """The search for the `fetch_k` chunks of which `k` are chosen by marginal relevance.

    Raises:
        InvalidSetting: there is no such option, or no such value of it.
    """
    check_count("k", k)
    check_count("fetch_k", fetch_k)
    check_share("lambda_mult", lambda_mult)
    return search_spec(fetch_k, vector=vector, **options)


def check_count(option: str, value: object) -> None:
    """Check how many are wanted; 0 finds nothing.

    Raises:
        InvalidSetting: it is no whole number, or below 0.
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 0:
        raise InvalidSetting(f"{option} must be a whole number, 0 or more, not {value!r}.")


def check_share(option: str, value: object) -> None:
    """Check a weight between two things.

    Raises:
        InvalidSetting: it is no number from 0 to 1.
    """
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= float(value) <= 1:
        raise InvalidSetting(f"{option} must be a number from 0 to 1, not {value!r}.")


def refuse_unknown(options: Iterable[str], known: Sequence[str] = ()) -> None:
    """Refuse options that nothing would heed.

    Raises:
        InvalidSetting: there are some; the message names the nearest known.
    """
    for option in options:
        if not known:
            raise InvalidSetting(f'There is no option "{option}" here: leave it out.')
        raise InvalidSetting(unknown("search option", option, known))


def _check_name(option: str, value: object, known: Sequence[str]) -> None:
    if value not in known:
        raise InvalidSetting(unknown(option, str(value), known))
