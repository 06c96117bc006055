"""Reads the messages that were posted while the bot was not connected.

The gateway replays missed events if the session can be resumed. After a new session, the bot reads
what came after the last message it handled: in recently used direct messages and threads, and in
every channel and thread whose last message is newer than the latest one from the gateway. The core
knows messages by id, so one that is read twice remains one question.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import discord
from cachetools import LRUCache

from adapters.discord.messages import PLATFORM, DiscordMessage, guild_id_of
from adapters.discord.rest import FAILURES
from bot.core.errors import StorageUnavailable
from bot.core.logs import get_logger
from bot.storage.workspaces import Workspaces

PLACES = 100  # recently used places that are read when the bot comes back
MESSAGES = 100  # messages read from one place: a page of its history
CHANNELS = 250  # other channels that are read, those with the latest messages first
CHANNEL_MESSAGES = 300  # messages read from one channel
OLDEST = timedelta(days=3)  # age of the oldest messages read from channels
SAVE_SECONDS = 5.0  # how long changes are collected before they are stored
FACT = "places"
LATEST_FACT = "told"  # the stored fact with the latest message from the gateway, by shard

Readable = discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread

log = get_logger()


@dataclass(frozen=True, slots=True)
class LeftPlace:
    """A place at the end of a session: its server (0: direct) and the last message handled."""

    channel_id: int
    guild_id: int
    last: int


@dataclass(frozen=True, slots=True)
class Gap:
    """The state of a shard when its session ended: the places in use, and the latest message from
    the gateway (0: none ever)."""

    shard_id: int
    places: tuple[LeftPlace, ...]
    latest: int


class MissedMessages:
    """Records the recently used places by channel id, with server (0: direct) and last message, and
    the latest message from the gateway by shard."""

    def __init__(self, client: discord.Client, workspaces: Workspaces) -> None:
        self._client = client
        self._workspaces = workspaces
        self._places: LRUCache[int, tuple[int, int]] = LRUCache(PLACES)
        self._latest: dict[int, int] = {}
        self._saving: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    def record_message(self, message: DiscordMessage) -> None:
        channel_id = int(message.channel)
        _, last = self._places.get(channel_id, (0, 0))
        self._places[channel_id] = (guild_id_of(message), max(last, int(message.id)))
        self._changed()

    def record_gateway_message(self, message: DiscordMessage) -> None:
        shard = self._shard_of(guild_id_of(message))
        if int(message.id) > self._latest.get(shard, 0):
            self._latest[shard] = int(message.id)
            self._changed()

    def _shard_of(self, guild_id: int) -> int:
        """https://docs.discord.com/developers/events/gateway#sharding"""
        return (guild_id >> 22) % (self._client.shard_count or 1)

    def leave(self, channel_id: int) -> None:
        if self._places.pop(channel_id, None) is not None:
            self._changed()

    def _changed(self) -> None:
        if self._saving is None or self._saving.done():
            self._saving = asyncio.create_task(self._save_soon())

    def of_shard(self, shard_id: int) -> Gap:
        places = [
            LeftPlace(channel_id, guild_id, last)
            for channel_id, (guild_id, last) in self._places.items()
            if self._shard_of(guild_id) == shard_id
        ]
        return Gap(shard_id, tuple(places), self._latest.get(shard_id, 0))

    async def catch_up(
        self, gap: Gap, take_in: Callable[[discord.Message], Awaitable[None]]
    ) -> None:
        """Handle the messages posted since a session ended."""
        for place in gap.places:
            await self._read(place, MESSAGES, take_in)
        for place in self._with_news(gap):
            await self._read(place, CHANNEL_MESSAGES, take_in)

    async def _read(
        self, place: LeftPlace, most: int, take_in: Callable[[discord.Message], Awaitable[None]]
    ) -> None:
        channel = self._client.get_partial_messageable(
            place.channel_id, guild_id=place.guild_id or None
        )
        after = discord.Object(place.last)
        try:
            async for message in channel.history(limit=most, after=after, oldest_first=True):
                await take_in(message)
        except (discord.NotFound, discord.Forbidden):
            self.leave(place.channel_id)
        except FAILURES as error:
            log.warning("not caught up", channel=place.channel_id, error=str(error))

    def _with_news(self, gap: Gap) -> list[LeftPlace]:
        """Return the channels and threads whose last message did not come from the gateway."""
        if not gap.latest:  # the first session: nothing was missed
            return []
        oldest = discord.utils.time_snowflake(datetime.now(UTC) - OLDEST)
        after = max(gap.latest, oldest)
        known = {place.channel_id for place in gap.places}
        news = [
            (channel.last_message_id, LeftPlace(channel.id, channel.guild.id, after))
            for channel in self._readable(gap.shard_id)
            if channel.id not in known and (channel.last_message_id or 0) > after
        ]
        news.sort(key=lambda each: -(each[0] or 0))
        if len(news) > CHANNELS:
            log.warning("channels not caught up", count=len(news) - CHANNELS)
        return [left for _, left in news[:CHANNELS]]

    def _readable(self, shard_id: int) -> Iterator[Readable]:
        for guild in self._client.guilds:
            if guild.shard_id == shard_id:
                channels: list[Readable] = [*guild.text_channels, *guild.voice_channels]
                channels += [*guild.stage_channels, *guild.threads]
                for channel in channels:
                    may = channel.permissions_for(guild.me)
                    if may.view_channel and may.read_message_history:
                        yield channel

    async def load(self) -> None:
        try:
            facts = await self._workspaces.facts(PLATFORM, str(self._client.application_id))
        except StorageUnavailable as error:
            log.warning("places not loaded", error=str(error))
            return
        for channel_id, guild_id, last in facts.get(FACT, []):
            self._places.setdefault(int(channel_id), (int(guild_id), int(last)))
        told = {int(shard): int(last) for shard, last in facts.get(LATEST_FACT, [])}
        shards = range(self._client.shard_count or 1)
        if told and set(told) != set(shards):  # the servers are distributed differently now
            told = dict.fromkeys(shards, min(told.values()))
        for shard, last in told.items():
            self._latest.setdefault(shard, last)

    async def save(self) -> None:
        places: list[Any] = [[str(key), *map(str, value)] for key, value in self._places.items()]
        told: list[Any] = [[str(shard), str(last)] for shard, last in self._latest.items()]
        application = str(self._client.application_id)
        try:
            await self._workspaces.remember(PLATFORM, application, FACT, places)
            await self._workspaces.remember(PLATFORM, application, LATEST_FACT, told)
        except StorageUnavailable as error:
            log.warning("places not stored", error=str(error))

    async def aclose(self) -> None:
        """Store pending changes."""
        self._closing.set()
        if self._saving is not None:
            await self._saving

    async def _save_soon(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(SAVE_SECONDS):
                await self._closing.wait()
        await self.save()
