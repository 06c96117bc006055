"""Handles messages, their edits and deletions, and reactions.

The events of one channel are handled one after another, in the order in which Discord sent them, so
an edit never overtakes its question. For commands and buttons see ``interactions``.
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

from adapters.discord.client import FootnoteClient
from adapters.discord.messages import (
    PLATFORM,
    THREAD_STARTER,
    WITH_WORDS,
    DiscordMessage,
    Place,
    author_of,
    parse_message,
    place_of,
)
from adapters.discord.missed_messages import MissedMessages
from adapters.discord.rest import FAILURES, was_lost
from bot.core.errors import Denied, Invalid, StorageUnavailable, sentence_for
from bot.core.logs import get_logger
from bot.core.messages import MAX_QUESTION, Author, Message, Thread
from bot.core.posting import PostState
from bot.core.texts import texts_for
from bot.search.registry import searches_conversations
from bot.service.access import IN_NO_SERVER, AppLimit
from bot.service.background import BackgroundTasks
from bot.service.reception import AcceptedQuestion, Address, Handled, Ignored, Reception

# Time to retry storage and lost requests: Discord sends each event only once.
PATIENCE_SECONDS = 30.0
PRIVATE_SECONDS = 30.0  # before a notice in a channel, used if direct messages fail, is deleted
REMIND_SECONDS = 3600.0  # between two notices to a person that a thread is closed to them
TYPING_SECONDS = 5.0  # before typing is shown again; Discord shows it for ten
# Edits this recent are new. It is longer than a broken session can be resumed.
RECENT_EDIT = timedelta(minutes=15)
COMMENT_SECONDS = 10.0  # within which a comment follows the message that it forwards
NEAR = 10  # messages above a bare mention among which the one that it means is looked for
STOP_SIGNS = frozenset("🛑✋❌")

log = get_logger()

T = TypeVar("T")


class Listener:
    """See the module docstring; its ``on_…`` methods are discord.py's events, and parse them."""

    def __init__(
        self, client: FootnoteClient, reception: Reception, missed: MissedMessages
    ) -> None:
        self._client = client
        self._reception = reception
        self._missed = missed
        self._orders: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
        self._told: TTLCache[tuple[str, str], bool] = TTLCache(10_000, REMIND_SECONDS)
        self._edits: TTLCache[tuple[str, datetime], bool] = TTLCache(
            10_000, RECENT_EDIT.total_seconds()
        )
        self._apps = AppLimit()
        self._forwards: TTLCache[tuple[str, str], DiscordMessage] = TTLCache(
            10_000, COMMENT_SECONDS
        )
        self._typing: TTLCache[str, bool] = TTLCache(10_000, TYPING_SECONDS)
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

    async def on_message(self, event: discord.Message) -> None:
        message = parse_message(event, self._me)
        async with self._in_order(event.channel.id):
            if message.is_said:
                await self._handle(message)
            elif message.is_ours:  # it shows in which places Footnote takes part
                self._record(message, await self._place(message.channel, message.server))
        self._missed.record_gateway_message(message)

    async def on_raw_message_edit(self, event: discord.RawMessageUpdateEvent) -> None:
        message = parse_message(event.message, self._me)
        async with self._in_order(event.channel_id):
            await self._handle_edit(message)

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
        message, channel = str(event.message_id), str(event.channel_id)
        server = str(event.guild_id or IN_NO_SERVER)
        async with self._in_order(event.channel_id):
            if await self._reception.stop_question(PLATFORM, message):
                return
            if event.message_author_id == self._me:
                await self._stop_by_reply(message, channel, server)

    async def on_raw_thread_delete(self, event: discord.RawThreadDeleteEvent) -> None:
        thread = Thread(PLATFORM, str(event.guild_id), str(event.parent_id), str(event.thread_id))
        self._missed.leave(event.thread_id)
        await self._reception.stop(thread)

    async def _forget(self, message_id: int) -> None:
        await patiently(lambda: self._reception.forget(PLATFORM, str(message_id)))

    async def _stop_by_reply(self, message: str, channel: str, server: str) -> None:
        """Stop all runs of the thread that contains the reply. In a channel, stop those of the
        thread that begins with it, or the question that it answers."""
        place = await self._place(channel, server)
        if await self._reception.stop(place.thread(message)) or place.inside:
            return
        found = await patiently(self._message(channel, message).fetch)
        if answered := parse_message(found, self._me).answers:
            await self._reception.stop_question(PLATFORM, answered)

    # ------------------------------------------------------------ messages

    async def _handle(self, message: DiscordMessage) -> None:
        channel = await self._place(message.channel, message.server)
        place = await self._place_followed(message, channel)
        address = message.address_in(place)
        if message.forwards:
            self._forwards[message.channel, message.author.id] = message
        if address is None:
            return
        if message.proxied and not self._apps.allows(place.channel, message.author.id, message.id):
            log.warning("app asks too often", app=message.author.name, id=message.id)
            return
        question, context, means = await self._question(message, place, address)
        if not question.text and address == "thread":
            if not question.attachments:
                return  # a sticker, or text that Discord does not show us
            address = "others"  # files that later questions may be about
        asked = replace(
            question.message_in(place),
            author=await self._author(message, place),
            conversations=searches_conversations(self._reception.settings),
        )
        state: PostState = {"message": message.id}
        # A forum post is a thread already; a followed answer is where no thread can be made.
        if message.id == place.inside or place != channel:
            state["place"] = message.channel
        try:
            outcome = await patiently(
                lambda: self._reception.receive(
                    asked, address, post_state=state, context=context, means=means
                )
            )
        except Denied as denied:
            self._deny(message, asked.thread, address, denied)
        except Invalid as error:
            if address == "footnote":
                self._reply(message, sentence_for(error, texts_for(message.locale)))
        except StorageUnavailable as error:
            log.error("question not kept", message=message.id, error=str(error))
            self._reply(message, texts_for(message.locale)("not-kept"))
        else:
            await self._acknowledge(message, place, outcome)

    async def _place_followed(self, message: DiscordMessage, place: Place) -> Place:
        """Return the place of the conversation that a message continues. A reply that pings
        Footnote continues that of an answer which is in the channel itself, because no thread could
        be made there."""
        ours = message.answered
        if place.inside or ours is None or not (ours.is_ours and message.pings_us):
            return place
        thread = await patiently(
            lambda: self._reception.thread_of(PLATFORM, ours.answers, ours.runs)
        )
        is_here = thread is not None and thread.channel == place.channel
        return replace(place, inside=thread.thread) if thread is not None and is_here else place

    async def _question(
        self, message: DiscordMessage, place: Place, address: Address
    ) -> tuple[DiscordMessage, list[Message], list[str]]:
        """Return a message with the words of its question, and the message that it replies to, for
        the reasoner to know. A bare mention asks what that message says, or the one above; what it
        ``means`` comes last (see ``Reception.receive``)."""
        message = await with_paste(self._client, message)
        # Discord's clients send the comment on a forward as a message of its own.
        forward = self._forwards.pop((message.channel, message.author.id), None)
        answered = message.answered or forward
        to = answered if answered is not None and not answered.is_ours else None
        if address == "footnote" and not (message.text or message.attachments):
            above = [to] if to is not None else []
            if answered is None and place.inside:
                above = await self._above(message)
            if above:
                to = await with_paste(self._client, above[-1])
                text = to.quoted if to.text else to.question
                message = replace(message, text=text, attachments=to.attachments)
            return message, [], [each.id for each in above]
        if address == "footnote":
            message = replace(message, text=message.question)
        if to is None:
            return message, [], []
        files = tuple(replace(file, again=True) for file in to.attachments)
        context = to.message_in(place, message.id)
        return replace(message, attachments=(*message.attachments, *files)), [context], []

    async def _above(self, message: DiscordMessage) -> list[DiscordMessage]:
        """Return the messages above in a thread or direct message, up to the first with words;
        none if that one is Footnote's."""
        above: list[DiscordMessage] = []
        id = int(message.channel)
        channel = self._client.get_channel(id) or self._client.get_partial_messageable(id)
        if not isinstance(channel, discord.abc.Messageable):
            return []
        try:
            before = discord.Object(int(message.id))
            async for event in channel.history(limit=NEAR, before=before):
                found: DiscordMessage | None = parse_message(event, self._me)
                if found is not None and found.kind == THREAD_STARTER:
                    found = found.answered
                if found is None or found.kind not in WITH_WORDS:
                    continue
                above.append(found)
                if found.question:
                    return [] if found.is_ours else above
        except FAILURES as error:
            log.info("message above not read", message=message.id, error=str(error))
        return []

    async def _handle_edit(self, message: DiscordMessage) -> None:
        """Handle an edit. An added link preview or an unreadable message does not count as one."""
        if not message.is_said or message.edited_at is None or not message.content:
            return
        address = message.address_in(await self._place(message.channel, message.server))
        if address is None and not message.begun:  # it cannot have been a question
            return
        try:
            known = await patiently(
                lambda: self._reception.edit(
                    PLATFORM, message.id, message.text, addressed=address == "footnote"
                )
            )
        except Invalid:
            log.debug("edited to nothing", message=message.id)
            return
        if not known and address == "footnote" and self._is_news(message.id, message.edited_at):
            # No run is known for it: it was refused, or did not address Footnote. If its text is
            # unchanged, the core recognises it by its id.
            await self._handle(message)

    def _is_news(self, message: str, edited_at: datetime) -> bool:
        """Return True if a message was edited just now. Pins and previews arrive as edits too, with
        the time of the previous edit; they must not repeat a "stop" or a refusal."""
        edit = (message, edited_at)
        if edit in self._edits or datetime.now(UTC) - edited_at > RECENT_EDIT:
            return False
        self._edits[edit] = True
        return True

    async def _acknowledge(
        self, message: DiscordMessage, place: Place, outcome: AcceptedQuestion | Handled | Ignored
    ) -> None:
        if isinstance(outcome, Ignored):
            return
        self._record(message, place)
        if isinstance(outcome, AcceptedQuestion):
            if outcome.new and message.channel not in self._typing:
                self._typing[message.channel] = True
                self._show(self._client.http.send_typing(int(message.channel)))
            return
        await self._missed.save()  # reading a "stop" again would stop later questions
        if outcome.stopped:
            self._show(self._message(message.channel, message.id).add_reaction("👌"))
        else:
            self._reply(message, texts_for(message.locale)("nothing-running"))

    def _record(self, message: DiscordMessage, place: Place) -> None:
        if place.inside:
            self._missed.record_message(message)

    async def _author(self, message: DiscordMessage, place: Place) -> Author:
        """Return the author of a message. A message from the history has no roles; they are looked
        up where they matter."""
        guild = (
            None if message.server == IN_NO_SERVER else self._client.get_guild(int(message.server))
        )
        if guild is None:
            return await self._client.with_standing(message.author, place)
        if message.has_roles or not self._reception.settings.allow_roles:
            return message.author
        try:
            return author_of(await patiently(lambda: guild.fetch_member(int(message.author.id))))
        except discord.NotFound:
            log.debug("author has left", message=message.id)
            return message.author

    # ------------------------------------------------------------ signs

    def _deny(
        self, message: DiscordMessage, thread: Thread, address: Address, denied: Denied
    ) -> None:
        """Notify only the author; just once if they were not addressing Footnote."""
        key = (message.author.id, thread.key)
        if address != "footnote" and key in self._told:
            return
        if address != "footnote":
            self._told[key] = True
        self._show(self._whisper(message, sentence_for(denied, texts_for(message.locale))))

    async def _whisper(self, message: DiscordMessage, sentence: str) -> None:
        """Send a sentence as a direct message, or for a short time in the channel if the author
        does not accept those."""
        try:
            direct = await self._client.create_dm(discord.Object(message.author.id))
            await direct.send(sentence)
        except discord.Forbidden:
            reply = await self._message(message.channel, message.id).reply(
                sentence, mention_author=False
            )
            await asyncio.sleep(PRIVATE_SECONDS)
            await reply.delete()

    def _reply(self, message: DiscordMessage, text: str) -> None:
        """Reply to a message. The client's ``allowed_mentions`` prevent pings."""
        answered = self._message(message.channel, message.id)
        self._show(answered.reply(text, mention_author=False))

    def _show(self, showing: Coroutine[Any, Any, object]) -> None:
        """Show a reply, a reaction or a typing sign in the background."""
        self._background.later(_trying(showing))

    def _message(self, channel: str, id: str) -> discord.PartialMessage:
        return self._client.get_partial_messageable(int(channel)).get_partial_message(int(id))

    # ------------------------------------------------------------ places

    @property
    def _me(self) -> int:
        return self._client.user.id if self._client.user is not None else 0

    async def _place(self, channel: str, server: str) -> Place:
        """Return the place of a channel, after asking Discord if the channel is not cached."""
        id = int(channel)
        if server == IN_NO_SERVER:
            return place_of(discord.Object(id), None, is_member=True)
        found = self._client.get_channel(id)
        if found is None:
            found = await patiently(lambda: self._client.fetch_channel(id))
        return place_of(found, int(server), is_member=True)

    def _in_order(self, channel_id: int) -> asyncio.Lock:
        """Return the channel's lock, which its events acquire in the order of their arrival."""
        return self._orders.setdefault(channel_id, asyncio.Lock())


async def with_paste(client: discord.Client, message: DiscordMessage) -> DiscordMessage:
    """Return a message with the text that Discord's client has sent as a file, if it is one that a
    question can be."""
    if not message.paste:
        return message
    try:
        body = await client.http.get_from_cdn(message.paste)
    except FAILURES as error:
        log.info("paste not read", message=message.id, error=str(error))
        return message
    text = body.decode("utf-8", "replace").strip()
    is_short = len(text) <= MAX_QUESTION
    return replace(message, text=text, attachments=()) if is_short else message


async def _trying(showing: Coroutine[Any, Any, object]) -> None:
    try:
        await showing
    except FAILURES as error:
        log.info("not shown", error=str(error))


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
