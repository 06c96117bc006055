"""Discord's poster: finds the place for a reply, begins it, and deletes it.

It uses only REST, through a client that has logged in, and needs no gateway.

- A mention in a channel is answered in a thread made from it: the listener passes the message's id
  as the thread's, and the state ``{"message": id}``.
- In a thread or a direct message, the answer is a reply to the question.
- Where there is nothing to make a thread from (the first message of a forum post, which is inside
  one, and a reply to an answer in a channel), the listener adds ``{"place": channel}``.
- The response to a deferred command becomes its question, from which a thread is made; the listener
  passes the state ``{"interaction": …}`` and, in a channel, a thread id that is not a number.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial

import aiohttp
import discord
from discord.http import Route
from yarl import URL

from adapters.discord.buttons import rows_while_working
from adapters.discord.conversations import PUBLIC_THREADS, DiscordConversations, Servers
from adapters.discord.format import Look, echo, thread_name
from adapters.discord.limits import (
    REFRESH_SECONDS,
    SECONDS_BETWEEN_EDITS,
    THREAD_ARCHIVES_AFTER,
)
from adapters.discord.messages import (
    NOTICES,
    THREAD_STARTER,
    WITH_WORDS,
    DiscordMessage,
    Place,
    message_url,
    titled,
)
from adapters.discord.reply import (
    ORIGINAL,
    ChannelOutlet,
    DiscordDisplay,
    InteractionOutlet,
    Outlet,
    Post,
    Posted,
    nonce_of,
    parse_posted,
    tell_directly,
)
from adapters.discord.rest import Code, DiscordRefused, RestClient
from bot.core.egress import DIRECT, Egress
from bot.core.errors import FootnoteError, PageUnreadable, PlatformUnavailable, PostRefused
from bot.core.logs import get_logger
from bot.core.messages import Attachment, Message, Thread
from bot.core.posting import PostState, Reply, RunRef, Whereabouts, collect
from bot.core.reader import Reader
from bot.core.texts import texts_for
from bot.service.access import IN_NO_SERVER
from bot.service.replying import Pace, open_reply

FILE_HOSTS = frozenset(("cdn.discordapp.com", "media.discordapp.net"))
DOWNLOAD_SECONDS = 60.0
CHUNK = 64 * 1024  # bytes
NEW = timedelta(seconds=60)  # a question younger than this cannot have unsaved posts

# The place does not exist or is closed to us: the next one is tried.
_CLOSED = (
    Code.UNKNOWN_CHANNEL,
    Code.MISSING_ACCESS,
    Code.MISSING_PERMISSIONS,
    Code.WRONG_CHANNEL_TYPE,
    Code.CLOSED_DIRECT,
    Code.NO_TEXT_CHANNEL,
    Code.THREAD_LOCKED,
)

log = get_logger()


@dataclass(frozen=True, slots=True)
class _Place:
    """A place for a reply: a channel or thread ("": the response to the interaction), the message
    it answers there, and the text id of an apology for the place."""

    channel: str
    answers: str = ""
    gap: str = ""


class DiscordPoster:
    """See the module docstring. ``login`` is the login of ``client``, which may be in progress.

    ``between`` is the number of seconds between two edits of a reply's progress; ``egress``
    downloads the files of questions.
    """

    amends = True
    groups_setting = "discord_roles"

    def __init__(
        self,
        client: discord.Client,
        login: asyncio.Task[None] | None = None,
        *,
        between: float = SECONDS_BETWEEN_EDITS,
        egress: Egress = DIRECT,
    ) -> None:
        self._egress = egress
        self._rest = RestClient(client, login)
        self._servers = Servers(self._rest)
        self._pace = Pace(between, backoff=between, refresh=REFRESH_SECONDS)

    async def groups(self, message: Message, among: Collection[str]) -> frozenset[str]:
        """See ``bot.rights.rights.Membership``."""
        return await self._servers.roles_held(message.author.id, among)

    async def whereabouts(self, run: RunRef) -> Whereabouts:
        """See ``bot.core.posting.Locating``."""
        thread = run.message.thread
        id = run.message.event_id
        id = id if id.isdecimal() else ""  # that of a pressed button is not a message's
        link = message_url(thread.workspace, thread.thread, id)
        is_in_server = thread.workspace != IN_NO_SERVER
        server = await self._servers.server(thread.workspace) if is_in_server else None
        if server is None:
            return Whereabouts(link, "", thread.place)
        name = server.channels[thread.channel].name if thread.channel in server.channels else ""
        place = thread.home if thread.channel in server.open_to_all() else thread.place
        path = "/channels/{channel_id}"
        try:
            about = await self._rest.request("GET", path, channel_id=thread.thread)
        except DiscordRefused as refused:
            if refused.code != Code.UNKNOWN_CHANNEL:
                raise
            # No thread could be made: the conversation is in the channel itself.
            link = message_url(thread.workspace, thread.channel, id or thread.thread)
            return Whereabouts(link, name, place)
        return Whereabouts(link, name, place if about["type"] in PUBLIC_THREADS else thread.key)

    async def conversations(
        self, run: RunRef, saved: PostState | None, reader: Reader
    ) -> DiscordConversations:
        """See ``bot.search.conversation_search.Conversing``."""
        return DiscordConversations(self._rest, self._servers, run, reader)

    # ------------------------------------------------------------ beginning

    async def open(self, run: RunRef, saved: PostState | None) -> Reply:
        known = parse_posted(saved)
        if known.place:
            return await self._reply(run, known, self._answered_there(run, known), recovered=True)
        known = await self._with_question(run, known)
        async with aclosing(self._places(run, known)) as places:
            async for place in places:
                settled = replace(
                    known,
                    place=place.channel or ORIGINAL,
                    through="bot" if place.channel else "interaction",
                    gaps=(place.gap,) if place.gap else (),
                )
                try:
                    return await self._reply(run, settled, place.answers)
                except DiscordRefused as refused:
                    if refused.code not in _CLOSED:
                        await self._apologise(run, known)
                        raise
                    log.info("place closed", run=run.id, place=place.channel, error=str(refused))
        await self._apologise(run, known)
        raise PostRefused(texts_for(run.message.locale)("cannot-post"))

    async def _reply(
        self, run: RunRef, known: Posted, answers: str, *, recovered: bool = False
    ) -> Reply:
        """Return a reply in its place; ``recovered`` tells that an earlier attempt began it."""
        asked = run.message
        opening = ""
        if known.through == "interaction":
            opening = echo(asked.text, asked.author.name, texts_for(asked.locale))
        display = DiscordDisplay(
            run,
            known,
            self._outlet(known),
            answers=answers,
            opening=opening,
            recovered=recovered or datetime.now(UTC) - asked.at > NEW,
            apologise=partial(self._apologise, run, known),
        )
        return await open_reply(run, display, self._pace)

    def _outlet(self, known: Posted) -> Outlet:
        if known.through == "interaction" and known.interaction is not None:
            return InteractionOutlet(self._rest, known.interaction)
        return ChannelOutlet(self._rest, known.place)

    @staticmethod
    def _answered_there(run: RunRef, known: Posted) -> str:
        if known.question:
            return known.question if known.question != known.place else ""
        thread = run.message.thread.thread
        return thread if known.place == run.message.thread.channel != thread else ""

    async def _apologise(self, run: RunRef, known: Posted) -> None:
        """Notify only the asker that the answer cannot be posted: as the response to the command,
        or by direct message. If both fail, log it."""
        look = Look(texts_for(run.message.locale)("cannot-post"))
        try:
            if known.interaction is not None:
                outlet = InteractionOutlet(self._rest, known.interaction)
                await outlet.edit(ORIGINAL, Post(look))
                return
        except (DiscordRefused, PlatformUnavailable) as error:
            log.info("command not answered", run=run.id, error=str(error))
        try:
            post = Post(look, nonce=nonce_of(run.id, 0, -2))
            await tell_directly(self._rest, run.message.author.id, post)
        except (DiscordRefused, PlatformUnavailable) as error:
            log.warning("asker not notified", run=run.id, error=str(error))

    # ------------------------------------------------------------ the question

    async def _with_question(self, run: RunRef, known: Posted) -> Posted:
        """Return the state once the question is in the channel, where a command leaves no
        message."""
        asked = run.message
        if known.interaction is None and not known.question and _begins_its_thread(asked):
            return replace(known, question=asked.event_id)
        if known.interaction is None or known.question:
            return known
        content = echo(asked.text, asked.author.name, texts_for(asked.locale))
        post = Post(Look(content))
        outlet = InteractionOutlet(self._rest, known.interaction)
        try:
            question = await outlet.edit(ORIGINAL, post)
        except DiscordRefused as refused:
            log.info("command not answered", run=run.id, error=str(refused))
            # The interaction's 15 minutes are over: the question is posted as a normal message.
            channel = ChannelOutlet(self._rest, _standing(asked.thread))
            post = replace(post, nonce=nonce_of(run.id, 0, -1))
            try:
                question = await channel.create(post)
            except DiscordRefused:
                await self._apologise(run, known)
                raise
        return replace(known, question=question)

    # ------------------------------------------------------------ places

    async def _places(self, run: RunRef, known: Posted) -> AsyncGenerator[_Place]:
        """Yield the places where the reply may be posted, best first; each is tried only if those
        before are closed."""
        thread = run.message.thread
        if thread.workspace != IN_NO_SERVER and (
            thread.thread == known.question or not thread.thread.isdigit()
        ):
            async for place in self._places_in_channel(run, known):
                yield place
        else:
            inside = _standing(thread)
            yield _Place(inside, known.question if known.question != inside else "")
            if inside != thread.channel and not known.question:
                # An earlier answer is in the channel because no thread could be made.
                yield _Place(thread.channel, thread.thread)
        if known.interaction is not None:
            yield _Place("", gap="only-for-command")

    async def _places_in_channel(self, run: RunRef, known: Posted) -> AsyncGenerator[_Place]:
        thread, question = run.message.thread, known.question
        gap, made = "", False
        try:
            made = await self._make_thread(thread.channel, question, run.message.text)
        except DiscordRefused as refused:
            if refused.code == Code.UNKNOWN_MESSAGE:
                raise  # the question is gone
            log.info("no thread made", run=run.id, error=str(refused))
            gap = "cannot-open-thread"
        if thread.thread != question:
            await run.move(Thread(thread.platform, thread.workspace, thread.channel, question))
        if not gap:
            yield _Place(question)
        # A channel that cannot have threads (a voice channel) needs no apology.
        yield _Place(thread.channel, question, gap or ("cannot-open-thread" if made else ""))

    async def _make_thread(self, channel: str, question: str, text: str) -> bool:
        """Make a thread from the question. Return False if the channel cannot have threads, or the
        thread exists already."""
        try:
            await self._rest.request(
                "POST",
                "/channels/{channel_id}/messages/{message_id}/threads",
                json={"name": thread_name(text), "auto_archive_duration": THREAD_ARCHIVES_AFTER},
                channel_id=channel,
                message_id=question,
            )
        except DiscordRefused as refused:
            if refused.code not in (Code.THREAD_EXISTS, Code.WRONG_CHANNEL_TYPE):
                raise
            return False
        return True

    # ------------------------------------------------------------ waiting, leaving

    async def queued(self, run: RunRef, ahead: int) -> None:
        """Post in the thread that the run is queued. ``open`` finds the message by its nonce and
        button and makes it the reply's first. If that exists already, the run has begun and nothing
        is shown."""
        texts = texts_for(run.message.locale)
        thread, asked = run.message.thread, run.message.event_id
        if not thread.thread.isdigit():
            return  # a command has no thread yet, and its response shows "thinking"
        own = _begins_its_thread(run.message)
        if own:
            await self._make_thread(thread.channel, asked, run.message.text)
        post = Post(
            Look(texts("queued", ahead=ahead)),
            rows_while_working(run.id, texts),
            nonce=nonce_of(run.id, 0, 0),
            answers="" if own else asked,
        )
        try:
            await ChannelOutlet(self._rest, _standing(thread)).create_unless_there(post)
        except DiscordRefused as refused:
            if refused.code != Code.UNKNOWN_CHANNEL:
                raise
            await ChannelOutlet(self._rest, thread.channel).create_unless_there(post)

    async def remove(self, run: RunRef, saved: PostState | None) -> None:
        known = parse_posted(saved)
        if not known.place:
            known = replace(known, place=_standing(run.message.thread))
        outlet = self._outlet(known)
        for id in reversed((*known.posts, known.file) if known.file else known.posts):
            await self._delete(run, outlet, id)
        for id in await self._forgotten(run, outlet):
            await self._delete(run, outlet, id)
        if known.place == known.question and await self._is_ours_alone(known.place):
            await self._delete_thread(run, known.place)

    async def _delete(self, run: RunRef, outlet: Outlet, id: str) -> None:
        try:
            await outlet.delete(id)
        except DiscordRefused as refused:
            log.info("post not removed", run=run.id, error=str(refused))

    async def _forgotten(self, run: RunRef, outlet: Outlet) -> list[str]:
        try:
            said = await outlet.latest()
        except DiscordRefused:
            return []
        return [message.id for message in said if message.is_ours and run.id in message.runs]

    async def _is_ours_alone(self, thread: str) -> bool:
        """Return True if Footnote opened this thread and no one else wrote in it."""
        try:
            told = await self._rest.request("GET", "/channels/{channel_id}", channel_id=thread)
            said = await ChannelOutlet(self._rest, thread).latest()
        except DiscordRefused:
            return False
        is_ours = str(told.get("owner_id")) == self._rest.user_id
        return is_ours and all(message.is_ours or message.kind in NOTICES for message in said)

    async def _delete_thread(self, run: RunRef, thread: str) -> None:
        """Delete a thread; without the permission to manage threads, archive it, which takes it out
        of the channel's list."""
        path = "/channels/{channel_id}"
        try:
            await self._rest.request("DELETE", path, channel_id=thread)
        except DiscordRefused as refused:
            log.info("thread not deleted", run=run.id, error=str(refused))
            try:
                await self._rest.request("PATCH", path, json={"archived": True}, channel_id=thread)
            except DiscordRefused as kept:
                log.info("thread not archived", run=run.id, error=str(kept))

    # ------------------------------------------------------------ reading

    async def history(self, run: RunRef) -> Sequence[Message]:
        """Return the latest messages before the question, oldest first, without Footnote's own;
        none if the question begins its thread.

        Raises ``FootnoteError`` if reading is not allowed there, and ``PlatformUnavailable``.
        """
        thread, question = run.message.thread, run.message.event_id
        if thread.thread == question:
            return []
        inside = thread.channel if thread.workspace == IN_NO_SERVER else thread.thread
        found = await self._before(run, inside, question)
        place = Place(thread.workspace, thread.channel, thread.thread, run.message.audience)
        return [
            each.message_in(place)
            for each in found
            # A command's target message is the question itself, and may have begun the thread.
            if not each.is_ours
            and (each.text or each.attachments)
            and each.text != run.message.text
        ]

    async def _before(self, run: RunRef, channel: str, question: str) -> list[DiscordMessage]:
        try:
            said = await ChannelOutlet(self._rest, channel).latest()
        except DiscordRefused as refused:
            if refused.code == Code.UNKNOWN_CHANNEL:
                return []
            raise _unreadable(run, str(refused)) from refused
        if not said:  # the question is there, so Discord hides the history from us
            raise _unreadable(run, "no messages")
        found = []
        for each in said:
            if question.isdigit() and int(each.id) >= int(question):
                continue
            if each.kind == THREAD_STARTER and each.answered is not None:
                found.append(each.answered)
            elif each.id == channel:  # of a forum post, whose title only the thread has
                path = "/channels/{channel_id}"
                about = await self._rest.request("GET", path, channel_id=channel)
                found.append(replace(each, text=titled(about["name"], each.text)))
            elif each.kind in WITH_WORDS:
                found.append(each)
        return found

    async def download(self, run: RunRef, attachment: Attachment, limit: int) -> bytes:
        """Download a file, at most ``limit`` bytes.

        Raises ``PageUnreadable`` (too large, gone, elsewhere) and ``PlatformUnavailable``.
        """
        name, url = attachment.name, URL(attachment.download or attachment.url)
        if not _is_discords(url):
            sentence = f"The file {name} was not read: it is not on Discord's servers."
            raise PageUnreadable(sentence, detail=str(url.host))
        away = f"The file {name} could not be fetched from Discord: ask again later."
        connector, proxy = self._egress.connector(), self._egress.proxy_for(str(url)) or None
        try:
            async with (
                asyncio.timeout(DOWNLOAD_SECONDS),
                aiohttp.ClientSession(connector=connector, proxy=proxy) as session,
                session.get(url, allow_redirects=False) as response,
            ):
                status = response.status
                if status >= 500 or status == 429:
                    raise PlatformUnavailable(away, detail=str(status))
                if status != 200:
                    sentence = f"The file {name} is no longer there: attach it again."
                    raise PageUnreadable(sentence, detail=str(status))
                return await collect(response.content.iter_chunked(CHUNK), attachment, limit)
        except (aiohttp.ClientError, OSError) as error:
            raise PlatformUnavailable(away, detail=repr(error)) from error


def _unreadable(run: RunRef, detail: str) -> FootnoteError:
    return FootnoteError(texts_for(run.message.locale)("cannot-read-history"), detail=detail)


def _is_discords(url: URL) -> bool:
    if url.scheme == "https" and url.host in FILE_HOSTS:
        return True
    api = URL(Route.BASE)  # a server set in Discord's place stores files too
    here = (url.scheme, url.host, url.port)
    return api.host != "discord.com" and here == (api.scheme, api.host, api.port)


def _begins_its_thread(message: Message) -> bool:
    thread = message.thread
    return thread.workspace != IN_NO_SERVER and thread.thread == message.event_id


def _standing(thread: Thread) -> str:
    """Return the channel that contains the messages of a thread: the thread itself, if it
    exists."""
    inside = thread.workspace != IN_NO_SERVER and thread.thread.isdigit()
    return thread.thread if inside else thread.channel
