"""Discord's own messages as a source, through the search of each server.

``GET /guilds/{guild.id}/messages/search`` finds what the bot may see, so every search names the
channels that the readers of the answer may see: in a server, those that every member may read and
the one with the question; in a direct message, those that the asker may read. Only the asker learns
that there are results in other channels. Private threads and Footnote's own threads are left out.
While Discord builds a server's index, it responds with 202.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import Any

import discord

from adapters.discord.format import Look
from adapters.discord.incoming import mentions_in
from adapters.discord.outlet import Post, nonce_of, tell_directly
from adapters.discord.reading import SAID, name_of, text_of_raw
from adapters.discord.visible import Server, Servers
from adapters.discord.wire import DiscordRefused, Wire
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

PAGE = 25  # largest number of results of one call
CHANNELS = 500  # largest number of channels that one search may name
SERVERS = 5  # servers searched for a question in a direct message
ASKED = 40  # servers of the bot that are checked for the asker's membership
AROUND = 9  # messages of a channel that are read with a hit
THREAD = 50  # messages of a thread that are read
INDEXING_SECONDS = 4.0  # how long a search waits for a server's index
SNIPPET = 600  # characters
PUBLIC_THREADS = (10, 11)
FEW = 2  # words of a query that are tried if no message contains all of them

Raw = Mapping[str, Any]

log = get_logger()


@dataclass(frozen=True, slots=True)
class _Found:
    """A message that was found; ``thread`` is the thread that contains it, or None."""

    server: Server
    channel: str
    thread: Raw | None
    message: Raw


class DiscordConversations:
    """See the module docstring, and ``bot.search.conversation_search.ConversationSearch``."""

    name = "discord"
    kind: ProviderKind = "knowledge"

    def __init__(self, wire: Wire, servers: Servers, run: RunRef, reader: Reader) -> None:
        self._wire = wire
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
            url = f"https://discord.com/channels/{each.server.id}"
            url += f"/{each.message['channel_id']}/{each.message['id']}"
            self._found[url] = each
            words = text_of_raw(each.message, self._wire.user_id)
            hits.setdefault(url, Hit(_title(each), url, words[:SNIPPET], self.name))
        return list(hits.values())[: query.limit]

    async def _places(self) -> Sequence[tuple[Server, frozenset[str]]]:
        """Return the servers to search, with the channels whose messages may be used."""
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
        """Return the ids of the members with these names."""
        found = await asyncio.gather(
            *(
                self._wire.request(
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
                reply = await self._wire.request(
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

    def _of_reply(self, server: Server, channels: frozenset[str], reply: Raw) -> Iterable[_Found]:
        """Yield the messages of a response that may be used. The search already names its channels;
        each message is checked again, in case Discord returns more."""
        threads = {str(each["id"]): each for each in reply.get("threads") or ()}
        for message in (each for group in reply["messages"] for each in group):
            where = str(message["channel_id"])
            thread = threads.get(where)
            channel = str(thread["parent_id"]) if thread is not None else where
            is_public = thread is None or thread.get("type") in PUBLIC_THREADS
            if channel in channels and is_public and self._is_wanted(message, thread):
                yield _Found(server, channel, thread, message)

    def _is_wanted(self, message: Raw, thread: Raw | None) -> bool:
        """Return True for what people said among themselves: not in the thread of the question, and
        not in another thread that Footnote made."""
        if thread is not None and str(thread.get("owner_id")) == self._wire.user_id:
            return False
        asked = self._run.message.thread
        here = (asked.thread, asked.channel if asked.workspace == IN_NO_SERVER else "")
        return self._is_said(message) and str(message["channel_id"]) not in here

    def _is_said(self, message: Raw) -> bool:
        """Return True if a person wrote the message and it is not a question to Footnote."""
        ours, content = self._wire.user_id, str(message.get("content") or "")
        if message.get("type") not in SAID or not content or message.get("webhook_id"):
            return False
        to_us = mentions_in(content).intersection((f"<@{ours}>", f"<@!{ours}>"))
        is_asked = str(message["id"]) == self._run.message.event_id
        return not (to_us or is_asked or message["author"].get("bot"))

    # ------------------------------------------------------------ reading

    def reads(self, url: str) -> bool:
        return url in self._found

    async def read(self, url: str) -> Page:
        """Return a message with its thread, or with the messages around it if it has none."""
        found = self._found[url]
        id, where = str(found.message["id"]), str(found.message["channel_id"])
        most = AROUND if found.thread is None else THREAD
        try:
            said = await self._messages(where, {"around": id, "limit": most})
            if found.message.get("thread"):
                begun = str(found.message["thread"]["id"])
                said += await self._messages(begun, {"limit": THREAD})
        except (DiscordRefused, PlatformUnavailable) as error:
            log.info("thread not read", url=url, error=str(error))
            said = [found.message]
        told = {
            int(each["id"]): (
                name_of(each["author"]),
                _at(each["id"]),
                text_of_raw(each, self._wire.user_id),
            )
            for each in said
            if self._is_said(each)
        }
        if int(id) not in told:
            raise PageUnreadable("The message is gone.")
        ordered = [told[id] for id in sorted(told)]
        return page_of(url, _title(found), ordered, datetime.now(UTC), self._run.id)

    async def _messages(self, channel: str, query: dict[str, Any]) -> list[Raw]:
        told = await self._wire.request(
            "GET", "/channels/{channel_id}/messages", query=query, channel_id=channel
        )
        return list(told)

    async def answer_posted(self) -> None:
        if not self._is_more_elsewhere:
            return
        asked, run = self._run.message, self._run.id
        text = texts_for(asked.locale)("more-elsewhere-here", channel=f"<#{asked.thread.channel}>")
        try:
            await tell_directly(
                self._wire, asked.author.id, Post(Look(text), None, nonce_of(run, 0, -3))
            )
        except (DiscordRefused, PlatformUnavailable) as error:
            log.info("asker not told of more", run=run, error=str(error))


def _title(found: _Found) -> str:
    author = name_of(found.message["author"])
    channel = f"#{found.server.name_of(found.channel)}"
    return title_of(author, channel, _at(found.message["id"]))


def _at(id: object) -> datetime:
    return discord.utils.snowflake_time(int(str(id)))
