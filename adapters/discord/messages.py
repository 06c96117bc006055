"""The door: what Discord sends becomes ``DiscordMessage``, ``DiscordInteraction`` and ``Place``.

Messages arrive from the gateway as objects of discord.py, and over REST as JSON. Behind this module
nobody looks into either. The markup of texts is described at
https://discord.com/developers/docs/reference#message-formatting; inside code it is left unchanged,
as Discord does.
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import discord

from adapters.discord.buttons import runs_in
from adapters.discord.format import written_in
from bot.core.messages import Attachment, Audience, Author, Message, Thread
from bot.core.posting import PostState
from bot.core.texts import invalid
from bot.pages.urls import links_in
from bot.service.access import IN_NO_SERVER
from bot.service.reception import Address
from bot.text.language import detect

PLATFORM = "discord"
Raw = Mapping[str, Any]  # JSON as REST returns it

# Types of messages: https://docs.discord.com/developers/resources/message#message-object
QUESTIONS = (0, 19)  # a message, a reply
NOTICES = (18, 21)  # that Discord itself puts at a thread's beginning
THREAD_STARTER = 21  # represents the message that a thread was made from


def message_url(server: str, channel: str, id: str = "") -> str:
    return f"https://discord.com/channels/{server}/{channel}" + (f"/{id}" if id else "")


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a message or an interaction; ``inside`` is the id of a thread or direct message,
    where the answer is posted in the same place. ``audience`` are its readers: only a direct
    message with the bot has one, and those of a place without the bot are strangers."""

    server: str
    channel: str
    inside: str
    audience: Audience

    def thread(self, started_by: str) -> Thread:
        """Return the conversation here; in a channel, the one that ``started_by`` opens."""
        return Thread(PLATFORM, self.server, self.channel, self.inside or started_by)


def place_of(channel: discord.abc.Snowflake, guild_id: int | None, *, is_member: bool) -> Place:
    """Return the place of a channel. ``guild_id`` is None outside of servers. ``is_member`` tells
    that the bot itself is there, and not only a person who installed the app."""
    id = str(channel.id)
    if guild_id is None:
        is_private = is_member and not isinstance(channel, discord.GroupChannel)
        return Place(IN_NO_SERVER, id, id, "person" if is_private else "strangers")
    audience: Audience = "channel" if is_member else "strangers"
    if isinstance(channel, discord.Thread):
        return Place(str(guild_id), str(channel.parent_id), id, audience)
    return Place(str(guild_id), id, "", audience)


# ---------------------------------------------------------------- messages


@dataclass(frozen=True, slots=True)
class DiscordMessage:
    """One message. ``channel`` is the channel, thread or direct message that contains it,
    ``server`` its server (``IN_NO_SERVER``: direct; "": unknown), ``kind`` Discord's type.

    ``content`` is its text as written, ``text`` plain Markdown without mentions of Footnote.
    ``mentions_us``: it mentions Footnote outside code, by user or role; ``pings_us``: Discord
    notified Footnote. ``answers`` is the id of the message it replies to, and ``answered`` that
    message, as far as Discord included it. ``begun`` is the thread that was made from it. ``runs``
    are those of its buttons. ``has_roles``: its author has the roles held in the server.
    """

    id: str
    channel: str
    author: Author
    content: str
    text: str
    at: datetime
    kind: int = 0
    server: str = ""
    server_locale: str = ""
    is_ours: bool = False
    by_app: bool = False
    mentions_us: bool = False
    pings_us: bool = False
    answers: str = ""
    answered: DiscordMessage | None = None
    edited_at: datetime | None = None
    begun: str = ""
    attachments: tuple[Attachment, ...] = ()
    runs: frozenset[str] = frozenset()
    has_roles: bool = False

    @property
    def is_said(self) -> bool:
        """True if a person wrote it, rather than an app, a webhook, or Discord itself (joins, pins,
        notices about threads)."""
        return not self.by_app and self.kind in QUESTIONS

    @property
    def url(self) -> str:
        return message_url(self.server, self.channel, self.id)

    @property
    def locale(self) -> str:
        """The language for a response: the message's, or the server's if the message has hardly any
        words."""
        return locale_of(self.text, self.server_locale)

    def address_in(self, place: Place) -> Address | None:
        """Return whom the message addresses; None if it does not concern Footnote.

        In a channel only a mention counts: a reply pings by itself, and @everyone addresses no one
        in particular. In a thread a reply to Footnote addresses it.
        """
        if place.audience == "person" or self.mentions_us:
            return "footnote"
        if not place.inside:
            return None
        if self.answered is not None and self.answered.is_ours:
            return "footnote" if self.pings_us else "thread"
        is_reply = self.answered is not None and self.answered.author.id != self.author.id
        is_to_others = is_reply or begins_with_mention(self.content)
        return "others" if is_to_others else "thread"

    def message_in(self, place: Place) -> Message:
        return Message(
            event_id=self.id,
            thread=place.thread(self.id),
            author=self.author,
            text=self.text,
            at=self.at,
            links=tuple(links_in(self.text)),
            attachments=self.attachments,
            locale=self.locale,
            audience=place.audience,
        )


def parse_message(message: discord.Message, me: int) -> DiscordMessage:
    """Parse a message from the gateway, or of a command. ``me`` is the bot's user id. Its text
    includes that of a forwarded message; images, video and audio are left out of its files."""
    guild, reference = message.guild, message.reference
    guild_id = guild.id if guild is not None else getattr(message.channel, "guild_id", None)
    own = own_mentions(me, guild)
    names = _names(guild, message.mentions)
    resolved = reference.resolved if reference is not None else None
    parts: tuple[discord.Message | discord.MessageSnapshot, ...] = (
        message,
        *message.message_snapshots,
    )
    texts = (plain_markdown(part.content, names, own) for part in parts)
    files = (_attachment(file) for part in parts for file in part.attachments)
    return DiscordMessage(
        id=str(message.id),
        channel=str(message.channel.id),
        author=author_of(message.author),
        content=message.content,
        text="\n\n".join(filter(None, texts)),
        at=message.created_at,
        kind=message.type.value,
        server=IN_NO_SERVER if guild_id is None else str(guild_id),
        server_locale=str(guild.preferred_locale) if guild is not None else "",
        is_ours=message.author.id == me,
        by_app=message.author.bot or message.webhook_id is not None,
        mentions_us=not mentions_in(message.content).isdisjoint(own),
        pings_us=any(user.id == me for user in message.mentions),
        answers=str(reference.message_id or "") if reference is not None else "",
        answered=parse_message(resolved, me) if isinstance(resolved, discord.Message) else None,
        edited_at=message.edited_at,
        begun=str(message.id) if message.flags.has_thread else "",
        attachments=tuple(file for file in files if file is not None),
        has_roles=isinstance(message.author, discord.Member),
    )


def parse_raw(raw: Raw, me: str, server: str = "") -> DiscordMessage:
    """Parse a message from REST, in which names of roles and channels are unknown."""
    components, author = raw.get("components") or (), raw["author"]
    content = str(raw.get("content") or "") or written_in(components)
    people = {int(user["id"]): _name(user) for user in raw.get("mentions") or ()}
    own = (f"<@{me}>", f"<@!{me}>")
    answered = raw.get("referenced_message")
    return DiscordMessage(
        id=str(raw["id"]),
        channel=str(raw.get("channel_id") or ""),
        author=Author(str(author["id"]), _name(author)),
        content=content,
        text=plain_markdown(content, Names(people.get), own),
        at=discord.utils.snowflake_time(int(raw["id"])),
        kind=int(raw.get("type") or 0),
        server=server,
        is_ours=str(author["id"]) == me,
        by_app=bool(author.get("bot") or raw.get("webhook_id")),
        mentions_us=not mentions_in(content).isdisjoint(own),
        answered=parse_raw(answered, me, server) if answered else None,
        begun=str((raw.get("thread") or {}).get("id") or ""),
        runs=frozenset(runs_in(components)),
    )


def _name(user: Raw) -> str:
    return str(user.get("global_name") or user.get("username") or "someone")


def guild_id_of(message: DiscordMessage) -> int:
    """Return the id of a message's server as discord.py has it; 0 for a direct message."""
    return 0 if message.server == IN_NO_SERVER else int(message.server)


def author_of(user: discord.abc.User, permissions: discord.Permissions | None = None) -> Author:
    """Return the author; ``permissions`` are those that the event contains, if any."""
    if not isinstance(user, discord.Member):
        return Author(str(user.id), user.display_name)
    held = permissions or user.guild_permissions
    roles = tuple(str(role.id) for role in user.roles if role and not role.is_default())
    return Author(str(user.id), user.display_name, roles, held.manage_guild)


def _attachment(file: discord.Attachment) -> Attachment | None:
    media_type = file.content_type or mimetypes.guess_type(file.filename)[0] or ""
    if media_type.startswith(("image/", "video/", "audio/")):
        return None
    return Attachment(file.filename, media_type, file.url)


# ---------------------------------------------------------------- interactions


@dataclass(frozen=True, slots=True)
class DiscordInteraction:
    """A command or a press. ``text`` is the question typed, or that of ``target``, the message
    whose menu was used. ``is_installed``: the bot is a member of the server, so that it can post
    there."""

    id: str
    token: str
    application_id: str
    place: Place
    author: Author
    at: datetime
    locale: str
    text: str
    target: DiscordMessage | None
    attachments: tuple[Attachment, ...]
    is_installed: bool

    @property
    def message(self) -> Message:
        """The core's message; in a channel its thread does not exist yet."""
        return Message(
            event_id=self.id,
            thread=self.place.thread(f"pending-{self.id}"),
            author=self.author,
            text=self.text,
            at=self.at,
            links=tuple(links_in(self.text)),
            attachments=self.attachments,
            locale=self.locale,
            audience=self.place.audience,
        )

    @property
    def post_state(self) -> PostState:
        """The state with which the poster can use the interaction's response for 15 minutes."""
        application = self.application_id
        return {"interaction": {"id": self.id, "token": self.token, "application_id": application}}


def parse_interaction(
    interaction: discord.Interaction[Any],
    typed: str = "",
    target: discord.Message | None = None,
    files: Iterable[discord.Attachment] = (),
) -> DiscordInteraction:
    """Parse an interaction; ``files`` come with what was ``typed``. Raises ``Invalid`` for an
    unknown kind of channel."""
    if interaction.channel is None:  # of a kind that discord.py does not know yet
        raise invalid("place-unknown")
    guild_id, guild, user = interaction.guild_id, interaction.guild, interaction.client.user
    me = user.id if user is not None else interaction.application_id
    is_installed = interaction.is_guild_integration()
    if guild_id is None:
        is_member = interaction.context.dm_channel  # with the bot, not with other people
    else:
        is_member = is_installed or interaction.client.get_guild(guild_id) is not None
    asked = parse_message(target, me) if target is not None else None
    return DiscordInteraction(
        id=str(interaction.id),
        token=interaction.token,
        application_id=str(interaction.application_id),
        place=place_of(interaction.channel, guild_id, is_member=is_member),
        author=author_of(interaction.user, interaction.permissions if guild_id else None),
        at=interaction.created_at,
        locale=str(interaction.locale),
        text=asked.text
        if asked is not None
        else plain_markdown(typed, _names(guild, ()), own_mentions(me, guild)),
        target=asked,
        attachments=asked.attachments
        if asked is not None
        else tuple(filter(None, map(_attachment, files))),
        is_installed=is_installed,
    )


# ---------------------------------------------------------------- text

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
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")

Named = Callable[[int], str | None]


def _unknown(id: int) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Names:
    """Look-ups of names by id, which return None for an unknown id."""

    user: Named
    role: Named = _unknown
    channel: Named = _unknown


def _names(guild: discord.Guild | None, mentioned: Sequence[discord.abc.User]) -> Names:
    people = {user.id: user.display_name for user in mentioned}
    if guild is None:
        return Names(people.get)

    def role(id: int) -> str | None:
        found = guild.get_role(id)
        return found.name.lstrip("@") if found is not None else None

    def channel(id: int) -> str | None:
        found = guild.get_channel_or_thread(id)
        return found.name if found is not None else None

    return Names(people.get, role, channel)


def own_mentions(me: int, guild: discord.Guild | None) -> tuple[str, ...]:
    """Return the mentions of Footnote: its user, and the role that Discord made for it."""
    role = guild.self_role if guild is not None else None
    return (f"<@{me}>", f"<@!{me}>", *([f"<@&{role.id}>"] if role is not None else []))


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


def begins_with_mention(content: str) -> bool:
    """Return True if a message begins with a mention, including ``@everyone`` and ``@here``."""
    return re.match(r"\s*(?:<@[!&]?\d{1,20}>|@(?:everyone|here)\b)", content, re.ASCII) is not None


def _without(mentions: Iterable[str], text: str) -> str:
    for mention in mentions:
        pattern = rf"(?:(?<![ \t])[ \t]++)?{re.escape(mention)}[ \t]*+(?:[,，:：][ \t]*+)?"
        text = re.sub(pattern, " ", text)
    return text


def _written(form: re.Match[str], names: Names) -> str:
    kind, value = form.lastgroup, form[form.lastgroup or 0]
    match kind:
        case "user":
            return f"@{names.user(int(value)) or 'unknown-user'}"
        case "role":
            return f"@{names.role(int(value)) or 'unknown-role'}"
        case "channel":
            return f"#{names.channel(int(value)) or 'unknown-channel'}"
        case "emoji":
            return f":{value}:"
        case "command":
            return f"/{value}"
        case "time":
            return _date(int(value), form[0])
    return value


def _date(seconds: int, written: str) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (OverflowError, ValueError, OSError):  # not a date: Discord shows it unchanged
        return written


def locale_of(text: str, server: str) -> str:
    """Return the language of a text. ``server`` is the server's ("": none), for texts with hardly
    any words, and for Chinese in characters that are both traditional and simplified."""
    language = detect(text)
    if language == "zh":
        return f"zh-{'TW' if _is_traditional(text, server) else 'CN'}"
    if language != "en" or len(_LATIN_WORD.findall(text)) >= 3:
        return language
    return server or language


def _is_traditional(text: str, server: str) -> bool:
    han = [char for char in text if char > "\u3400"]
    simplified, traditional = (
        sum(bool(char.encode(charset, "ignore")) for char in han) for charset in ("gb2312", "big5")
    )
    return server == "zh-TW" if traditional == simplified else traditional > simplified
