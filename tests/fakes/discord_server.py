"""A strict Discord on loopback: REST, gateway, interactions and CDN on one port.

In a test, with the bot in this process or another one::

    with FakeDiscord() as discord:
        # FOOTNOTE_DISCORD_API_URL=discord.url  DISCORD_TOKEN=discord.token
        guild = discord.guild("Reading room")
        ada, general = discord.member(guild, "Ada"), discord.text(guild, "general")
        discord.wait_connected()
        asked = discord.people.slash(ada, general, "ask", {"question": "Why is the sky blue?"})
        discord.wait(lambda: asked.acknowledged)
        print(discord.transcript(general))

It refuses what the real one refuses, with the same codes. ``discord.requests()`` are the requests
received. ``discord.people`` acts for people, ``discord.gateway`` breaks connections, and ``storm``,
``down``, ``slow`` and ``cut`` disturb the HTTP side. The clock (``discord.clock.advance``) controls
the 3 seconds and 15 minutes of interactions and the lifetime of nonces; rate limits use real time,
because clients wait in real time.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable
from types import TracebackType

from aiohttp import web

from tests.fakes import discord_acts as acts
from tests.fakes import discord_view
from tests.fakes.discord_commands import Commands
from tests.fakes.discord_directory import Directory, Threads
from tests.fakes.discord_gateway import Gateway
from tests.fakes.discord_messages import Messages
from tests.fakes.discord_people import File, People
from tests.fakes.discord_permissions import INVITED, bits
from tests.fakes.discord_rest import PREFIX, Rest
from tests.fakes.discord_search import Searching
from tests.fakes.discord_shapes import guild_create_json, role_json, whole_member_json
from tests.fakes.discord_state import (
    FORUM,
    GROUP,
    TEXT,
    VOICE,
    App,
    Channel,
    Clock,
    Guild,
    Json,
    Message,
    Overwrite,
    Role,
    User,
    World,
)
from tests.fakes.discord_traffic import Outage, Request, Traffic
from tests.fakes.discord_view import Seen
from tests.fakes.discord_webhooks import Interaction, Webhooks
from tests.fakes.server import end

__all__ = [
    "Channel",
    "FakeDiscord",
    "File",
    "Guild",
    "Interaction",
    "Message",
    "Request",
    "Seen",
    "User",
]

HOST = "127.0.0.1"
FOREVER = float("inf")


class FakeDiscord:
    """Starts on entering (or ``start``), on a free port unless ``port`` names one.

    Every public method and property may be used from any thread.
    """

    def __init__(self, port: int = 0) -> None:
        self.world = World()
        self.traffic = Traffic()
        self._changes = threading.Condition()
        self._socket = socket.create_server((HOST, port))
        self.port: int = self._socket.getsockname()[1]
        self.world.cdn = f"http://{HOST}:{self.port}"
        self.gateway = Gateway(self.world, f"ws://{HOST}:{self.port}/gateway", self._changed)
        self.commands = Commands(self.world)
        self.webhooks = Webhooks(self.world)
        self.people = People(self.world, self.gateway, self.commands, self.webhooks)
        self._messages = Messages(self.world)
        self.searching = Searching(self.world)
        self.threads = Threads(self.world)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending: asyncio.Event
        self._thread = threading.Thread(target=self._run, daemon=True, name="fake-discord")
        self._listening = threading.Event()
        self._witness: Callable[[str, bool], bool] = lambda request, done: True

    # Life

    def start(self) -> FakeDiscord:
        self._thread.start()
        if not self._listening.wait(60):
            raise RuntimeError("the fake Discord did not start")
        return self

    def stop(self) -> None:
        if self._loop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._ending.set)
            self._thread.join(20)

    def __enter__(self) -> FakeDiscord:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ending = asyncio.Event()
        runner = web.AppRunner(self._app(), shutdown_timeout=0.2, access_log=None)
        await runner.setup()
        await web.SockSite(runner, self._socket).start()
        self._listening.set()
        await self._ending.wait()
        self.gateway.drop()
        await end(runner, self._socket)

    def _app(self) -> web.Application:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        rest = Rest(self.world, self.traffic, self._changed)
        rest.witness = lambda request, done: self._witness(request, done)
        directory = Directory(self.world, self.gateway)
        for part in (
            self.searching,
            directory,
            self._messages,
            self.threads,
            self.commands,
            self.webhooks,
        ):
            rest.register(app, part.routes())
        app.router.add_get("/gateway", self.gateway.handle)
        app.router.add_get("/gateway/", self.gateway.handle)
        app.router.add_get("/attachments/{path:.*}", self._cdn)
        app.router.add_route("*", PREFIX + "/{path:.*}", rest.unknown_route)
        return app

    async def _cdn(self, request: web.Request) -> web.StreamResponse:
        file = self.world.files.get(request.path)
        if file is None or not self.world.is_signed(request.path, request.query):
            return web.Response(status=404, text="This content is no longer available.")
        return web.Response(body=file[1], headers={"Content-Type": file[0]})

    # Where it is

    def seen_at(self, port: int) -> None:
        """Use the address of a relay, through which it is reached, in its own URLs."""
        self.world.cdn = f"http://{HOST}:{port}"
        self.gateway.url = f"ws://{HOST}:{port}/gateway"

    @property
    def url(self) -> str:
        """Return the value for FOOTNOTE_DISCORD_API_URL."""
        return f"{self.world.cdn}{PREFIX}"

    @property
    def token(self) -> str:
        return self.world.app.token

    @property
    def app(self) -> App:
        """The application's switches: ``content_intent``, ``members_intent``, …"""
        return self.world.app

    @property
    def bot(self) -> User:
        return self.world.bot

    @property
    def clock(self) -> Clock:
        return self.world.clock

    # Places and people

    def guild(self, name: str, *, locale: str = "en-US", installed: bool = True) -> Guild:
        """Add a server, with the bot in it if ``installed`` (else only a user installed it)."""
        with self.world.lock:
            owner = self.world.user(f"{name} owner")
            made = self.world.guild(name, owner, locale=locale, installed=installed)
            if installed:
                role = Role(self.world.new_id(), "Footnote", INVITED, self.world.app.id)
                made.roles.append(role)
                self.world.join(made, self.world.bot).roles.append(role)
                told = guild_create_json(made, self.world, all_members=False)
                self._tell(made, "GUILD_CREATE", told, acts.GUILDS)
            return made

    def user(self, name: str, *, accepts_direct: bool = True) -> User:
        with self.world.lock:
            made = self.world.user(name)
            made.accepts_direct = accepts_direct
            return made

    def member(self, guild: Guild, name: str, *roles: Role) -> User:
        """Add a user to ``guild``."""
        made = self.user(name)
        self.join(guild, made, *roles)
        return made

    def join(self, guild: Guild, user: User, *roles: Role) -> None:
        with self.world.lock:
            member = self.world.join(guild, user)
            member.roles.extend(roles)
            told = whole_member_json(member) | {"guild_id": guild.id}
            self._tell(guild, "GUILD_MEMBER_ADD", told, acts.GUILD_MEMBERS)

    def role(self, guild: Guild, name: str, *permissions: str) -> Role:
        with self.world.lock:
            made = Role(self.world.new_id(), name, bits(*permissions))
            guild.roles.append(made)
            told = {"guild_id": guild.id, "role": role_json(made)}
            self._tell(guild, "GUILD_ROLE_CREATE", told, acts.GUILDS)
            return made

    def _tell(self, guild: Guild, event: str, data: Json, needs: int) -> None:
        if guild.installed:
            self.world.emit(event, lambda _: data, needs=needs, guild=guild)

    def text(self, guild: Guild, name: str) -> Channel:
        return self._channel(TEXT, guild, name)

    def forum(self, guild: Guild, name: str, *tags: str) -> Channel:
        return self._channel(FORUM, guild, name, tags)

    def voice(self, guild: Guild, name: str) -> Channel:
        """Add a voice channel, whose chat has no threads."""
        return self._channel(VOICE, guild, name)

    def app_user(self, name: str) -> User:
        """Add another app's user, which can also stand for a webhook's sender."""
        with self.world.lock:
            return self.world.user(name, bot=True)

    def _channel(self, type: int, guild: Guild, name: str, tags: tuple[str, ...] = ()) -> Channel:
        with self.world.lock:
            made = self.world.channel(type, name, guild)
            made.tags = tags
            acts.tell_channel(self.world, "CHANNEL_CREATE", made)
            return made

    def direct(self, user: User) -> Channel:
        """Return the direct-message channel of ``user`` and the bot."""
        with self.world.lock:
            return self.world.direct(self.world.bot, user)

    def private(self, *users: User) -> Channel:
        """Add a conversation of two people, or a group, without the bot."""
        with self.world.lock:
            if len(users) == 2:
                return self.world.direct(*users)
            made = self.world.channel(GROUP, "Friends")
            made.recipients = list(users)
            return made

    def deny(self, channel: Channel, *permissions: str) -> None:
        """Take the named permissions from the bot in ``channel`` (and its threads)."""
        self._overwrite(channel, permissions, ())

    def allow(self, channel: Channel, *permissions: str) -> None:
        """Give the named permissions to the bot in ``channel`` (and its threads)."""
        self._overwrite(channel, (), permissions)

    def _overwrite(self, channel: Channel, deny: tuple[str, ...], allow: tuple[str, ...]) -> None:
        with self.world.lock:
            own = channel.overwrites.setdefault(self.bot.id, Overwrite(1))
            own.deny = own.deny & ~bits(*allow) | bits(*deny)
            own.allow = own.allow & ~bits(*deny) | bits(*allow)
            acts.tell_channel(self.world, "CHANNEL_UPDATE", channel)

    # Trouble. ``where`` is part of "METHOD /path", e.g. "POST /channels"; "" is everything.

    def storm(
        self, times: float, retry_after: float, *, where: str = "", scope: str = "user"
    ) -> None:
        """Respond to the next ``times`` requests with 429; ``scope``: user, shared or global."""
        self.traffic.trouble("storm", where, times, seconds=retry_after, scope=scope)

    def down(self, kind: Outage = "502", *, where: str = "", times: float = FOREVER) -> None:
        """Let requests fail without effect: connection reset, 500, 502 (HTML) or 503."""
        self.traffic.trouble(kind, where, times)

    def slow(self, seconds: float, *, where: str = "", times: float = FOREVER) -> None:
        self.traffic.trouble("slow", where, times, seconds=seconds)

    def cut(self, *, where: str = "", times: float = 1) -> None:
        """Execute requests, but drop their responses."""
        self.traffic.trouble("cut", where, times)

    def watch(self, witness: Callable[[str, bool], bool]) -> None:
        """Show ``witness`` every request, as "METHOD /path": False before it takes effect, True
        after, if it was not refused.

        If it returns False before, the request counts as never received.
        """
        self._witness = witness

    def black_out(self, kind: Outage = "502") -> None:
        """Let HTTP fail, break gateway connections, and refuse new ones."""
        self.down(kind)
        self.gateway.refuse_connections()
        self.gateway.drop()

    def up(self) -> None:
        """End all disturbances."""
        self.traffic.calm()
        self.gateway.refuse_connections(False)

    # Looking

    def requests(self, method: str = "", where: str = "") -> list[Request]:
        """Return the requests received, in order of completion; ``where`` is part of the path."""
        with self.world.lock:
            return [r for r in self.traffic.requests
                    if r.method.startswith(method) and where in r.path]  # fmt: skip

    def visible(self, channel: Channel, *, to: User | None = None) -> list[Seen]:
        """Return current messages in order; ephemeral ones only ``to`` their reader."""
        with self.world.lock:
            return discord_view.visible(channel, self.world, to)

    def transcript(self, channel: Channel, *, to: User | None = None) -> str:
        """Return everything visible as plain text."""
        return discord_view.render(self.visible(channel, to=to))

    def posts(self, channel: Channel, *, to: User | None = None) -> list[Seen]:
        """Return the bot's visible messages, without Discord's own notices."""
        return [m for m in self.visible(channel, to=to) if m.by_bot and m.type not in (18, 21)]

    def message(self, channel: Channel, seen: Seen | str) -> Message:
        """Return the message behind a ``Seen``, for people to act on."""
        with self.world.lock:
            return channel.messages[seen if isinstance(seen, str) else seen.id]

    def threads_in(self, parent: Channel) -> list[Channel]:
        with self.world.lock:
            return [c for c in self.world.channels.values() if c.parent is parent]

    def thread_of(self, message: Message) -> Channel | None:
        with self.world.lock:
            return message.thread

    def pings(self) -> list[tuple[str, frozenset[str]]]:
        """Return the bot's messages that notified someone: text, ids (or ``everyone``)."""
        with self.world.lock:
            return [
                (message.content, frozenset(message.pings))
                for channel in self.world.channels.values()
                for message in channel.messages.values()
                if message.author is self.bot and message.pings
            ]

    def registered(self, guild: Guild | None = None) -> list[Json]:
        """Return application commands, global or of one guild."""
        with self.world.lock:
            return [*self.commands.by_scope.get(guild.id if guild else "", {}).values()]

    # Waiting

    def _changed(self) -> None:
        with self._changes:
            self._changes.notify_all()

    def wait(self, condition: Callable[[], object], seconds: float = 60.0) -> None:
        """Block until ``condition`` holds; for tests whose bot runs elsewhere."""
        until = time.monotonic() + seconds
        while not condition():
            with self._changes:
                self._changes.wait(0.02)
            if time.monotonic() > until:
                raise TimeoutError(f"it did not come true within {seconds} s")

    async def until(self, condition: Callable[[], object], seconds: float = 60.0) -> None:
        """The same for tests whose bot runs in this event loop."""
        until = time.monotonic() + seconds
        while not condition():
            await asyncio.sleep(0.005)
            if time.monotonic() > until:
                raise TimeoutError(f"it did not come true within {seconds} s")

    def wait_connected(self, seconds: float = 60.0) -> None:
        self.wait(lambda: self.gateway.connected, seconds)
