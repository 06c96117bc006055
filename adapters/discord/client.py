"""The gateway client, which subscribes to and caches as little as possible, and outlives events
that discord.py cannot parse."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import re
import sys
from collections.abc import Callable, Coroutine, Iterable, Iterator
from dataclasses import replace
from typing import Any, Literal

import aiohttp
import discord
import yarl
from discord import app_commands
from discord.gateway import DiscordWebSocket
from discord.http import Route

from adapters.discord.conversations import Servers
from adapters.discord.messages import Place, without_spare
from adapters.discord.rest import RestClient, log_failure, paced
from adapters.discord.settings import DiscordSettings
from bot.core.egress import DIRECT, Egress
from bot.core.errors import CredentialsRefused, FootnoteError, Invalid, PlatformUnavailable
from bot.core.logs import get_logger, redirect_library
from bot.core.measurements import PlatformCalls
from bot.core.messages import Author
from bot.core.texts import said
from bot.service.platform import Connection

log = get_logger()

INTENT_HINT = said("check-discord-intent")
# Footnote does not use voice, and every client would warn about missing libraries.
discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False

FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0  # seconds between attempts to reach Discord
# How long to wait for the servers' data after connecting.
GUILDS_SECONDS = 1.0
STANDING_SECONDS = 1.5  # an interaction must be acknowledged within three
# discord.com/developers/docs/topics/opcodes-and-status-codes#gateway
AUTHENTICATION_FAILED, INVALID_SHARD, SHARDING_REQUIRED = 4004, 4010, 4011

_VERSION = re.compile(r"^(?:/api)?(?:/v\d+)?(?=/|$)")
# The parts of a path that name resources; all others are ids, tokens or emoji.
# discord.com/developers/docs/reference#http-api
_RESOURCE = re.compile(r"[a-z]+(?:-[a-z]+)*|@me|@original|oauth2")
_TOKEN_IN_ADDRESS = re.compile(r"(/(?:webhooks|interactions)/\d+/)[^/\s?'\"]+")

_AWAY = (
    aiohttp.ClientError,
    OSError,
    asyncio.TimeoutError,
    discord.HTTPException,
    discord.GatewayNotFound,
    discord.ConnectionClosed,
    # discord.py raises it after more than an hour of attempts to open a WebSocket.
    RecursionError,
)

Event = Callable[..., Coroutine[Any, Any, None]]


def method_of(url: str) -> str:
    """Return the resource of a URL of Discord's API, without ids: "channels/*/messages"."""
    path = _VERSION.sub("", yarl.URL(url).path)
    parts = [part if _RESOURCE.fullmatch(part) else "*" for part in path.split("/") if part]
    return "/".join(parts[:6]) or "gateway"


class FootnoteClient(discord.AutoShardedClient):
    """Caches servers and channels, but no members and no messages."""

    guilds_seconds = GUILDS_SECONDS

    def __init__(
        self,
        calls: PlatformCalls | None = None,
        egress: Egress = DIRECT,
        strangers: Literal["off", "on"] = "off",
    ) -> None:
        self.connection = Connection()
        self.egress = egress
        self._strangers = strangers
        self._servers = Servers(RestClient(self))
        self._work: set[asyncio.Task[Any]] = set()
        self._wanted = discord.Intents(
            guilds=True,  # channels, threads, roles
            guild_messages=True,
            dm_messages=True,
            guild_reactions=True,  # for stop reactions
            dm_reactions=True,
            message_content=True,  # privileged; without it follow-ups need a mention
        )
        super().__init__(
            intents=self._wanted,
            max_messages=None,
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            guild_ready_timeout=self.guilds_seconds,
            allowed_mentions=discord.AllowedMentions.none(),
            enable_debug_events=False,
            proxy=egress.proxy_for(Route.BASE) or None,
            http_trace=paced((calls or PlatformCalls()).trace("discord", method_of)),
        )
        self.tree: app_commands.CommandTree[FootnoteClient] = app_commands.CommandTree(
            self,
            allowed_installs=app_commands.AppInstallationType(guild=True, user=True),
            allowed_contexts=app_commands.AppCommandContext(
                guild=True, dm_channel=True, private_channel=True
            ),
        )

    def _get_state(self, **options: Any) -> Any:
        """Override discord.py's hook that sets the parsers of events."""
        state = super()._get_state(**options)
        state.parsers = SafeParsers().wrapped(state.parsers)
        return state

    async def with_standing(self, author: Author, place: Place) -> Author:
        """Return the author of a message or an interaction, as a guest if they are in none of the
        bot's servers: anybody can install the app for themselves. ``guest`` is None if Discord does
        not tell in time, which lets them see as little as a guest."""
        if place.audience == "channel" or self._strangers == "on":
            return author
        try:
            async with asyncio.timeout(STANDING_SECONDS):
                return replace(author, guest=not await self._servers.has_member(author.id))
        except (TimeoutError, PlatformUnavailable) as error:
            log.warning("standing not known", person=author.id, error=str(error))
            return replace(author, guest=None)

    def listen(self, events: Iterable[Event]) -> None:
        for event in events:
            self.event(self._counted(event))

    def _counted(self, event: Event) -> Event:
        @functools.wraps(event)
        async def counted(*args: Any) -> None:
            with self.at_work():
                await event(*args)

        return counted

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Count the block among the work that is finished before the platform ends."""
        task = asyncio.current_task()
        if task is None or task in self._work:
            yield
            return
        self._work.add(task)
        try:
            yield
        finally:
            self._work.discard(task)

    async def finish_work(self, seconds: float) -> None:
        """Wait for the events being handled, and cancel those that take longer than ``seconds``."""
        if self._work:
            _, late = await asyncio.wait(self._work, timeout=seconds)
            for task in late:
                task.cancel()

    async def on_error(self, event_method: str, /, *args: Any, **kwargs: Any) -> None:
        error = sys.exc_info()[1]
        if error is not None:
            log_failure(event_method, error)

    # ------------------------------------------------------------ connecting

    async def login(self, token: str) -> None:
        """Log in as discord.py does, but over connections of the egress."""
        if self.http.connector is discord.utils.MISSING:
            self.http.connector = self.egress.connector(limit=0)
        await super().login(token)

    async def log_in(self, token: str) -> None:
        """Log in, retrying until it works. Raises ``CredentialsRefused``."""
        wait = FIRST_WAIT
        while True:
            try:
                return await self.login(token)
            except discord.LoginFailure:
                await self._forget_connections()
                raise refused_token() from None
            except _AWAY as error:
                self.connection.mark_unreachable(f"Discord cannot be reached: {_told(error)}.")
                log.warning("discord not reached", error=_told(error), again_in=wait)
                await self._forget_connections()
            await asyncio.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)

    async def stay_connected(self, token: str) -> None:
        """Listen to the gateway until cancelled, and reconnect whenever the connection is lost.

        Raises ``CredentialsRefused`` if the token is not accepted any more, and ``Invalid`` if
        Discord does not let the application connect in this way.
        """
        if not may_read_all(self.application_flags):
            self._do_without_content()
        wait = FIRST_WAIT
        try:
            while True:
                began = asyncio.get_running_loop().time()
                try:
                    await self._choose_gateway()
                    await self.connect()
                except discord.PrivilegedIntentsRequired:  # it was switched off after the login
                    self._do_without_content()
                except Exception as error:  # noqa: BLE001  (discord.py's own slips, see SafeParsers)
                    self._judge(error)
                    self.connection.mark_unreachable(f"Discord's gateway is gone: {_told(error)}.")
                    log.warning("discord connection lost", error=_told(error), again_in=wait)
                if asyncio.get_running_loop().time() - began > LONGEST_WAIT:
                    wait = FIRST_WAIT
                await asyncio.sleep(wait)
                wait = min(2 * wait, LONGEST_WAIT)
                await self._reopen(token)
        finally:
            # REST stays open, so that answers in progress can be posted.
            for shard in self.shards.values():
                await shard.disconnect()

    async def _choose_gateway(self) -> None:
        """Replace the fixed address that discord.py uses after an invalidated session, if the API
        is not Discord's own."""
        if Route.BASE != _OFFICIAL:
            _, url, _ = await self.http.get_bot_gateway()
            DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(url)

    def _do_without_content(self) -> None:
        if self.intents.message_content:
            # The connection state shares this object.
            self._wanted.message_content = False
            log.warning("no message content", hint=str(INTENT_HINT))

    def _judge(self, error: BaseException) -> None:
        """Raise if reconnecting cannot help."""
        if isinstance(error, FootnoteError):
            raise error
        if not isinstance(error, discord.ConnectionClosed):
            return
        if error.code == AUTHENTICATION_FAILED:
            raise refused_token() from None
        if error.code in (INVALID_SHARD, SHARDING_REQUIRED):
            self.shard_count = None  # type: ignore[assignment]  # asks again
        elif error.code != 1000:
            raise Invalid(
                f"Discord closes the connection with code {error.code}: check the application at "
                "https://discord.com/developers/applications."
            ) from None

    async def _reopen(self, token: str) -> None:
        if not self.is_closed():
            await self.close()
        await self._forget_connections()
        self.clear()
        await self._async_setup_hook()
        await self.log_in(token)

    async def _forget_connections(self) -> None:
        await self.http.close()
        self.http.connector = discord.utils.MISSING
        self.http.clear()


_OFFICIAL = Route.BASE


def refused_token() -> CredentialsRefused:
    return CredentialsRefused(said("check-discord-token"))


def may_read_all(flags: discord.ApplicationFlags) -> bool:
    """Return True if the message-content intent is on; "limited" is its form for small bots."""
    return flags.gateway_message_content or flags.gateway_message_content_limited


def _told(error: BaseException) -> str:
    """Return an error as one line, because proxies send whole pages."""
    if isinstance(error, discord.HTTPException):
        return f"HTTP {error.status}"
    return (str(error) or type(error).__name__).splitlines()[0][:200]


@contextlib.contextmanager
def api_of(settings: DiscordSettings) -> Iterator[None]:
    """Use the API of the settings, in the whole process, because discord.py has only one."""
    base, gateway = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    Route.BASE = settings.discord_api_url.rstrip("/")
    try:
        yield
    finally:
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = base, gateway


def library_log(token: str = "") -> None:
    """Redirect discord.py's log to ours, without secrets: it contains URLs, and those of
    interactions hold the token with which anyone can respond to them, and the bot's ``token``."""

    def masked(text: str) -> str:
        text = _TOKEN_IN_ADDRESS.sub(r"\1***", text)
        return text.replace(token, "***") if token else text

    redirect_library("discord", masked)


# ---------------------------------------------------------------- unparsable events

Parser = Callable[[Any], None]

READY = "READY"  # without it there is no session: the client reconnects
VOICE, STAGE = 2, 13  # types of channels in which Footnote does not answer
MOST_TOLD = 100  # kinds of errors that are logged, once each

# Fields that Footnote can do without.
_OF_SERVER = ("emojis", "stickers")
_SPARE = {
    "GUILD_CREATE": (
        *(*_OF_SERVER, "voice_states", "presences", "stage_instances"),
        *("guild_scheduled_events", "soundboard_sounds"),
    ),
    "GUILD_UPDATE": _OF_SERVER,
}
_LISTS = {"emojis", "stickers", "voice_states", "presences"}


class SafeParsers:
    """Wraps one client's parsers. An event that they cannot parse is parsed again without the
    fields that Footnote does not need, or skipped.

    discord.py (2.7) passes such an error on to the client's caller, which ends the connection.
    """

    def __init__(self) -> None:
        self._told: set[tuple[str, str]] = set()

    def wrapped(self, parsers: dict[str, Parser]) -> dict[str, Parser]:
        """Return the same parsers, of which only that of ``READY`` raises."""
        return {
            event: parser if event == READY else functools.partial(self._parse, event, parser)
            for event, parser in parsers.items()
        }

    def _parse(self, event: str, parser: Parser, data: Any) -> None:
        try:
            return parser(data)
        except Exception as error:  # noqa: BLE001  (of any kind: the event is foreign)
            spare = _without_spare(event, data)
            self._tell(event, error, again=spare is not None)
        if spare is None:
            return None
        try:
            return parser(spare)
        except Exception as error:  # noqa: BLE001
            self._tell(event, error, again=False)
        return None

    def _tell(self, event: str, error: Exception, *, again: bool) -> None:
        kind = event, f"{type(error).__name__}: {error}"[:200]
        if kind in self._told or len(self._told) >= MOST_TOLD:
            return
        self._told.add(kind)
        then = "read without what is not needed" if again else "skipped"
        log.warning("discord event not parsed", event_name=event, error=kind[1], then=then)


def _without_spare(event: str, data: Any) -> dict[str, Any] | None:
    """Return the event's data without the fields that Footnote does not need; None if it has none
    of them."""
    if event in ("MESSAGE_CREATE", "MESSAGE_UPDATE") and isinstance(data, dict):
        return without_spare(data)
    if event not in _SPARE or not isinstance(data, dict):
        return None
    kept = {name: value for name, value in data.items() if name not in _SPARE[event]}
    kept |= {name: [] for name in _LISTS & data.keys() & set(_SPARE[event])}
    channels = data.get("channels")
    if isinstance(channels, list):
        kept["channels"] = [
            channel
            for channel in channels
            if isinstance(channel, dict) and channel.get("type") not in (VOICE, STAGE)
        ]
    return kept
