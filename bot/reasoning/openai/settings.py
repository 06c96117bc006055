"""Settings of the OpenAI API, and what can be told of them without its SDK."""

from __future__ import annotations

from pydantic import SecretStr

from bot.errors import InvalidSetting
from bot.plugins import named_field
from bot.reasoning.declaration import Models, without_name
from bot.reasoning.model.failures import Names, usable_key, usable_url
from bot.settings import Settings

NAME = "openai"
API = "https://api.openai.com/v1"
NAMES = Names(
    "The OpenAI API", "Chat Completions API", "OPENAI_API_KEY", "OPENAI_BASE_URL", "with /v1"
)
NO_KEY = "no-key-is-set"  # the SDK wants one; servers of one's own mostly take any


class OpenAISettings(Settings, defer_build=True):
    openai_api_key: SecretStr | None = named_field(
        "OPENAI_API_KEY", description="key of the OpenAI API, or of a server that speaks like it"
    )
    openai_base_url: str | None = named_field(
        "OPENAI_BASE_URL", description="address of a server that speaks the Chat Completions API"
    )


def key(settings: OpenAISettings) -> str:
    """Raises ``InvalidSetting`` where OpenAI itself would be asked without one, and
    ``CredentialsRefused`` for what is none."""
    secret = settings.openai_api_key
    found = secret.get_secret_value().strip() if secret else ""
    if not found and not settings.openai_base_url:
        raise InvalidSetting(
            "OPENAI_API_KEY is not set: set it, or set OPENAI_BASE_URL to a server of your own "
            "(vLLM, Ollama, LM Studio)."
        )
    return usable_key(found, NAMES.key) or NO_KEY


def address(settings: OpenAISettings) -> str:
    """With the ``/v1`` at its end that servers want. Raises ``InvalidSetting``."""
    return usable_url(settings.openai_base_url, NAMES.url) if settings.openai_base_url else API


def models(settings: OpenAISettings) -> Models:
    """The large model; the small one is the same where none is set.

    Raises ``InvalidSetting`` where no model of the service is named.
    """
    if "model" not in settings.model_fields_set:
        raise InvalidSetting(
            "FOOTNOTE_REASONER is openai but no model is named: set FOOTNOTE_MODEL=openai:NAME."
        )
    large = without_name(settings.model, NAME)
    small = settings.small_model if "small_model" in settings.model_fields_set else large
    if not large:
        raise InvalidSetting("FOOTNOTE_MODEL names no model: set it to openai:NAME.")
    return Models(large, without_name(small, NAME))
