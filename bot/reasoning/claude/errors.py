"""Translates the endpoint's errors: which feature it refuses, and what a person should do.

The SDK has already retried what can be retried (408, 409, 429, 5xx, lost connections) when an
error gets here. Status codes and error types: https://platform.claude.com/docs/en/api/errors.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Literal

import anthropic
import httpx2

from bot.errors import (
    CredentialsRefused,
    FootnoteError,
    InvalidSetting,
    ModelBroken,
    ModelUnavailable,
)
from bot.reasoning.claude.calls import TooLong
from bot.settings import Settings

Feature = Literal[
    "cache_control",
    "search_result",
    "strict",
    "disabled",
    "thinking_blocks",
    "thinking",
    "effort",
    "format",
]
"""What an endpoint or a model may refuse, and what Footnote can do without.

``disabled`` is turning thinking off the old way (newer models want ``between_tools``);
``thinking_blocks`` is sending back what was thought in earlier turns.
"""

RETRIED_TYPES = frozenset({"overloaded_error", "api_error", "rate_limit_error", "timeout_error"})
WORDS = 300  # characters of the endpoint's own words that a person is shown


class CutOff(Exception):
    """A stream ended before the message did. ``begun`` tells if any event had come."""

    def __init__(self, begun: bool) -> None:
        super().__init__("the reply ended before it was complete")
        self.begun = begun


_FORMAT = (
    r"output_config|output_format|json.schema|structured output"
    # A schema that is within all limits may still be too much for the grammar made of it.
    r"|schema is too complex|grammar"
)


def refused_feature(words: str, used: Collection[Feature]) -> Feature | None:
    """The feature of a request that a 400's words complain about, if it is one of those used."""
    words = words.casefold()
    if "maximum of" in words and "cache_control" in words:
        return None
    named: tuple[tuple[Feature, str], ...] = (
        ("cache_control", "cache_control"),
        ("search_result", r"search_result|citation"),
        ("strict", "strict"),
        ("disabled", "between_tools"),
        ("thinking_blocks", r"signature|thinking\W{0,2} block"),
        ("thinking", "thinking"),
        ("effort", r"\beffort"),
        ("format", _FORMAT),
        ("effort", "output_config"),
    )
    for feature, pattern in named:
        if feature in used and re.search(pattern, words):
            return feature
    return None


def words_of(error: Exception) -> str:
    """The endpoint's own words about an error, on one line."""
    words = ""
    if isinstance(error, anthropic.APIStatusError):
        words = error.api_message or ""
        if not words and isinstance(error.body, Mapping):
            inner: Any = error.body.get("error", error.body)
            words = inner if isinstance(inner, str) else str(inner.get("message", ""))
        if not words and isinstance(error.body, str):
            words = re.sub(r"<[^>]*>", " ", error.body)
    words = " ".join((words or str(error)).split())
    return words if len(words) <= WORDS else words[: WORDS - 1] + "…"


def is_bad_request(error: Exception) -> bool:
    """The request itself is at fault, by status or (in a stream) by type."""
    return isinstance(error, anthropic.APIStatusError) and (
        error.status_code in (400, 422) or error.type == "invalid_request_error"
    )


def is_too_long(error: Exception) -> bool:
    """The request is larger than the endpoint or the model's context window takes."""
    if not isinstance(error, anthropic.APIStatusError):
        return False
    if error.status_code == 413:
        return True
    words = words_of(error).casefold()
    return is_bad_request(error) and (
        "too long" in words or "context window" in words or "context limit" in words
    )


def is_passing(error: BaseException) -> bool:
    """Sending the same again may help: the stream was cut, stalled, or ended with an overload."""
    if isinstance(error, anthropic.APIStatusError):
        return error.type in RETRIED_TYPES or error.status_code >= 500
    return isinstance(
        error, anthropic.APIConnectionError | httpx2.TransportError | TimeoutError | CutOff
    )


def explain(error: Exception, settings: Settings, model: str) -> FootnoteError:
    """The error as the sentence a person is shown. The API key never is part of it."""
    key = settings.anthropic_api_key.get_secret_value() if settings.anthropic_api_key else ""
    words = words_of(error).replace(key, "…") if key else words_of(error)
    where = _host(settings)
    if isinstance(error, anthropic.APIStatusError):
        request = f" request {error.request_id}" if error.request_id else ""
        detail = f"{error.status_code} {error.type or ''}{request} for {model}"
        return _explain_status(error, settings, model, words, where, detail)
    if isinstance(error, CutOff) and not error.begun:
        return ModelUnavailable(
            f"{where} does not answer as the Claude API does: check ANTHROPIC_BASE_URL."
        )
    if isinstance(error, TimeoutError | anthropic.APITimeoutError):
        return ModelUnavailable(
            f"{model} took more than {settings.model_timeout:g} seconds to answer: try again, or "
            "set FOOTNOTE_MODEL_TIMEOUT higher.",
            detail=words,
        )
    if is_passing(error):
        return ModelUnavailable(
            f"The connection to {where} failed or was cut: check the network and try again.",
            detail=f"{words}; {type(error.__cause__ or error).__name__}",
        )
    return ModelBroken(
        f"{where} sent a reply that cannot be read: try again, or check ANTHROPIC_BASE_URL.",
        detail=f"{type(error).__name__}: {words}",
    )


def _explain_status(
    error: anthropic.APIStatusError,
    settings: Settings,
    model: str,
    words: str,
    where: str,
    detail: str,
) -> FootnoteError:
    status, kind = error.status_code, error.type
    if status in (401, 403) or kind in ("authentication_error", "permission_error"):
        return CredentialsRefused(
            f"ANTHROPIC_API_KEY was not accepted by {where}: {words} Correct the key or its "
            "rights.".replace("..", "."),
            detail=detail,
        )
    if status == 402 or kind == "billing_error" or "credit balance" in words:
        return CredentialsRefused(
            f"The account of ANTHROPIC_API_KEY cannot pay for this request: {words}", detail=detail
        )
    if (status == 404 or is_bad_request(error)) and _names_model(words, model):
        return InvalidSetting(
            f"{where} knows no model {model}: set {_setting_of(model, settings)} to one it knows.",
            detail=f"{detail}: {words}",
        )
    if status == 404:
        return InvalidSetting(
            f"There is no Messages API at {where}: correct ANTHROPIC_BASE_URL (without /v1).",
            detail=f"{detail}: {words}",
        )
    if is_too_long(error):
        return TooLong(
            "The material is larger than the model takes: ask for less, or set "
            f"FOOTNOTE_READ_TOKENS lower. {where} says: {words}",
            detail=detail,
        )
    if is_passing(error) or status in (408, 409, 429, 529):
        busy = status in (429, 529) or kind in ("rate_limit_error", "overloaded_error")
        what = "is busy" if busy else "has a problem of its own"
        return ModelUnavailable(
            f"{where} {what} and did not answer after {_times(settings.model_retries + 1)}: "
            "try again in a while.",
            detail=f"{detail}: {words}",
            retry_after=_retry_after(error),
        )
    return ModelBroken(f"{where} refused a request for {model}: {words}", detail=detail)


def _times(number: int) -> str:
    return "1 attempt" if number == 1 else f"{number} attempts"


def _names_model(words: str, model: str) -> bool:
    folded = words.casefold()
    return "model" in folded and (
        model.casefold() in folded or "not found" in folded or "does not exist" in folded
    )


def _setting_of(model: str, settings: Settings) -> str:
    names = {"FOOTNOTE_MODEL": settings.model, "FOOTNOTE_SMALL_MODEL": settings.small_model}
    return " and ".join(name for name, value in names.items() if value == model) or "FOOTNOTE_MODEL"


def _host(settings: Settings) -> str:
    if not settings.anthropic_base_url:
        return "The Claude API"
    return httpx2.URL(settings.anthropic_base_url).netloc.decode("ascii", "replace")


def _retry_after(error: anthropic.APIStatusError) -> float | None:
    """Seconds the endpoint asks to wait, if it says so in a form that can be read."""
    headers = error.response.headers
    try:
        if "retry-after-ms" in headers:
            return float(headers["retry-after-ms"]) / 1000
        return float(headers["retry-after"])
    except (KeyError, ValueError):
        return None
