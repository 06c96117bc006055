"""Failures of a model service, and what a person should do about them.

The SDK has already retried retryable failures (408, 409, 429, 5xx, lost connections).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from bot.core.egress import proxy_failure
from bot.core.errors import (
    CredentialsRefused,
    FootnoteError,
    InvalidSetting,
    ModelBroken,
    ModelUnavailable,
)
from bot.core.settings import Settings

PASSING_KINDS = frozenset(
    {
        *("overloaded_error", "api_error", "rate_limit_error", "timeout_error"),  # Claude
        *("server_error", "rate_limit_exceeded"),  # OpenAI
    }
)
RETRIES = 4  # of a failed request, by the SDK
SHOWN = 300  # characters of the service's message shown to a person


class TooLong(ModelBroken):
    """The material exceeds the limit of the endpoint or the model's context window."""


class CutOff(Exception):
    """A stream ended before its reply was complete. ``begun`` is True if it had begun."""

    def __init__(self, begun: bool) -> None:
        super().__init__("the reply ended before it was complete")
        self.begun = begun


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a service, its protocol and its settings, for messages."""

    service: str  # "The Claude API"
    protocol: str  # "Messages API"
    key: str  # "ANTHROPIC_API_KEY"
    url: str  # "ANTHROPIC_BASE_URL"
    url_form: str  # "without /v1"


@dataclass(frozen=True, slots=True)
class Failure:
    """An SDK's exception, independent of the SDK. ``status`` is 0 without an HTTP error response,
    ``kind`` the service's error type, ``retry_after`` in seconds."""

    words: str
    error: Exception
    status: int = 0
    kind: str = ""
    request_id: str = ""
    retry_after: float | None = None
    timed_out: bool = False
    disconnected: bool = False

    @property
    def is_bad_request(self) -> bool:
        """True if the request itself is wrong, by status or (in a stream) by type."""
        return self.status in (400, 422) or self.kind == "invalid_request_error"

    @property
    def is_too_long(self) -> bool:
        """True if the request exceeds the limit of the endpoint or the model's context window."""
        words = self.words.casefold()
        return self.status == 413 or (
            self.is_bad_request
            and re.search(r"too long|context (window|limit|length|size)|context_length", words)
            is not None
        )

    @property
    def is_passing(self) -> bool:
        """True if sending the same request again may help."""
        return (
            self.timed_out or self.disconnected or self.kind in PASSING_KINDS or self.status >= 500
        )


def on_one_line(words: str) -> str:
    """Return a service's error message on one line, without tags of an error page."""
    words = " ".join(re.sub(r"<[^<>]*>", " ", words).split())
    return words if len(words) <= SHOWN else words[: SHOWN - 1] + "…"


def said_in(body: object) -> str:
    """Return the message in the body of an error response."""
    if isinstance(body, Mapping):
        inner: Any = body.get("error", body)
        return inner if isinstance(inner, str) else str(inner.get("message") or "")
    return body if isinstance(body, str) else ""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds the endpoint asks to wait, or None if absent or malformed."""
    try:
        if "retry-after-ms" in headers:
            return float(headers["retry-after-ms"]) / 1000
        return float(headers["retry-after"])
    except (KeyError, ValueError):
        return None


def explain(
    failure: Failure, names: Names, settings: Settings, model: str, host: str
) -> FootnoteError:
    """Convert a failure to an error with a sentence for people. ``host`` is the service's host."""
    error = failure.error
    if failure.status or failure.kind:
        return _explain_status(failure, names, settings, model, host)
    if isinstance(error, CutOff) and not error.begun:
        return ModelUnavailable(
            f"{host} does not answer as {names.service[0].lower()}{names.service[1:]} does: check "
            f"{names.url}."
        )
    if at_proxy := proxy_failure(error):
        return ModelUnavailable(at_proxy)
    if failure.timed_out:
        return ModelUnavailable(
            f"{model} took more than {settings.model_timeout:g} seconds to answer: try again, or "
            "set FOOTNOTE_MODEL_TIMEOUT higher.",
            detail=failure.words,
        )
    if failure.is_passing:
        return ModelUnavailable(
            f"The connection to {host} failed or was cut: check the network and try again.",
            detail=f"{failure.words}; {type(error.__cause__ or error).__name__}",
        )
    return ModelBroken(
        f"{host} sent a reply that cannot be read: try again, or check {names.url}.",
        detail=f"{type(error).__name__}: {failure.words}",
    )


def _explain_status(
    failure: Failure, names: Names, settings: Settings, model: str, host: str
) -> FootnoteError:
    status, kind, words = failure.status, failure.kind, failure.words
    request = f" request {failure.request_id}" if failure.request_id else ""
    detail = f"{status} {kind}{request} for {model}"
    if (
        status == 402
        or kind in ("billing_error", "insufficient_quota")
        or "credit balance" in words
    ):
        return CredentialsRefused(
            f"The account of {names.key} cannot pay for this request: {words}", detail=detail
        )
    if status in (401, 403) or kind in ("authentication_error", "permission_error"):
        return CredentialsRefused(
            f"{names.key} was not accepted by {host}: {words} Correct the key or its "
            "rights.".replace("..", "."),
            detail=detail,
        )
    if (status == 404 or failure.is_bad_request) and _names_model(words, model):
        return InvalidSetting(
            f"{host} knows no model {model}: set {_setting_of(model, settings)} to one it knows.",
            detail=f"{detail}: {words}",
        )
    if status == 404:
        return InvalidSetting(
            f"There is no {names.protocol} at {host}: correct {names.url} ({names.url_form}).",
            detail=f"{detail}: {words}",
        )
    if failure.is_too_long:
        return TooLong(
            f"The material is larger than the model takes: ask for less. {host} says: {words}",
            detail=detail,
        )
    if failure.is_passing or status in (408, 409, 429):
        busy = status in (429, 529) or kind in ("rate_limit_error", "overloaded_error")
        what = "is busy" if busy else "has a problem of its own"
        return ModelUnavailable(
            f"{host} {what} and did not answer after {_times(RETRIES + 1)}: try again in a while.",
            detail=f"{detail}: {words}",
            retry_after=failure.retry_after,
        )
    return ModelBroken(f"{host} refused a request for {model}: {words}", detail=detail)


def _times(number: int) -> str:
    return "1 attempt" if number == 1 else f"{number} attempts"


def _names_model(words: str, model: str) -> bool:
    folded = words.casefold()
    return "model" in folded and (
        model.casefold() in folded or "not found" in folded or "does not exist" in folded
    )


def _setting_of(model: str, settings: Settings) -> str:
    names = {"FOOTNOTE_MODEL": settings.model, "FOOTNOTE_SMALL_MODEL": settings.small_model}
    found = [name for name, value in names.items() if value.rpartition(":")[2] == model]
    return " and ".join(found) or "FOOTNOTE_MODEL"


def refused_feature(words: str, used: Collection[str], named: Mapping[str, str]) -> str | None:
    """Return the used feature that an error message complains about, or None.

    ``named`` maps patterns to features, the most specific first.
    """
    words = words.casefold()
    for pattern, feature in named.items():
        if feature in used and re.search(pattern, words):
            return feature
    return None


# ---------------------------------------------------------------- keys and addresses


def usable_key(key: str, name: str) -> str:
    """Check that a key can be sent in a header. Raises ``CredentialsRefused``."""
    if not key.isascii() or not key.isprintable() or " " in key:
        raise CredentialsRefused(
            f"{name} holds characters that no key has: copy it again, without spaces or line "
            "breaks."
        )
    return key


def usable_url(address: str, name: str) -> str:
    """Return an HTTP address without its final slash. Raises ``InvalidSetting``."""
    try:
        parts = urlsplit(address.strip())
        works = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        works = False
    if not works:
        raise InvalidSetting(
            f"{name} is not an address like https://host/path: correct it or unset it."
        )
    return address.strip().rstrip("/")


def host_of(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]
