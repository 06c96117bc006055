"""Discord's settings."""

from __future__ import annotations

from pydantic import SecretStr

from bot.core.plugins import named_field
from bot.core.settings import Settings


class DiscordSettings(Settings, defer_build=True):
    """The bot's token, used for both the gateway and the API."""

    discord_token: SecretStr | None = named_field(
        "DISCORD_TOKEN", description="the token of the bot"
    )
    discord_api_url: str = "https://discord.com/api/v10"


def has_token(settings: DiscordSettings) -> bool:
    return settings.discord_token is not None
