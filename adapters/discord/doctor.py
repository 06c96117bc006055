"""The check of Discord for `footnote doctor`, and the permissions that the bot needs."""

from __future__ import annotations

import asyncio

import aiohttp
import discord
from discord.http import Route

from adapters.discord.client import (
    CONTENT_INTENT_HINT,
    api_of,
    library_log,
    may_read_all,
    refused_token,
)
from adapters.discord.settings import DiscordSettings
from bot.core.egress import Egress
from bot.core.errors import FootnoteError, InvalidSetting, PlatformUnavailable

LOGIN_SECONDS = 15.0

# Permission (as discord.py names it) → its purpose. The bot needs no others in a server.
PERMISSIONS = {
    "view_channel": "see the question",
    "send_messages": "answer in a channel where no thread can be opened",
    "send_messages_in_threads": "answer",
    "create_public_threads": "open a thread for the answer",
    "embed_links": "show progress and sources",
    "read_message_history": "know what was said before the question",
    "add_reactions": "show that it stops",
}
SCOPES = ("bot", "applications.commands")


def needed_permissions() -> discord.Permissions:
    """Return ``PERMISSIONS`` as Discord's bit field."""
    return discord.Permissions(**dict.fromkeys(PERMISSIONS, True))


def invitation(application_id: int) -> str:
    """Return the URL at which a server's manager adds the bot to the server."""
    return discord.utils.oauth_url(application_id, permissions=needed_permissions(), scopes=SCOPES)


async def examine(settings: DiscordSettings) -> str:
    """Log in and check the application; return a line for the operator.

    Raises ``InvalidSetting`` without a token, ``CredentialsRefused`` if Discord does not accept it,
    ``PlatformUnavailable`` if Discord cannot be reached, and ``FootnoteError`` if something has to
    be switched on at Discord.
    """
    if settings.discord_token is None:
        raise InvalidSetting("DISCORD_TOKEN is not set: the README shows how to get it.")
    token = settings.discord_token.get_secret_value()
    with library_log(token), api_of(settings):
        egress = Egress.of(settings)
        async with discord.Client(
            intents=discord.Intents(guilds=True),
            connector=egress.connector(),
            proxy=egress.proxy_for(Route.BASE) or None,
        ) as client:
            application = await _application(client, token)
            servers = application.approximate_guild_count
    invited = invitation(application.id)
    if application.interactions_endpoint_url:
        raise FootnoteError(
            "The application sends commands to an Interactions Endpoint URL, so Footnote never "
            "gets them: empty that field under General Information at "
            "https://discord.com/developers/applications."
        )
    if not may_read_all(application.flags):
        raise FootnoteError(f"{CONTENT_INTENT_HINT}. Add Footnote to a server at {invited}")
    name = client.user.name if client.user is not None else application.name
    where = "1 server" if servers == 1 else f"{servers:,} servers"
    return f"logged in as {name}, in {where}; add it to another one at {invited}"


async def _application(client: discord.Client, token: str) -> discord.AppInfo:
    try:
        async with asyncio.timeout(LOGIN_SECONDS):
            await client.login(token)
            return await client.application_info()
    except discord.LoginFailure:
        raise refused_token() from None
    except (discord.HTTPException, aiohttp.ClientError, OSError) as error:
        raise PlatformUnavailable(
            "Discord cannot be reached: check the network, or https://discordstatus.com, "
            "and try again.",
            detail=str(error).split("\n")[0][:200],
        ) from None
