"""Converts Discord's text to plain Markdown, and Discord's messages to ``Message``.

The markup is described at https://discord.com/developers/docs/reference#message-formatting. Inside
code it is left unchanged, as Discord does.
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import discord

from bot.core.messages import Attachment, Audience, Author, Message, Thread
from bot.pages.urls import links_in
from bot.service.access import IN_NO_SERVER
from bot.service.reception import Address
from bot.text.language import detect

# A block ends at the next fence. Inline code ends at as many backticks as it begins with; without
# them, its backticks are text (https://spec.commonmark.org/0.31.2/#code-spans).
_CODE = re.compile(
    r"(```\n*[^\n].*?```|(?<!`)``(?!`)[^\n]*?(?<!`)``(?!`)|(?<!`)`(?!`)[^\n]*?(?<!`)`(?!`))",
    re.DOTALL,
)
_FORM = re.compile(
    r"<@!?(?P<user>\d{1,20})>"
    r"|<@&(?P<role>\d{1,20})>"
    r"|<#(?P<channel>\d{1,20})>"
    r"|<a?:(?P<emoji>\w{1,32}):\d{1,20}>"
    r"|<t:(?P<time>-?\d{1,17})(?::[A-Za-z])?>"
    r"|</(?P<command>[^:<>\n]{1,100}):\d{1,20}>"
    r"|<(?P<url>https?://[^\s<>]+)>",
    re.ASCII,
)

Named = Callable[[int], str | None]


@dataclass(frozen=True, slots=True)
class Names:
    """Look-ups of names by id, which return None for an unknown id."""

    user: Named
    role: Named
    channel: Named


def plain_markdown(content: str, names: Names, own: Iterable[str] = ()) -> str:
    """Return a message's content with names for ids, dates for timestamps, and bare links.

    ``own`` are the mentions of Footnote itself (``<@1>``, ``<@!1>``, ``<@&2>``). They only address
    the message, so they are left out.
    """
    parts = _CODE.split(content)
    for index in range(0, len(parts), 2):
        parts[index] = _FORM.sub(lambda form: _written(form, names), _without(own, parts[index]))
    return "".join(parts).strip()


def mentions_in(content: str) -> frozenset[str]:
    """Return all mentions outside code, as written (``<@1>``)."""
    spoken = " ".join(_CODE.split(content)[::2])
    return frozenset(re.findall(r"<@[!&]?\d{1,20}>", spoken, re.ASCII))


def begins_with_mention(content: str) -> str:
    """Return the mention that a message begins with, including ``@everyone`` and ``@here``, or
    ""."""
    found = re.match(r"\s*(<@[!&]?\d{1,20}>|@everyone\b|@here\b)", content, re.ASCII)
    return found[1] if found else ""


def _without(mentions: Iterable[str], text: str) -> str:
    for mention in mentions:
        pattern = rf"(?:(?<![ \t])[ \t]++)?{re.escape(mention)}[ \t]*+(?:[,，:：][ \t]*+)?"
        text = re.sub(pattern, " ", text)
    return text


def _written(form: re.Match[str], names: Names) -> str:
    kind, value = form.lastgroup, form[form.lastgroup or 0]
    if kind == "user":
        return f"@{names.user(int(value)) or 'unknown-user'}"
    if kind == "role":
        return f"@{names.role(int(value)) or 'unknown-role'}"
    if kind == "channel":
        return f"#{names.channel(int(value)) or 'unknown-channel'}"
    if kind == "emoji":
        return f":{value}:"
    if kind == "command":
        return f"/{value}"
    return _date(int(value), form[0]) if kind == "time" else value


def _date(seconds: int, written: str) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (OverflowError, ValueError, OSError):  # not a date: Discord shows it unchanged
        return written


PLATFORM = "discord"

_QUESTIONS = (discord.MessageType.default, discord.MessageType.reply)
_SHOWN_NOT_READ = ("image/", "video/", "audio/")
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a message or an interaction; ``inside`` is the id of a thread or direct message,
    where the answer is posted in the same place. ``audience`` are its readers: only a direct
    message with the bot has one, and those of a place without the bot are strangers."""

    guild: str
    channel: str
    inside: str
    audience: Audience

    @property
    def direct(self) -> bool:
        return self.audience == "person"

    def thread(self, started_by: str) -> Thread:
        """Return the conversation here; in a channel, the one that ``started_by`` opens."""
        return Thread(PLATFORM, self.guild, self.channel, self.inside or started_by)


def place_of(channel: discord.abc.Snowflake, guild_id: int | None, *, is_member: bool) -> Place:
    """Return the place of a channel. ``guild_id`` is None outside of servers. ``is_member`` tells
    that the bot itself is there, and not only a person who installed the app."""
    if guild_id is None:
        is_private = is_member and not isinstance(channel, discord.GroupChannel)
        audience: Audience = "person" if is_private else "strangers"
        return Place(IN_NO_SERVER, str(channel.id), str(channel.id), audience)
    audience = "channel" if is_member else "strangers"
    if isinstance(channel, discord.Thread):
        return Place(str(guild_id), str(channel.parent_id), str(channel.id), audience)
    return Place(str(guild_id), str(channel.id), "", audience)


def is_said(message: discord.Message) -> bool:
    """Return True if a person wrote the message, rather than a bot, a webhook, or Discord itself
    (joins, pins, the notices of types 18 and 21 about threads)."""
    by_person = not message.author.bot and message.webhook_id is None
    return by_person and message.type in _QUESTIONS


def guild_id_of(message: discord.Message) -> int | None:
    """Return the id of a message's server, even if the server is not cached."""
    if message.guild is not None:
        return message.guild.id
    return getattr(message.channel, "guild_id", None)


def own_mentions(me: int, guild: discord.Guild | None) -> tuple[str, ...]:
    """Return the mentions of Footnote: its user, and the role that Discord made for it."""
    role = guild.self_role if guild is not None else None
    return (f"<@{me}>", f"<@!{me}>", *([f"<@&{role.id}>"] if role is not None else []))


def address_of(message: discord.Message, place: Place, me: int) -> Address | None:
    """Return whom a message addresses; None if it does not concern Footnote.

    In a channel only a mention counts: a reply pings by itself, and @everyone addresses no one in
    particular. In a thread a reply to Footnote addresses it.
    """
    if place.direct or mentions_in(message.content).intersection(own_mentions(me, message.guild)):
        return "footnote"
    if not place.inside:
        return None
    answered = _answered(message)
    if answered == me:
        return "footnote" if any(user.id == me for user in message.mentions) else "thread"
    if begins_with_mention(message.content) or answered not in (None, message.author.id):
        return "others"
    return "thread"


def _answered(message: discord.Message) -> int | None:
    """Return the author of the message that this one replies to."""
    resolved = message.reference.resolved if message.reference is not None else None
    return resolved.author.id if isinstance(resolved, discord.Message) else None


def message_from(message: discord.Message, place: Place, me: int) -> Message:
    """Convert a Discord message to the core's message."""
    text = text_of(message, me)
    return Message(
        event_id=str(message.id),
        thread=place.thread(str(message.id)),
        author=author_of(message.author),
        text=text,
        at=message.created_at,
        links=tuple(links_in(text)),
        attachments=attachments_of(message),
        locale=locale_of(text, message.guild),
        audience=place.audience,
    )


def text_of(message: discord.Message, me: int) -> str:
    """Return a message's text as plain Markdown, including the text of a forwarded message."""
    contents = [message.content, *(part.content for part in message.message_snapshots)]
    names = _names(message.guild, message.mentions)
    own = own_mentions(me, message.guild)
    return "\n\n".join(text for c in contents if (text := plain_markdown(c, names, own)))


def text_of_option(typed: str, guild: discord.Guild | None, me: int) -> str:
    """Return the text of a command's option as plain Markdown."""
    return plain_markdown(typed, _names(guild, ()), own_mentions(me, guild))


def author_of(user: discord.abc.User, permissions: discord.Permissions | None = None) -> Author:
    """Return the author; ``permissions`` are those that the event contains, if any."""
    if not isinstance(user, discord.Member):
        return Author(str(user.id), user.display_name)
    held = permissions or user.guild_permissions
    roles = tuple(str(role.id) for role in user.roles if role and not role.is_default())
    return Author(str(user.id), user.display_name, roles, held.manage_guild)


def attachments_of(message: discord.Message) -> tuple[Attachment, ...]:
    """Return the files of a message that can be read; images, video and audio are left out."""
    files = [*message.attachments]
    for part in message.message_snapshots:
        files += part.attachments
    found = []
    for file in files:
        media_type = file.content_type or mimetypes.guess_type(file.filename)[0] or ""
        if not media_type.startswith(_SHOWN_NOT_READ):
            found.append(Attachment(file.filename, media_type, file.url))
    return tuple(found)


def locale_of(text: str, guild: discord.Guild | None) -> str:
    """Return the language for a response: the message's, or the server's if the message has hardly
    any words."""
    language = detect(text)
    if language == "zh":
        return f"zh-{'TW' if _is_traditional(text, guild) else 'CN'}"
    if language != "en" or guild is None or len(_LATIN_WORD.findall(text)) >= 3:
        return language
    return str(guild.preferred_locale)


def _is_traditional(text: str, guild: discord.Guild | None) -> bool:
    """Return True for traditional Chinese, which the national character sets GB 2312 and Big5 tell
    apart from simplified; if every character is in both, the server's language decides."""
    only_traditional = sum(_only_in(char, "big5", "gb2312") for char in text)
    only_simplified = sum(_only_in(char, "gb2312", "big5") for char in text)
    if only_traditional == only_simplified:
        return guild is not None and str(guild.preferred_locale) == "zh-TW"
    return only_traditional > only_simplified


def _only_in(char: str, one: str, other: str) -> bool:
    return ord(char) > 0x3400 and _has(one, char) and not _has(other, char)


def _has(charset: str, char: str) -> bool:
    try:
        char.encode(charset)
    except UnicodeEncodeError:
        return False
    return True


def _names(guild: discord.Guild | None, mentioned: Sequence[discord.abc.User]) -> Names:
    people = {user.id: user.display_name for user in mentioned}

    def role(id: int) -> str | None:
        found = guild.get_role(id) if guild is not None else None
        return found.name.lstrip("@") if found is not None else None

    def channel(id: int) -> str | None:
        found = guild.get_channel_or_thread(id) if guild is not None else None
        return found.name if found is not None else None

    return Names(people.get, role, channel)
