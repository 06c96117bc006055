"""What is said while the bot is away is read when it comes back.

The gateway replays a session that it could resume; for a new one the bot itself asks for what
came after the last message it took in, in the direct messages and threads that were in use
lately. Messages are known to the core by id, so that one read twice stays one question.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import discord
from cachetools import LRUCache

from adapters.discord.wire import FAILURES
from bot.errors import StorageUnavailable
from bot.logs import get_logger
from bot.storage.workspaces import Workspaces

PLACES = 100  # that are asked at most when the bot comes back
MESSAGES = 100  # that are read of one place: what a page of its history holds
SAVE_SECONDS = 5.0  # that places are gathered before they are stored
FACT = "places"

log = get_logger()


@dataclass(frozen=True, slots=True)
class Left:
    """A place when the bot left it: its server (0: direct) and the last message taken in."""

    channel_id: int
    guild_id: int
    last: int


class Absence:
    """The places in use lately, by channel id: their server (0: direct) and last message."""

    def __init__(self, client: discord.Client, workspaces: Workspaces) -> None:
        self._client = client
        self._workspaces = workspaces
        self._places: LRUCache[int, tuple[int, int]] = LRUCache(PLACES)
        self._saving: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    def seen(self, channel_id: int, guild_id: int, message_id: int) -> None:
        """A message of a place was taken in."""
        _, last = self._places.get(channel_id, (guild_id, 0))
        self._places[channel_id] = (guild_id, max(last, message_id))
        self._changed()

    def leave(self, channel_id: int) -> None:
        """A place is gone, or closed to the bot."""
        if self._places.pop(channel_id, None) is not None:
            self._changed()

    def _changed(self) -> None:
        if self._saving is None or self._saving.done():
            self._saving = asyncio.create_task(self._save_soon())

    def of_shard(self, shard_id: int) -> list[Left]:
        """The places, as they are now, of which one shard is told."""
        shards = self._client.shard_count or 1
        return [
            Left(channel_id, guild_id, last)
            for channel_id, (guild_id, last) in self._places.items()
            if (guild_id >> 22) % shards == shard_id
        ]

    async def catch_up(
        self,
        places: list[Left],
        take_in: Callable[[discord.Message], Awaitable[None]],
    ) -> None:
        """Take in what was said in ``places`` after their last messages."""
        for place in places:
            channel = self._client.get_partial_messageable(
                place.channel_id, guild_id=place.guild_id or None
            )
            after = discord.Object(place.last)
            try:
                async for message in channel.history(
                    limit=MESSAGES, after=after, oldest_first=True
                ):
                    await take_in(message)
            except (discord.NotFound, discord.Forbidden):
                self.leave(place.channel_id)
            except FAILURES as error:
                log.warning("not caught up", channel=place.channel_id, error=str(error))

    async def load(self) -> None:
        """Know the places of the process before."""
        try:
            facts = await self._workspaces.facts("discord", str(self._client.application_id))
        except StorageUnavailable as error:
            log.warning("places not known", error=str(error))
            return
        for channel_id, guild_id, last in facts.get(FACT, []):
            self._places.setdefault(int(channel_id), (int(guild_id), int(last)))

    async def save(self) -> None:
        places: list[Any] = [[str(key), *map(str, value)] for key, value in self._places.items()]
        try:
            await self._workspaces.remember(
                "discord", str(self._client.application_id), FACT, places
            )
        except StorageUnavailable as error:
            log.warning("places not kept", error=str(error))

    async def aclose(self) -> None:
        """Store what is not stored yet."""
        self._closing.set()
        if self._saving is not None:
            await self._saving

    async def _save_soon(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), SAVE_SECONDS)
        await self.save()
