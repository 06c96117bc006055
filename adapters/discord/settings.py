"""Discord's settings."""

from __future__ import annotations

from typing import Literal

from pydantic import SecretStr

from bot.core.plugins import named_field
from bot.core.settings import Settings


class DiscordSettings(Settings, defer_build=True):
    """The bot's token, used for both the gateway and the API, and whether people who are in none of
    the bot's servers count as members."""

    discord_token: SecretStr | None = named_field(
        "DISCORD_TOKEN", description="the token of the bot"
    )
    discord_api_url: str = "https://discord.com/api/v10"
    discord_strangers: Literal["off", "on"] = "off"


def has_token(settings: DiscordSettings) -> bool:
    return settings.discord_token is not None
