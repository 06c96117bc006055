"""Models of OpenAI, and of servers compatible with its Chat Completions API, as a reasoner of
Footnote."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from pydantic import SecretStr

from bot.core.credentials import usable_key, usable_url
from bot.core.errors import InvalidSetting
from bot.core.extras import need
from bot.core.measurements import Observe, nothing_observed
from bot.core.plugins import named_field
from bot.core.settings import Settings
from bot.core.texts import Said
from bot.reasoning.reasoner import (
    Declaration,
    Models,
    ReasonerFactory,
    without_name,
)

if TYPE_CHECKING:
    from bot.reasoning.openai_api import OpenAIEndpoint

NAME = "openai"
NO_KEY = "no-key-is-set"  # the SDK needs one; self-hosted servers mostly accept any


class OpenAISettings(Settings, defer_build=True):
    openai_api_key: SecretStr | None = named_field(
        "OPENAI_API_KEY", description="key of the OpenAI API, or of a server that speaks like it"
    )
    openai_base_url: str | None = named_field(
        "OPENAI_BASE_URL", description="address of a server that speaks the Chat Completions API"
    )


def key(settings: OpenAISettings) -> str:
    """Return the API key. Raises ``InvalidSetting`` if it is missing for OpenAI itself, and
    ``CredentialsRefused`` if it is malformed."""
    secret = settings.openai_api_key
    found = secret.get_secret_value().strip() if secret else ""
    if not found and not settings.openai_base_url:
        raise InvalidSetting(
            "OPENAI_API_KEY is not set: set it, or set OPENAI_BASE_URL to a server of your own "
            "(vLLM, Ollama, LM Studio)."
        )
    return usable_key(found, "OPENAI_API_KEY") or NO_KEY


def address(settings: OpenAISettings) -> str | None:
    """Return the base URL, with its ``/v1``; None for OpenAI itself. Raises ``InvalidSetting``."""
    url = settings.openai_base_url
    return usable_url(url, "OPENAI_BASE_URL") if url else None


def models(settings: OpenAISettings) -> Models:
    """Return the models; the small one defaults to the large one.

    Raises ``InvalidSetting`` if no model of the service is named.
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


def openai_service(
    settings: OpenAISettings, observe: Callable[[str], Observe] = nothing_observed
) -> OpenAIEndpoint:
    need("openai", f"FOOTNOTE_MODEL={settings.model}")
    from bot.reasoning.openai_api import OpenAIEndpoint

    return OpenAIEndpoint(settings, key(settings), address(settings), observe)


def _open(
    settings: OpenAISettings, observe: Callable[[str], Observe], wait: bool
) -> AbstractAsyncContextManager[ReasonerFactory]:
    from bot.reasoning.model_reasoner import open_reasoner

    need("openai", f"FOOTNOTE_MODEL={settings.model}")
    key(settings), address(settings)  # report wrong settings before loading the SDK
    return open_reasoner(
        NAME, settings, models(settings), lambda: openai_service(settings, observe), wait=wait
    )


async def _check(settings: OpenAISettings) -> Said:
    from bot.reasoning.model_reasoner import probe

    named = models(settings)  # first: it may raise
    return await probe(openai_service(settings), named)


REASONER = Declaration(
    name=NAME,
    settings=OpenAISettings,
    open=_open,
    check=_check,
    models=models,
    service=openai_service,
)
