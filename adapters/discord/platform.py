"""The Discord platform, which `footnote serve` runs, and its check for `footnote doctor`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress

import aiohttp
import discord
from discord.http import Route
from starlette.routing import BaseRoute

from adapters.discord.client import (
    INTENT_HINT,
    FootnoteClient,
    api_of,
    library_log,
    may_read_all,
    refused_token,
)
from adapters.discord.interactions import Commands, Presses
from adapters.discord.listener import Listener
from adapters.discord.missed_messages import Gap, MissedMessages
from adapters.discord.poster import DiscordPoster
from adapters.discord.settings import DiscordSettings
from bot.core.egress import Egress
from bot.core.errors import (
    CredentialsRefused,
    FootnoteError,
    InvalidSetting,
    PlatformUnavailable,
)
from bot.core.measurements import Observed
from bot.core.posting import Poster
from bot.core.texts import Said, said
from bot.service.platform import Connection
from bot.service.reception import Reception
from bot.storage.workspaces import Workspaces

SHARD_GONE = "A connection to Discord's gateway is gone: it is being made again."
LAST_EVENTS_SECONDS = 3.0  # time to handle the last events when `serve` ends


class DiscordPlatform:
    """See ``bot.service.platform.Platform``. Opened by ``open_discord``."""

    name = "discord"

    def __init__(self, client: FootnoteClient, token: str, workspaces: Workspaces) -> None:
        self._client = client
        self._token = token
        self._workspaces = workspaces
        self._login = asyncio.create_task(client.log_in(token))
        self.poster: Poster = DiscordPoster(client, self._login, egress=client.egress)

    @property
    def connection(self) -> Connection:
        return self._client.connection

    @property
    def routes(self) -> Sequence[BaseRoute]:
        return ()

    async def reach(self) -> None:
        await asyncio.shield(self._login)
        self.connection.mark_connected()

    async def run(self, reception: Reception, ready: Callable[[], None]) -> None:
        """See ``bot.service.platform.Platform``. Raises ``CredentialsRefused`` and ``Invalid``."""
        await asyncio.shield(self._login)
        missed = MissedMessages(self._client, self._workspaces)
        await missed.load()
        listener = Listener(self._client, reception, missed)
        commands = Commands(self._client, reception)
        Presses(self._client, reception).install()
        gaps: dict[int, Gap] = {}
        away: set[int] = set()  # shards that are not connected

        async def on_shard_connect(shard_id: int) -> None:
            # Before the first event of the new session, which changes the stored positions.
            gaps[shard_id] = missed.of_shard(shard_id)

        async def on_shard_disconnect(shard_id: int) -> None:
            away.add(shard_id)
            self.connection.mark_unreachable(SHARD_GONE)

        async def on_shard_resumed(shard_id: int) -> None:
            away.discard(shard_id)
            if not away:
                self.connection.mark_connected()

        async def on_shard_ready(shard_id: int) -> None:
            away.discard(shard_id)
            if gap := gaps.pop(shard_id, None):
                await missed.catch_up(gap, listener.on_message)

        async def on_ready() -> None:
            away.clear()
            self.connection.mark_connected()
            ready()
            commands.sync_soon()

        self._client.listen(
            [
                *listener.events,
                on_shard_connect,
                on_shard_disconnect,
                on_shard_resumed,
                on_shard_ready,
                on_ready,
            ]
        )
        await commands.install()
        try:
            await self._client.stay_connected(self._token)
        finally:
            await self._client.finish_work(LAST_EVENTS_SECONDS)
            await commands.aclose()
            await listener.aclose()
            await missed.aclose()

    async def aclose(self) -> None:
        await asyncio.sleep(0)  # the client can be closed only after its login has begun
        self._login.cancel()
        with suppress(asyncio.CancelledError, CredentialsRefused):
            await self._login
        await self._client.close()


@asynccontextmanager
async def open_discord(
    settings: DiscordSettings, workspaces: Workspaces, observed: Observed | None = None
) -> AsyncIterator[DiscordPlatform]:
    """Open the platform. The login continues in the background, because Discord may be away.

    Raises ``InvalidSetting`` without DISCORD_TOKEN.
    """
    token = _token_of(settings)
    library_log(token)
    with api_of(settings):
        calls = observed.calls if observed is not None else None
        client = FootnoteClient(calls, Egress.of(settings), settings.discord_strangers)
        platform = DiscordPlatform(client, token, workspaces)
        try:
            yield platform
        finally:
            await platform.aclose()


def _token_of(settings: DiscordSettings) -> str:
    if settings.discord_token is None:
        raise InvalidSetting("DISCORD_TOKEN is not set: the README shows how to get it.")
    return settings.discord_token.get_secret_value()


# ---------------------------------------------------------------- the check

LOGIN_SECONDS = 15.0

# Permission (as discord.py names it) → its purpose. The bot needs no others in a server.
PERMISSIONS = {
    "view_channel": "see the question",
    "send_messages": "answer in a channel where no thread can be opened",
    "send_messages_in_threads": "answer",
    "create_public_threads": "open a thread for the answer",
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


async def examine(settings: DiscordSettings) -> Said:
    """Log in and check the application; return what works.

    Raises ``InvalidSetting`` without a token, ``CredentialsRefused`` if Discord does not accept it,
    ``PlatformUnavailable`` if Discord cannot be reached, and ``FootnoteError`` if something has to
    be switched on at Discord.
    """
    token = _token_of(settings)
    library_log(token)
    with api_of(settings):
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
        raise FootnoteError(said("check-discord-endpoint"))
    if not may_read_all(application.flags):
        raise FootnoteError(INTENT_HINT + said("check-discord-invite", url=invited))
    name = client.user.name if client.user is not None else application.name
    told = said("check-discord", name=name, count=servers or 0)
    told += said("check-discord-invite", url=invited)
    opened = {
        "FOOTNOTE_DISCORD_STRANGERS=on": settings.discord_strangers == "on",
        "FOOTNOTE_GUESTS=members": settings.guests == "members",
    }
    setting = next((name for name, is_set in opened.items() if is_set), "")
    if setting and application.user_integration_config is not None:
        told += said("check-discord-strangers", setting=setting)
    return told


async def _application(client: discord.Client, token: str) -> discord.AppInfo:
    try:
        async with asyncio.timeout(LOGIN_SECONDS):
            await client.login(token)
            return await client.application_info()
    except discord.LoginFailure:
        raise refused_token() from None
    except (discord.HTTPException, aiohttp.ClientError, OSError) as error:
        raise PlatformUnavailable(
            said("check-discord-away"),
            detail=str(error).split("\n")[0][:200],
        ) from None
