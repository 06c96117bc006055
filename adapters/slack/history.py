"""Reads the thread before the question, and the files that came with a message."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from urllib.parse import urlsplit

import aiohttp

from adapters.slack.apps import author_id, name_of_app
from adapters.slack.calls import Calls, Json, Limited, Refusal
from adapters.slack.incoming import mentions_in, to_message, unescape
from adapters.slack.people import People
from adapters.slack.posted_messages import is_about, is_ts, message_ts, run_of, thread_messages
from adapters.slack.teams import Team
from adapters.slack.words import words_of
from bot.errors import FootnoteError, PlatformUnavailable, PostRefused
from bot.messages import Attachment, Author, Message
from bot.posting import RunRef, collected
from bot.rendering.texts import texts_for

MESSAGES = 300  # of a thread, the latest ones; more than a reasoner is shown
SLACK_HOSTS = ("slack.com", "slack-files.com")  # and hosts below them: where files are kept
FILE_SECONDS = 60.0
CHUNK = 64 * 1024  # bytes


async def thread_history(team: Team, run: RunRef) -> Sequence[Message]:
    """The thread's earlier messages, oldest first, without Footnote's own.

    Nothing where the question began the thread, or in direct messages: all in them is said to
    Footnote. Raises ``FootnoteError`` with the sentence why it cannot be read.
    """
    where = run.message.thread
    asked = message_ts(run)
    began_it = asked == where.thread and not is_about(run)
    if where.channel.startswith("D") or began_it or not is_ts(where.thread):
        return ()
    texts = texts_for(run.message.locale)
    try:
        user = await team.bot_user(patience=team.calls.timing.reading)
        said = await thread_messages(
            team.calls, where.channel, where.thread, latest=None if is_about(run) else asked
        )
    except Refusal as refusal:
        raise PostRefused(texts("cannot-read-history"), detail=refusal.detail) from refusal
    except Limited as limited:
        raise PlatformUnavailable(
            texts("history-too-slow"), detail=limited.detail, retry_after=limited.retry_after
        ) from limited
    heard = [
        message for message in said if _is_said(message, user) and str(message["ts"]) != asked
    ][-MESSAGES:]
    names = await _names(team.people, heard)
    return [_message(run, message, names) for message in heard]


def _is_said(message: Json, user: str) -> bool:
    """Whether somebody but Footnote said something with it."""
    subtype = message.get("subtype")
    said = subtype in (None, "file_share", "thread_broadcast", "me_message", "bot_message")
    ours = message.get("user") == user or run_of(message)[0] is not None
    return said and not ours and bool(words_of(message) or message.get("files"))


async def _names(people: People, messages: Sequence[Json]) -> dict[str, str]:
    """The names of those who speak and are spoken of; who cannot be looked up is left out."""
    ids: dict[str, None] = {}
    for message in messages:
        if message.get("user") and not message.get("bot_id"):
            ids[str(message["user"])] = None
        ids |= dict.fromkeys(mentions_in(words_of(message)))
    found = await asyncio.gather(*map(people.person, ids), return_exceptions=True)
    names: dict[str, str] = {}
    for id, person in zip(ids, found, strict=True):
        if isinstance(person, FootnoteError):
            continue
        if isinstance(person, BaseException):
            raise person
        names[id] = person.name
    return names


def _message(run: RunRef, message: Json, names: dict[str, str]) -> Message:
    user = author_id(message)
    return to_message(
        message,
        thread=run.message.thread,
        author=Author(user, names.get(user) or name_of_app(message)),
        text=unescape(words_of(message), names),
        locale=run.message.locale,
    )


async def downloaded(calls: Calls, attachment: Attachment, limit: int) -> bytes:
    """A file of Slack's, at most ``limit`` bytes.

    The bot's token goes to Slack's hosts only, and to no place they send it on to. Raises
    ``PageUnreadable``, ``PostRefused`` and ``PlatformUnavailable``.
    """
    client = calls.client
    url = attachment.download or attachment.url
    if not _is_slack(url, client.base_url):
        raise PostRefused(f"{attachment.name} is not kept by Slack: share the file itself.")
    headers = {"Authorization": f"Bearer {client.token}"}
    timeout = aiohttp.ClientTimeout(total=FILE_SECONDS)
    session = client.session if client.session and not client.session.closed else None
    own = session or aiohttp.ClientSession(trust_env=client.trust_env_in_session)
    try:
        async with own.get(
            url, headers=headers, timeout=timeout, allow_redirects=False, proxy=client.proxy
        ) as response:
            return await _body(response, attachment, limit)
    except (aiohttp.ClientError, OSError) as error:
        raise PlatformUnavailable(
            f"Slack did not deliver {attachment.name}: ask again later.", detail=repr(error)
        ) from error
    finally:
        if session is None:
            await own.close()


async def _body(response: aiohttp.ClientResponse, attachment: Attachment, limit: int) -> bytes:
    if response.status == 429 or response.status >= 500:
        raise PlatformUnavailable(
            f"Slack did not deliver {attachment.name}: ask again later.",
            detail=str(response.status),
        )
    signed_out = response.content_type == "text/html" and "html" not in attachment.media_type
    if response.status != 200 or signed_out:
        # Without the right to read a file Slack shows its sign-in page instead.
        raise PostRefused(
            f"Slack does not let Footnote read {attachment.name}: its app needs the scope "
            "files:read.",
            detail=str(response.status),
        )
    return await collected(response.content.iter_chunked(CHUNK), attachment, limit)


def _is_slack(url: str, base_url: str) -> bool:
    """Whether a URL leads to Slack: its own hosts by https, or the gateway that stands for it."""
    try:
        target, base = urlsplit(url), urlsplit(base_url)
        same = (target.scheme, target.hostname, target.port) == (
            base.scheme,
            base.hostname,
            base.port,
        )
    except ValueError:
        return False
    host = (target.hostname or "").lower()
    ours = any(host == name or host.endswith(f".{name}") for name in SLACK_HOSTS)
    return same or (target.scheme == "https" and ours and target.port in (None, 443))
