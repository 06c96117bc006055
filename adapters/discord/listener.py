"""Handles messages, their edits and deletions, and reactions.

The events of one channel are handled one after another, in the order in which Discord sent them, so
an edit never overtakes its question. For commands and buttons see ``commands`` and
``interactions``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import discord
import stamina
from cachetools import TTLCache

from adapters.discord.incoming import (
    PLATFORM,
    Place,
    address_of,
    author_of,
    guild_id_of,
    is_said,
    message_from,
    place_of,
    text_of,
)
from adapters.discord.missed_messages import MissedMessages
from adapters.discord.wire import FAILURES, was_lost
from bot.core.errors import Denied, FootnoteError, InvalidQuestion, StorageUnavailable
from bot.core.logs import get_logger
from bot.core.messages import Author, Message, Thread
from bot.core.texts import sentence_for, texts_for
from bot.search.registry import searches_conversations
from bot.service.background import BackgroundTasks
from bot.service.reception import AcceptedQuestion, Address, Handled, Ignored, Reception

# Time to retry storage and lost requests: Discord sends each event only once.
PATIENCE_SECONDS = 30.0
PRIVATE_SECONDS = 30.0  # before a notice in a channel, used if direct messages fail, is deleted
REMIND_SECONDS = 3600.0  # between two notices to a person that a thread is closed to them
TYPING_SECONDS = 5.0  # before typing is shown again; Discord shows it for ten
# Edits this recent are new. It is longer than a broken session can be resumed.
RECENT_EDIT = timedelta(minutes=15)
STOP_SIGNS = frozenset("🛑✋❌")

log = get_logger()

T = TypeVar("T")


class Listener:
    """See the module docstring; its ``on_…`` methods are discord.py's events."""

    def __init__(
        self, client: discord.Client, reception: Reception, missed: MissedMessages
    ) -> None:
        self._client = client
        self._reception = reception
        self._missed = missed
        self._orders: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
        self._told: TTLCache[tuple[str, str], bool] = TTLCache(10_000, REMIND_SECONDS)
        self._edits: TTLCache[tuple[int, datetime], bool] = TTLCache(
            10_000, RECENT_EDIT.total_seconds()
        )
        self._typing: TTLCache[int, bool] = TTLCache(10_000, TYPING_SECONDS)
        self._background = BackgroundTasks("discord")

    async def aclose(self) -> None:
        """Cancel the reactions and typing signs that were not shown yet."""
        await self._background.aclose()

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
        """Handle a message; Footnote's own messages show in which places it takes part."""
        async with self._in_order(message.channel.id):
            if is_said(message):
                await self._take_in(message)
            elif message.author.id == self._me:
                self._seen(message, (await self._place_of(message)))
        self._missed.record_gateway_message(message.guild.id if message.guild else 0, message.id)

    async def on_raw_message_edit(self, event: discord.RawMessageUpdateEvent) -> None:
        """Handle an edit. An added link preview or an unreadable message does not count as one."""
        message = event.message
        if not is_said(message) or message.edited_at is None or not message.content:
            return
        async with self._in_order(event.channel_id):
            place = await self._place_of(message)
            address = address_of(message, place, self._me)
            if address is None and not message.flags.has_thread:  # it cannot have been a question
                return
            text = text_of(message, self._me)
            try:
                known = await patiently(
                    lambda: self._reception.edit(PLATFORM, str(message.id), text)
                )
            except InvalidQuestion:
                log.debug("edited to nothing", message=message.id)
                return
            if not known and address == "footnote" and self._is_news(message):
                # No run is known for it: it was refused, or did not address Footnote. If its text
                # is unchanged, the core recognises it by its id.
                await self._take_in(message)

    def _is_news(self, message: discord.Message) -> bool:
        """Return True if a message was edited just now. Pins and previews arrive as edits too, with
        the time of the previous edit; they must not repeat a "stop" or a refusal."""
        if message.edited_at is None or datetime.now(UTC) - message.edited_at > RECENT_EDIT:
            return False
        edit = (message.id, message.edited_at)
        if edit in self._edits:
            return False
        self._edits[edit] = True
        return True

    async def on_raw_message_delete(self, event: discord.RawMessageDeleteEvent) -> None:
        async with self._in_order(event.channel_id):
            await self._forget(event.message_id)

    async def on_raw_bulk_message_delete(self, event: discord.RawBulkMessageDeleteEvent) -> None:
        async with self._in_order(event.channel_id):
            for message_id in sorted(event.message_ids):
                await self._forget(message_id)

    async def on_raw_reaction_add(self, event: discord.RawReactionActionEvent) -> None:
        """Handle a stop reaction: on a question it stops the question, on a reply of Footnote's the
        runs there."""
        if event.user_id == self._me or str(event.emoji) not in STOP_SIGNS:
            return
        async with self._in_order(event.channel_id):
            if await self._reception.stop_question(PLATFORM, str(event.message_id)):
                return
            if event.message_author_id == self._me:
                await self._stop_by_reply(event)

    async def on_raw_thread_delete(self, event: discord.RawThreadDeleteEvent) -> None:
        thread = Thread(PLATFORM, str(event.guild_id), str(event.parent_id), str(event.thread_id))
        self._missed.leave(event.thread_id)
        await self._reception.stop(thread)

    async def _stop_by_reply(self, event: discord.RawReactionActionEvent) -> None:
        """Stop all runs of the thread that contains the reply. In a channel, stop those of the
        thread that begins with it, or the question that it answers."""
        place = await self._place(event.channel_id, event.guild_id)
        if await self._reception.stop(place.thread(str(event.message_id))) or place.inside:
            return
        channel = self._client.get_partial_messageable(event.channel_id)
        reply = await patiently(lambda: channel.fetch_message(event.message_id))
        if reply.reference is not None:
            await self._reception.stop_question(PLATFORM, str(reply.reference.message_id))

    # ------------------------------------------------------------ messages

    async def _take_in(self, message: discord.Message) -> None:
        place = await self._place_of(message)
        address = address_of(message, place, self._me)
        if address is None:
            return
        said = message_from(message, place, self._me)
        may_search = searches_conversations(self._reception.settings)
        said = replace(said, author=await self._author(message), conversations=may_search)
        if not said.text and address != "footnote":
            return  # a picture, a sticker, or text that Discord does not show us
        # The first message of a forum post exists only inside its thread.
        state = {"message": said.event_id} if said.event_id != place.inside else None
        try:
            outcome = await patiently(
                lambda: self._reception.receive(said, address, post_state=state)
            )
        except Denied as denied:
            self._deny(message, said, address, denied)
        except InvalidQuestion as error:
            if address == "footnote":
                sentence = sentence_for(error, texts_for(said.locale))
                self._later(self._reply(message, sentence))
        except StorageUnavailable as error:
            log.error("question not kept", message=message.id, error=str(error))
            texts = texts_for(said.locale)
            self._later(self._reply(message, texts("not-kept")))
        else:
            await self._acknowledge(message, said, place, outcome)

    async def _acknowledge(
        self,
        message: discord.Message,
        said: Message,
        place: Place,
        outcome: AcceptedQuestion | Handled | Ignored,
    ) -> None:
        if not isinstance(outcome, Ignored):
            self._seen(message, place)
        if isinstance(outcome, Handled):
            await self._missed.save()  # reading a "stop" again would stop later questions
        if isinstance(outcome, AcceptedQuestion) and outcome.new:
            self._show_typing(message.channel)
        elif isinstance(outcome, Handled) and outcome.stopped:
            self._later(message.add_reaction("👌"))
        elif isinstance(outcome, Handled):
            texts = texts_for(said.locale)
            self._later(self._reply(message, texts("nothing-running")))

    def _seen(self, message: discord.Message, place: Place) -> None:
        if place.inside:
            self._missed.record_message(message.channel.id, guild_id_of(message) or 0, message.id)

    async def _author(self, message: discord.Message) -> Author:
        """Return the author of a message. A message from the history has no roles; they are looked
        up where they matter."""
        settings, guild, author = self._reception.settings, message.guild, message.author
        if settings.allow_roles and guild is not None and not isinstance(author, discord.Member):
            try:
                return author_of(await patiently(lambda: guild.fetch_member(author.id)))
            except discord.NotFound:  # has left
                log.debug("author has left", message=message.id)
        return author_of(author)

    # ------------------------------------------------------------ signs

    def _show_typing(self, channel: discord.abc.Messageable) -> None:
        channel_id = getattr(channel, "id", 0)
        if channel_id not in self._typing:
            self._typing[channel_id] = True
            self._later(_type(channel))

    def _deny(
        self, message: discord.Message, said: Message, address: Address, denied: Denied
    ) -> None:
        """Notify only the author; just once if they were not addressing Footnote."""
        if address != "footnote":
            key = (said.author.id, said.thread.key)
            if key in self._told:
                return
            self._told[key] = True
        texts = texts_for(said.locale)
        self._later(self._whisper(message, sentence_for(denied, texts)))

    async def _whisper(self, message: discord.Message, sentence: str) -> None:
        """Send a sentence as a direct message, or for a short time in the channel if the author
        does not accept those."""
        try:
            await message.author.send(sentence)
        except discord.Forbidden:
            await self._reply(message, sentence, delete_after=PRIVATE_SECONDS)

    async def _reply(
        self, message: discord.Message, text: str, *, delete_after: float | None = None
    ) -> None:
        """Reply to a message. The client's ``allowed_mentions`` prevent pings."""
        reply = await message.reply(text, mention_author=False)
        if delete_after is not None:
            await asyncio.sleep(delete_after)
            await reply.delete()

    def _later(self, showing: Coroutine[Any, Any, None]) -> None:
        """Show a reaction or typing sign in the background."""
        self._background.later(_trying(showing))

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
        return place_of(message.channel, guild_id, is_member=True)

    async def _place(self, channel_id: int, guild_id: int | None) -> Place:
        """Return the place of a channel, after asking Discord if the channel is not cached."""
        channel = self._client.get_channel(channel_id)
        if channel is None and guild_id is None:
            return place_of(self._client.get_partial_messageable(channel_id), None, is_member=True)
        if channel is None:
            channel = await patiently(lambda: self._client.fetch_channel(channel_id))
        return place_of(channel, guild_id, is_member=True)

    def _in_order(self, channel_id: int) -> asyncio.Lock:
        """Return the channel's lock, which its events acquire in the order of their arrival."""
        return self._orders.setdefault(channel_id, asyncio.Lock())


async def _trying(showing: Coroutine[Any, Any, None]) -> None:
    try:
        await showing
    except FAILURES as error:
        log.info("not shown", error=str(error))


async def _type(channel: discord.abc.Messageable) -> None:
    await channel.typing()


async def patiently(act: Callable[[], Awaitable[T]]) -> T:
    """Retry an idempotent act while storage or the network fails. Raises ``StorageUnavailable`` or
    the error of the lost request in the end."""
    async for attempt in stamina.retry_context(
        on=_passes, attempts=None, timeout=PATIENCE_SECONDS, wait_max=5.0
    ):
        with attempt:
            return await act()
    raise AssertionError("the last attempt returns or raises")


def _passes(error: Exception) -> bool:
    return isinstance(error, StorageUnavailable) or was_lost(error)


def log_failure(where: str, error: BaseException) -> None:
    """Log an error in handling one event, which does not affect the next ones."""
    if isinstance(error, (FootnoteError, *FAILURES)):
        log.warning("event not handled", event_name=where, error=str(error))
    else:
        log.error("event broke", event_name=where, error=repr(error))
        log.debug("event broke here", exc_info=error)
