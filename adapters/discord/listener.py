"""The way in for what people say: messages, their edits and deletions, reactions.

What happens in one channel is taken in one after another, in the order Discord told it, so that
an edit never overtakes its question. Commands and buttons are in ``commands`` and ``presses``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import discord
import stamina
import structlog
from cachetools import TTLCache

from adapters.discord.absence import Absence
from adapters.discord.incoming import (
    PLATFORM,
    Place,
    address_of,
    guild_id_of,
    is_said,
    message_from,
    place_of,
    text_of,
)
from bot.conversing.reception import Address, Asked, Heard, Reception, Told
from bot.errors import Denied, FootnoteError, InvalidQuestion, StorageUnavailable
from bot.messages import Message, Thread
from bot.rendering.texts import texts_for

PATIENCE_SECONDS = 30.0  # that storage is waited for: Discord tells everything only once
PRIVATE_SECONDS = 30.0  # that a private sentence stands in a channel, where no other way is open
REMIND_SECONDS = 3600.0  # before somebody is told again that a thread is closed to them
STOP_SIGNS = frozenset("🛑✋❌")

log = structlog.get_logger(__name__)

T = TypeVar("T")


class Listener:
    """See the module docstring; its ``on_…`` methods are discord.py's events."""

    def __init__(self, client: discord.Client, reception: Reception, absence: Absence) -> None:
        self._client = client
        self._reception = reception
        self._absence = absence
        self._orders: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
        self._told: TTLCache[tuple[str, str], bool] = TTLCache(10_000, REMIND_SECONDS)

    @property
    def events(self) -> list[Callable[..., Coroutine[Any, Any, None]]]:
        return [
            self.on_message,
            self.on_raw_message_edit,
            self.on_raw_message_delete,
            self.on_raw_bulk_message_delete,
            self.on_raw_reaction_add,
            self.on_raw_thread_delete,
        ]

    # ------------------------------------------------------------ events

    async def on_message(self, message: discord.Message) -> None:
        """Footnote's own words tell where it takes part."""
        async with self._in_order(message.channel.id):
            if is_said(message):
                await self._take_in(message)
            elif message.author.id == self._me:
                self._seen(message, (await self._place_of(message)))

    async def on_raw_message_edit(self, event: discord.RawMessageUpdateEvent) -> None:
        """An embed that was found for a link is no edit; nor is what cannot be read."""
        message = event.message
        if not is_said(message) or message.edited_at is None or not message.content:
            return
        text = text_of(message, self._me)
        async with self._in_order(event.channel_id):
            try:
                await patiently(lambda: self._reception.edit(PLATFORM, str(message.id), text))
            except InvalidQuestion:
                log.info("edited to nothing", message=message.id)

    async def on_raw_message_delete(self, event: discord.RawMessageDeleteEvent) -> None:
        async with self._in_order(event.channel_id):
            await self._forget(event.message_id)

    async def on_raw_bulk_message_delete(self, event: discord.RawBulkMessageDeleteEvent) -> None:
        async with self._in_order(event.channel_id):
            for message_id in sorted(event.message_ids):
                await self._forget(message_id)

    async def on_raw_reaction_add(self, event: discord.RawReactionActionEvent) -> None:
        """A stop sign on a question stops it, on a reply of Footnote's what runs there."""
        if event.user_id == self._me or str(event.emoji) not in STOP_SIGNS:
            return
        async with self._in_order(event.channel_id):
            if await self._reception.stop_question(PLATFORM, str(event.message_id)):
                return
            if event.message_author_id == self._me:
                place = await self._place(event.channel_id, event.guild_id)
                await self._reception.stop(place.thread(str(event.message_id)))

    async def on_raw_thread_delete(self, event: discord.RawThreadDeleteEvent) -> None:
        thread = Thread(PLATFORM, str(event.guild_id), str(event.parent_id), str(event.thread_id))
        self._absence.leave(event.thread_id)
        await self._reception.stop(thread)

    # ------------------------------------------------------------ messages

    async def _take_in(self, message: discord.Message) -> None:
        place = await self._place_of(message)
        address = address_of(message, place, self._me)
        if address is None:
            return
        said = message_from(message, place, self._me)
        try:
            outcome = await patiently(
                lambda: self._reception.receive(
                    said, address, post_state={"message": said.event_id}
                )
            )
        except Denied as denied:
            await self._deny(message, said, address, denied)
        except InvalidQuestion:
            if address == "footnote":
                await self._reply(message, texts_for(said.locale)("no-question"))
        except StorageUnavailable as error:
            log.error("question not kept", message=message.id, error=str(error))
            await self._reply(message, texts_for(said.locale)("not-kept"))
        else:
            await self._acknowledge(message, said, place, outcome)

    async def _acknowledge(
        self, message: discord.Message, said: Message, place: Place, outcome: Asked | Told | Heard
    ) -> None:
        if not isinstance(outcome, Heard):
            self._seen(message, place)
        if isinstance(outcome, Asked) and outcome.new:
            await self._trying(message.channel.typing())
        elif isinstance(outcome, Told) and outcome.stopped:
            await self._trying(message.add_reaction("👌"))
        elif isinstance(outcome, Told):
            await self._reply(message, texts_for(said.locale)("nothing-running"))

    def _seen(self, message: discord.Message, place: Place) -> None:
        if place.inside:
            self._absence.seen(message.channel.id, guild_id_of(message) or 0, message.id)

    async def _deny(
        self, message: discord.Message, said: Message, address: Address, denied: Denied
    ) -> None:
        """Tell the author alone: in a direct message, or where those are closed for a moment in
        the channel. Whoever was not even speaking to Footnote is told once."""
        if address != "footnote":
            key = (said.author.id, said.thread.key)
            if key in self._told:
                return
            self._told[key] = True
        sentence = texts_for(said.locale)(denied.text_id)
        try:
            await message.author.send(sentence, allowed_mentions=discord.AllowedMentions.none())
        except discord.Forbidden:
            await self._reply(message, sentence, delete_after=PRIVATE_SECONDS)
        except (discord.HTTPException, OSError) as error:
            log.warning("not told", message=message.id, error=str(error))

    async def _reply(
        self, message: discord.Message, text: str, *, delete_after: float | None = None
    ) -> None:
        await self._trying(
            message.reply(
                text,
                mention_author=False,
                allowed_mentions=discord.AllowedMentions.none(),
                delete_after=delete_after,  # type: ignore[arg-type]
            )
        )

    async def _trying(self, sending: Any) -> None:
        """A sign that may fail: nothing depends on it."""
        try:
            await sending
        except (discord.DiscordException, OSError) as error:
            log.info("not shown", error=str(error))

    async def _forget(self, message_id: int) -> None:
        await patiently(lambda: self._reception.forget(PLATFORM, str(message_id)))

    # ------------------------------------------------------------ places

    @property
    def _me(self) -> int:
        return self._client.user.id if self._client.user is not None else 0

    async def _place_of(self, message: discord.Message) -> Place:
        guild_id = guild_id_of(message)
        if isinstance(message.channel, discord.PartialMessageable):
            return await self._place(message.channel.id, guild_id)
        return place_of(message.channel, guild_id)

    async def _place(self, channel_id: int, guild_id: int | None) -> Place:
        """Where a channel stands, asking Discord for one that it has not told about."""
        channel = self._client.get_channel(channel_id)
        if channel is None and guild_id is None:
            return place_of(self._client.get_partial_messageable(channel_id), None)
        if channel is None:
            channel = await self._client.fetch_channel(channel_id)
        return place_of(channel, guild_id)

    def _in_order(self, channel_id: int) -> asyncio.Lock:
        """Held by one event of a channel at a time; the others wait in the order they came."""
        lock = self._orders.get(channel_id)
        if lock is None:
            lock = self._orders[channel_id] = asyncio.Lock()
        return lock


async def patiently(act: Callable[[], Awaitable[T]]) -> T:
    """Do something that storage may hold up; raises ``StorageUnavailable`` in the end."""
    async for attempt in stamina.retry_context(
        on=StorageUnavailable, attempts=None, timeout=PATIENCE_SECONDS, wait_max=5.0
    ):
        with attempt:
            return await act()
    raise AssertionError("the last attempt returns or raises")


def log_failure(where: str, error: BaseException) -> None:
    """An error of handling one event; the next ones are handled all the same."""
    if isinstance(error, (FootnoteError, discord.DiscordException, OSError)):
        log.warning("event not handled", event_name=where, error=str(error))
    else:
        log.error("event broke", event_name=where, error=repr(error))
        log.debug("event broke here", exc_info=error)
