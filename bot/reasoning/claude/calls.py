"""Calls of the Claude API as the requests' authors see them, without the SDK.

The SDK takes about a second to import, so that only ``claude.endpoint`` and ``claude.errors`` do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx2

from bot.errors import CredentialsRefused, InvalidSetting, ModelBroken
from bot.settings import Settings

if TYPE_CHECKING:
    from anthropic.types import RawMessageStreamEvent

API = "https://api.anthropic.com"

Request = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A request; ``plain`` is the same without ``search_result`` blocks, for who refuses them."""

    request: Request
    plain: Request | None = None


@dataclass(frozen=True, slots=True)
class Again:
    """All events so far are void: the call is being sent again."""


Watch = Callable[["RawMessageStreamEvent | Again"], None]


class TooLong(ModelBroken):
    """The material is larger than the endpoint or the model's context window takes."""


def credentials(settings: Settings) -> tuple[str, str]:
    """The key and the address of the endpoint, without the ``/v1`` that the SDK adds itself.

    Raises ``InvalidSetting`` or ``CredentialsRefused`` when they cannot work.
    """
    key = (
        settings.anthropic_api_key.get_secret_value().strip() if settings.anthropic_api_key else ""
    )
    if not key:
        raise InvalidSetting(
            "ANTHROPIC_API_KEY is not set: set it, or leave FOOTNOTE_REASONER at auto to be "
            "answered with quotations."
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise CredentialsRefused(
            "ANTHROPIC_API_KEY holds characters that no key has: copy it again, without spaces "
            "or line breaks."
        )
    if not settings.anthropic_base_url:
        return key, API
    try:
        url = httpx2.URL(settings.anthropic_base_url.strip())
    except httpx2.InvalidURL:
        url = httpx2.URL("")
    if url.scheme not in ("http", "https") or not url.host:
        raise InvalidSetting(
            "ANTHROPIC_BASE_URL is not an address like https://host/path: correct it or unset it."
        )
    return key, str(url).rstrip("/").removesuffix("/v1").rstrip("/")
