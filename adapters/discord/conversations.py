"""Discord's own messages as a source, through the search of each server, and who may read what.

``GET /guilds/{guild.id}/messages/search`` finds what the bot may see, so every search names the
channels that the readers of the answer may see: in a server, those that every member may read and
the one with the question; in a direct message, those that the asker may read. Only the asker learns
that there are results in other channels. Private threads and Footnote's own threads are left out.
While Discord builds a server's index, it responds with 202.

All of it uses only REST, so it works in a process without a gateway. Permissions are computed as in
https://docs.discord.com/developers/topics/permissions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import Any

import discord
from cachetools import TTLCache

from adapters.discord.format import Look
from adapters.discord.messages import DiscordMessage
from adapters.discord.reply import Post, nonce_of, tell_directly
from adapters.discord.rest import DiscordRefused, RestClient
from bot.core.errors import (
    Broken,
    PageUnreadable,
    PlatformUnavailable,
    ProviderUnavailable,
    Refused,
)
from bot.core.logs import get_logger
from bot.core.posting import RunRef
from bot.core.reader import Reader
from bot.core.texts import texts_for
from bot.pages.page import Page
from bot.search.conversation_search import page_of, period_of, title_of, words_of_topic
from bot.search.provider import Hit, ProviderKind, Query
from bot.service.access import IN_NO_SERVER
from bot.text.terms import keywords

READING = discord.Permissions(view_channel=True, read_message_history=True).value
ADMINISTRATOR = discord.Permissions(administrator=True).value
WITH_MESSAGES = (0, 5, 15)  # types of channels: text, announcements, forums
PUBLIC_THREADS = (10, 11)
SERVERS_REMEMBERED, MEMBERS_REMEMBERED = 200, 10_000
SERVERS_SECONDS = MEMBERS_SECONDS = 60.0
SERVERS_ASKED = 200  # servers asked for their roles: one page of the list
ROLES_SECONDS = 3_600.0  # how long the roles of a server are cached

SEARCHES_AT_ONCE = 2  # concurrent searches of messages, for all questions
PAGE = 25  # largest number of results of one call
CHANNELS = 500  # largest number of channels that one search may name
SERVERS = 5  # servers searched for a question in a direct message
ASKED = 40  # servers of the bot that are checked for the asker's membership
AROUND = 9  # messages of a channel that are read with a hit
THREAD = 50  # messages of a thread that are read
INDEXING_SECONDS = 4.0  # how long a search waits for a server's index
SNIPPET = 600  # characters
FEW = 2  # words of a query that are tried if no message contains all of them

log = get_logger()


# ---------------------------------------------------------------- servers and members


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel with messages. ``overwrites`` are the permissions that it allows and denies, by the
    id of a role or member."""

    name: str
    overwrites: Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Server:
    """A server's channels with messages, by id, and its roles' permissions."""

    id: str
    owner: str
    channels: Mapping[str, Channel]
    roles: Mapping[str, int]

    def open_to_all(self) -> frozenset[str]:
        """Return the channels that every member may read: none denies a role or a member."""
        return frozenset(
            id
            for id, channel in self.channels.items()
            if _applied(self.roles.get(self.id, 0), channel, [self.id]) & READING == READING
            and not any(
                denied & READING for to, (_, denied) in channel.overwrites.items() if to != self.id
            )
        )

    def readable_by(self, person: str, roles: Sequence[str]) -> frozenset[str]:
        """Return the channels that a member with these roles may read."""
        held = 0
        for role in (self.id, *roles):
            held |= self.roles.get(role, 0)
        if person == self.owner or held & ADMINISTRATOR:
            return frozenset(self.channels)
        readable = set()
        for id, channel in self.channels.items():
            permissions = held
            for level in ([self.id], roles, [person]):
                permissions = _applied(permissions, channel, level)
            if permissions & READING == READING:
                readable.add(id)
        return frozenset(readable)


def _applied(permissions: int, channel: Channel, to: Iterable[str]) -> int:
    """Apply a channel's overwrites for roles or members of one level."""
    allow = deny = 0
    for id in to:
        allowed, denied = channel.overwrites.get(id, (0, 0))
        allow, deny = allow | allowed, deny | denied
    return permissions & ~deny | allow


def _channel(raw: Mapping[str, Any]) -> Channel:
    overwrites = {
        str(each["id"]): (int(each.get("allow") or 0), int(each.get("deny") or 0))
        for each in raw.get("permission_overwrites") or ()
    }
    return Channel(str(raw.get("name") or ""), overwrites)


class Servers:
    """Looks servers and members up, each at most once a minute.

    Every method raises ``PlatformUnavailable``. Each search of messages acquires ``searching``, so
    that many concurrent questions leave requests for posting answers.
    """

    def __init__(self, rest: RestClient) -> None:
        self._rest = rest
        self.searching = asyncio.Semaphore(SEARCHES_AT_ONCE)
        self._known: TTLCache[str, Server] = TTLCache(SERVERS_REMEMBERED, SERVERS_SECONDS)
        self._members: TTLCache[tuple[str, str], list[str] | None] = TTLCache(
            MEMBERS_REMEMBERED, MEMBERS_SECONDS
        )
        self._roles: TTLCache[str, dict[str, frozenset[str]]] = TTLCache(1, ROLES_SECONDS)

    async def server(self, id: str) -> Server | None:
        """Return a server; None if the bot is not in it."""
        if (known := self._known.get(id)) is None:
            try:
                about, channels = await asyncio.gather(
                    self._rest.request("GET", "/guilds/{guild_id}", guild_id=id),
                    self._rest.request("GET", "/guilds/{guild_id}/channels", guild_id=id),
                )
            except DiscordRefused:
                return None
            known = self._known[id] = Server(
                id,
                str(about.get("owner_id") or ""),
                {str(c["id"]): _channel(c) for c in channels if c["type"] in WITH_MESSAGES},
                {str(role["id"]): int(role["permissions"]) for role in about.get("roles") or ()},
            )
        return known

    async def readable_by(self, id: str, person: str) -> tuple[Server, frozenset[str]] | None:
        """Return a server with the channels that a person may read; None if they are not a
        member."""
        roles = await self._roles_of(id, person)
        server = None if roles is None else await self.server(id)
        if server is None or roles is None:
            return None
        return server, server.readable_by(person, roles)

    async def has_member(self, person: str) -> bool:
        """Return True if a person is in any server of the bot."""
        for id in await self.ids(SERVERS_ASKED):
            if await self._roles_of(id, person) is not None:
                return True
        return False

    async def roles_held(self, person: str, among: Collection[str]) -> frozenset[str]:
        """Return the roles among ``among`` that a person has now in any server of the bot, because
        Discord sends no roles with direct messages."""
        wanted = frozenset(among)
        servers = self._roles.get("")
        if servers is None:
            servers = self._roles[""] = await self._roles_of_servers()
        found: set[str] = set()
        for server, roles in servers.items():
            if wanted & roles:
                found |= wanted.intersection(await self._roles_of(server, person) or ())
        return frozenset(found)

    async def _roles_of_servers(self) -> dict[str, frozenset[str]]:
        found = {}
        for id in await self.ids(SERVERS_ASKED):
            roles = await self._asked("/guilds/{guild_id}/roles", guild_id=id)
            found[id] = frozenset(str(role["id"]) for role in roles or ())
        return found

    async def _roles_of(self, id: str, person: str) -> list[str] | None:
        try:
            return self._members[id, person]
        except KeyError:
            member = await self._asked(
                "/guilds/{guild_id}/members/{user_id}", guild_id=id, user_id=person
            )
        roles = None if member is None else [str(role) for role in member.get("roles") or ()]
        self._members[id, person] = roles
        return roles

    async def _asked(self, path: str, guild_id: str, user_id: str = "") -> Any:
        """Return Discord's response; None if the person is not a member, or the bot is no longer in
        the server."""
        try:
            return await self._rest.request("GET", path, guild_id=guild_id, user_id=user_id)
        except DiscordRefused:
            return None

    async def ids(self, most: int) -> list[str]:
        """Return the ids of the servers that the bot is in, at most ``most``."""
        told = await self._rest.request("GET", "/users/@me/guilds", query={"limit": most})
        return [str(server["id"]) for server in told]


# ---------------------------------------------------------------- messages as a source


@dataclass(frozen=True, slots=True)
class _Found:
    """A message that was found, and the name of its channel, or of its thread's channel."""

    message: DiscordMessage
    channel: str
    in_thread: bool


class DiscordConversations:
    """See the module docstring, and ``bot.search.conversation_search.ConversationSearch``."""

    name = "discord"
    kind: ProviderKind = "knowledge"

    def __init__(self, rest: RestClient, servers: Servers, run: RunRef, reader: Reader) -> None:
        self._rest = rest
        self._servers = servers
        self._run = run
        self._direct = reader.surface == "direct"
        self._found: dict[str, _Found] = {}
        self._answers: dict[str, list[_Found]] = {}  # by the arguments of the call
        self._ended = ""  # the reason why Discord refuses further searches for this question
        self._has_looked_further = False
        self._is_more_elsewhere = False

    # ------------------------------------------------------------ searching

    async def search(self, query: Query) -> list[Hit]:
        if self._ended:
            raise Refused(self._ended)
        try:
            places = await self._places()
            found = [
                each
                for server, channels in places
                for each in await self._in_server(server, channels, query)
            ]
            if not self._direct and not self._has_looked_further:
                for server, channels in places:
                    await self._look_further(server, channels, query)
        except PlatformUnavailable as away:
            raise ProviderUnavailable(
                "Discord does not answer searches now.",
                detail=away.detail,
                retry_after=away.retry_after,
            ) from away
        except DiscordRefused as refused:
            raise Broken(
                f"Discord refuses to search messages ({refused.code}).", detail=refused.detail
            ) from refused
        hits: dict[str, Hit] = {}
        for each in found:
            url = each.message.url
            self._found[url] = each
            hits.setdefault(url, Hit(_title(each), url, each.message.text[:SNIPPET], self.name))
        return list(hits.values())[: query.limit]

    async def _places(self) -> Sequence[tuple[Server, frozenset[str]]]:
        thread = self._run.message.thread
        if not self._direct:
            server = await self._servers.server(thread.workspace)
            if server is None:
                return ()
            here = {thread.channel} & server.channels.keys()
            return ((server, server.open_to_all() | here),)
        person = self._run.message.author.id
        ids = await self._servers.ids(ASKED)
        found = await asyncio.gather(*(self._servers.readable_by(id, person) for id in ids))
        return [each for each in found if each is not None and each[1]][:SERVERS]

    async def _look_further(self, server: Server, told: frozenset[str], query: Query) -> None:
        """Record whether the asker may read a matching message in channels outside ``told``, for
        the question's first query only: later ones are shorter and match almost anything.

        A failure is only logged, since the search itself has succeeded.
        """
        self._has_looked_further = True
        try:
            seen = await self._servers.readable_by(server.id, self._run.message.author.id)
            others = (seen[1] if seen else frozenset()) - told
            found = await self._in_server(server, others, query, exactly=True)
        except (PlatformUnavailable, DiscordRefused, Refused, Broken) as error:
            log.info("other channels not searched", run=self._run.id, error=str(error))
        else:
            self._is_more_elsewhere = bool(found)

    async def _in_server(
        self, server: Server, channels: frozenset[str], query: Query, *, exactly: bool = False
    ) -> list[_Found]:
        if not channels:
            return []
        filters: dict[str, Any] = {
            "channel_id": sorted(channels)[:CHANNELS],
            "author_type": "-bot",
            "sort_by": "relevance",
            "limit": PAGE,
        }
        after, before = period_of(query, datetime.now(UTC))
        if after is not None:
            filters["min_id"] = str(discord.utils.time_snowflake(after))
        if before is not None:
            filters["max_id"] = str(discord.utils.time_snowflake(before))
        if query.talk.people:
            filters["author_id"] = await self._people(server, query.talk.people)
            if not filters["author_id"]:
                return []
        said = words_of_topic(query)[:1_024]
        found = await self._ask(server, channels, {**filters, "content": said})
        # Discord finds only messages with all the words: the longest ones are tried alone.
        words = sorted(keywords(said), key=len, reverse=True)
        if not found and len(words) > FEW and not exactly:
            found = await self._ask(server, channels, {**filters, "content": " ".join(words[:FEW])})
        return found

    async def _people(self, server: Server, names: Sequence[str]) -> list[str]:
        found = await asyncio.gather(
            *(
                self._rest.request(
                    "GET",
                    "/guilds/{guild_id}/members/search",
                    query={"query": name.removeprefix("@"), "limit": 10},
                    guild_id=server.id,
                )
                for name in names
            )
        )
        return list(dict.fromkeys(str(each["user"]["id"]) for members in found for each in members))

    async def _ask(
        self, server: Server, channels: frozenset[str], filters: Mapping[str, Any]
    ) -> list[_Found]:
        asked = repr((server.id, sorted(filters.items())))
        if asked not in self._answers:
            self._answers[asked] = await self._called(server, channels, filters)
        return self._answers[asked]

    async def _called(
        self, server: Server, channels: frozenset[str], filters: Mapping[str, Any]
    ) -> list[_Found]:
        until = monotonic() + INDEXING_SECONDS
        while True:
            async with self._servers.searching:
                reply = await self._rest.request(
                    "GET",
                    "/guilds/{guild_id}/messages/search",
                    query=dict(filters),
                    guild_id=server.id,
                )
            if not isinstance(reply, dict):
                raise Broken("Discord's answer to a search cannot be read.")
            if "messages" in reply:
                return list(self._of_reply(server, channels, reply))
            wait = max(float(reply.get("retry_after") or 0), 0.5)
            if monotonic() + wait > until:
                self._ended = (
                    "Its index of messages is still being built: ask again later to search them, "
                    "too."
                )
                raise Refused(self._ended, detail=str(reply)[:200])
            await asyncio.sleep(wait)

    def _of_reply(
        self, server: Server, channels: frozenset[str], reply: Mapping[str, Any]
    ) -> Iterable[_Found]:
        """Yield the messages of a response that may be used: what people said among themselves, not
        in the thread of the question, and not in another thread that Footnote made. The search
        already names its channels; each message is checked again, in case Discord returns more."""
        threads = {str(each["id"]): each for each in reply.get("threads") or ()}
        asked = self._run.message.thread
        here = (asked.thread, asked.channel if asked.workspace == IN_NO_SERVER else "")
        for raw in (each for group in reply["messages"] for each in group):
            message = self._rest.parsed(raw, server.id)
            thread = threads.get(message.channel)
            channel = message.channel if thread is None else str(thread["parent_id"])
            is_usable = thread is None or (
                thread.get("type") in PUBLIC_THREADS
                and str(thread.get("owner_id")) != self._rest.user_id
            )
            is_elsewhere = message.channel not in here
            if channel in channels and is_usable and is_elsewhere and self._is_usable(message):
                yield _Found(message, server.channels[channel].name, thread is not None)

    def _is_usable(self, message: DiscordMessage) -> bool:
        is_asked = message.id == self._run.message.event_id
        return message.is_said and bool(message.text) and not (message.mentions_us or is_asked)

    # ------------------------------------------------------------ reading

    def reads(self, url: str) -> bool:
        return url in self._found

    async def read(self, url: str) -> Page:
        """Return a message with its thread, or with the messages around it if it has none."""
        found = self._found[url]
        message = found.message
        try:
            most = THREAD if found.in_thread else AROUND
            said = await self._messages(message.channel, {"around": message.id, "limit": most})
            if message.begun:
                said += await self._messages(message.begun, {"limit": THREAD})
        except (DiscordRefused, PlatformUnavailable) as error:
            log.info("thread not read", url=url, error=str(error))
            said = [message]
        told = {
            int(each.id): (each.author.name, each.at, each.text)
            for each in said
            if self._is_usable(each)
        }
        if int(message.id) not in told:
            raise PageUnreadable("The message is gone.")
        ordered = [told[id] for id in sorted(told)]
        return page_of(url, _title(found), ordered, datetime.now(UTC), self._run.id)

    async def _messages(self, channel: str, query: dict[str, Any]) -> list[DiscordMessage]:
        told = await self._rest.request(
            "GET", "/channels/{channel_id}/messages", query=query, channel_id=channel
        )
        return [self._rest.parsed(raw) for raw in told]

    async def answer_posted(self) -> None:
        if not self._is_more_elsewhere:
            return
        asked, run = self._run.message, self._run.id
        text = texts_for(asked.locale)("more-elsewhere-here", channel=f"<#{asked.thread.channel}>")
        try:
            await tell_directly(
                self._rest, asked.author.id, Post(Look(text), nonce=nonce_of(run, 0, -3))
            )
        except (DiscordRefused, PlatformUnavailable) as error:
            log.info("asker not told of more", run=run, error=str(error))


def _title(found: _Found) -> str:
    return title_of(found.message.author.name, f"#{found.channel}", found.message.at)
