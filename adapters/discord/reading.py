"""Reads a run's input from Discord: the thread before the question, and files."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import aiohttp
from discord.http import Route
from yarl import URL

from adapters.discord import wire
from adapters.discord.incoming import Names, plain_markdown
from adapters.discord.limits import HISTORY_PAGE
from adapters.discord.wire import DiscordRefused, Wire
from bot.core.egress import Egress
from bot.core.errors import FootnoteError, PageUnreadable, PlatformUnavailable
from bot.core.messages import Attachment, Author, Message
from bot.core.posting import RunRef, collect
from bot.core.texts import texts_for
from bot.pages.urls import links_in
from bot.service.access import IN_NO_SERVER

SAID = (0, 19)  # message types: a message, a reply
THREAD_STARTER = 21  # represents the message that a thread was made from


async def read_history(wire: Wire, run: RunRef) -> Sequence[Message]:
    """Return the latest messages before the question, oldest first, without Footnote's own.

    In a thread that the question begins, return the message it replies to. Raises ``FootnoteError``
    if reading is not allowed there, and ``PlatformUnavailable``.
    """
    thread, question = run.message.thread, run.message.event_id
    if thread.thread == question:
        raw = await _answered(wire, thread.channel, question)
    else:
        inside = thread.channel if thread.workspace == IN_NO_SERVER else thread.thread
        raw = await _before(wire, run, inside, question)
    said = [
        _message(one, run, wire.user_id)
        for one in raw
        if str(one["author"]["id"]) != wire.user_id and one.get("content")
    ]
    # A command's target message is the question itself, and may have begun the thread.
    return [message for message in said if message.text != run.message.text]


async def _answered(wire: Wire, channel: str, question: str) -> list[Mapping[str, Any]]:
    try:
        asked = await wire.request(
            "GET",
            "/channels/{channel_id}/messages/{message_id}",
            channel_id=channel,
            message_id=question,
        )
    except DiscordRefused:  # the thread is new: perhaps nothing is missing
        return []
    answered = asked.get("referenced_message")
    return [answered] if answered else []


async def _before(wire_: Wire, run: RunRef, channel: str, question: str) -> list[Mapping[str, Any]]:
    try:
        told = await wire_.request(
            "GET",
            "/channels/{channel_id}/messages",
            query={"limit": HISTORY_PAGE},
            channel_id=channel,
        )
    except DiscordRefused as refused:
        if refused.code == wire.UNKNOWN_CHANNEL:
            return []
        raise _unreadable(run, str(refused)) from refused
    if not told:  # the question is there, so Discord hides the history from us
        raise _unreadable(run, "no messages")
    until = int(question) if question.isdigit() else None
    said: list[Mapping[str, Any]] = []
    for one in sorted(told, key=lambda message: int(message["id"])):
        if until is not None and int(one["id"]) >= until:
            continue
        if one["type"] == THREAD_STARTER and one.get("referenced_message"):
            said.append(one["referenced_message"])
        elif one["type"] in SAID:
            said.append(one)
    return said


def _unreadable(run: RunRef, detail: str) -> FootnoteError:
    return FootnoteError(texts_for(run.message.locale)("cannot-read-history"), detail=detail)


def _message(raw: Mapping[str, Any], run: RunRef, our_id: str) -> Message:
    text = text_of_raw(raw, our_id)
    return Message(
        event_id=str(raw["id"]),
        thread=run.message.thread,
        author=Author(str(raw["author"]["id"]), name_of(raw["author"])),
        text=text,
        at=datetime.fromisoformat(raw["timestamp"]),
        links=tuple(links_in(text)),
    )


def text_of_raw(raw: Mapping[str, Any], our_id: str) -> str:
    """Return the text of a message from REST as plain Markdown."""
    own = (f"<@{our_id}>", f"<@!{our_id}>")
    return plain_markdown(str(raw.get("content", "")), _names(raw.get("mentions", ())), own)


def _names(mentioned: Iterable[Mapping[str, Any]]) -> Names:
    people = {int(user["id"]): name_of(user) for user in mentioned}
    return Names(people.get, lambda id: None, lambda id: None)


def name_of(user: Mapping[str, Any]) -> str:
    """Return the display name of a user from REST."""
    return str(user.get("global_name") or user.get("username") or "someone")


HOSTS = frozenset(("cdn.discordapp.com", "media.discordapp.net"))
SECONDS = 60.0
CHUNK = 64 * 1024  # bytes


async def download(attachment: Attachment, limit: int, egress: Egress) -> bytes:
    """Download a file, at most ``limit`` bytes.

    Raises ``PageUnreadable`` (too large, gone, elsewhere) and ``PlatformUnavailable``.
    """
    url = URL(attachment.download or attachment.url)
    if not _is_discords(url):
        raise PageUnreadable(
            f"The file {attachment.name} was not read: it is not on Discord's servers.",
            detail=str(url.host),
        )
    try:
        async with (
            asyncio.timeout(SECONDS),
            aiohttp.ClientSession(
                connector=egress.connector(), proxy=egress.proxy_for(str(url)) or None
            ) as session,
            session.get(url, allow_redirects=False) as response,
        ):
            _check(attachment, response)
            return await collect(response.content.iter_chunked(CHUNK), attachment, limit)
    except (aiohttp.ClientError, OSError) as error:
        raise PlatformUnavailable(
            f"The file {attachment.name} could not be fetched from Discord: ask again later.",
            detail=repr(error),
        ) from error


def _is_discords(url: URL) -> bool:
    if url.scheme == "https" and url.host in HOSTS:
        return True
    api = URL(Route.BASE)  # a server set in Discord's place stores files too
    return api.host != "discord.com" and (url.scheme, url.host, url.port) == (
        api.scheme,
        api.host,
        api.port,
    )


def _check(attachment: Attachment, response: aiohttp.ClientResponse) -> None:
    if response.status >= 500 or response.status == 429:
        raise PlatformUnavailable(
            f"The file {attachment.name} could not be fetched from Discord: ask again later.",
            detail=str(response.status),
        )
    if response.status != 200:
        raise PageUnreadable(
            f"The file {attachment.name} is no longer there: attach it again.",
            detail=str(response.status),
        )
