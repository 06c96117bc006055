"""Settings of the Claude API, checked without its SDK."""

from __future__ import annotations

from pydantic import SecretStr

from bot.core.errors import InvalidSetting
from bot.core.plugins import named_field
from bot.core.settings import Settings
from bot.reasoning.declaration import Models, without_name
from bot.reasoning.model.failures import Names, usable_key, usable_url

API = "https://api.anthropic.com"
NAMES = Names(
    "The Claude API", "Messages API", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "without /v1"
)


class ClaudeSettings(Settings, defer_build=True):
    anthropic_api_key: SecretStr | None = named_field(
        "ANTHROPIC_API_KEY", description="key of the Claude API, which then researches and writes"
    )
    anthropic_base_url: str | None = named_field(
        "ANTHROPIC_BASE_URL", description="address of an endpoint that speaks the Messages API"
    )


def key(settings: ClaudeSettings) -> str:
    """Return the API key. Raises ``InvalidSetting`` if it is missing, ``CredentialsRefused`` if it
    is malformed."""
    secret = settings.anthropic_api_key
    found = secret.get_secret_value().strip() if secret else ""
    if not found:
        raise InvalidSetting(
            "ANTHROPIC_API_KEY is not set: set it, or set FOOTNOTE_REASONER=auto to be answered "
            "with quotations."
        )
    return usable_key(found, NAMES.key)


def address(settings: ClaudeSettings) -> str:
    """Return the base URL without ``/v1``, which the SDK adds. Raises ``InvalidSetting``."""
    if not settings.anthropic_base_url:
        return API
    url = usable_url(settings.anthropic_base_url, NAMES.url)
    return url.removesuffix("/v1").rstrip("/")


def models(settings: ClaudeSettings) -> Models:
    return Models(
        without_name(settings.model, "claude"), without_name(settings.small_model, "claude")
    )
