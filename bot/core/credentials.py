"""Keys and addresses of model services, and the settings of the Claude API, which both a reasoner
and a search provider use."""

from __future__ import annotations

from urllib.parse import urlsplit

from pydantic import SecretStr

from bot.core.errors import CredentialsRefused, InvalidSetting
from bot.core.plugins import named_field
from bot.core.settings import Settings


class ClaudeSettings(Settings, defer_build=True):
    anthropic_api_key: SecretStr | None = named_field(
        "ANTHROPIC_API_KEY", description="key of the Claude API, which then researches and writes"
    )
    anthropic_base_url: str | None = named_field(
        "ANTHROPIC_BASE_URL", description="address of an endpoint that speaks the Messages API"
    )


def claude_key(settings: ClaudeSettings) -> str:
    """Return the API key. Raises ``InvalidSetting`` if it is missing, ``CredentialsRefused`` if it
    is malformed."""
    secret = settings.anthropic_api_key
    found = secret.get_secret_value().strip() if secret else ""
    if not found:
        raise InvalidSetting(
            "ANTHROPIC_API_KEY is not set: set it, or set FOOTNOTE_REASONER=auto to be answered "
            "with quotations."
        )
    return usable_key(found, "ANTHROPIC_API_KEY")


def claude_address(settings: ClaudeSettings) -> str | None:
    """Return the base URL without ``/v1``, which the SDK adds; None for the Claude API itself.
    Raises ``InvalidSetting``."""
    if not settings.anthropic_base_url:
        return None
    url = usable_url(settings.anthropic_base_url, "ANTHROPIC_BASE_URL")
    return url.removesuffix("/v1").rstrip("/")


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
