"""The door: what Discord sends becomes ``DiscordMessage``, ``DiscordInteraction`` and ``Place``.

Messages arrive from the gateway as objects of discord.py; ``RestClient.parsed`` makes the same of
those that arrive over REST. Behind this module nobody looks into them. ``parse_message`` is the one
place that knows which parts of a message are words and files. The markup of texts is described at
https://discord.com/developers/docs/reference#message-formatting; inside code it is left unchanged,
as Discord does.
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import discord

from adapters.discord.buttons import runs_in
from adapters.discord.format import written_in
from bot.core.errors import invalid
from bot.core.messages import Attachment, Audience, Author, Message, Thread, about_files, quotation
from bot.core.posting import PostState
from bot.core.reader import attached
from bot.core.texts import texts_for
from bot.pages.urls import links_in
from bot.service.access import IN_NO_SERVER
from bot.service.reception import Address
from bot.text.language import detect

PLATFORM = "discord"
PASTE = "message.txt"  # the file into which Discord's clients put a text that is too long for them
PASTE_BYTES = 100_000  # of a paste that is read as text; a longer one is a file

# Types of messages: https://docs.discord.com/developers/resources/message#message-object
QUESTIONS = (0, 19)  # a message, a reply
WITH_WORDS = (*QUESTIONS, 20, 23)  # also what apps answer to commands
NOTICES = (18, 21)  # that Discord itself puts at a thread's beginning
THREAD_STARTER = 21  # represents the message that a thread was made from

# Fields of a message that Footnote can do without if discord.py cannot parse them.
_SPARE = (
    *("mention_roles", "embeds", "sticker_items", "stickers", "components", "reactions", "poll"),
    *("activity", "application", "interaction", "interaction_metadata", "call"),
    *("role_subscription_data", "purchase_notification", "message_snapshots"),
)


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
    ``server`` its server (``IN_NO_SERVER``: direct, or unknown), ``kind`` Discord's type.

    ``content`` is its text as written. ``text`` is all that it says, as plain Markdown without
    mentions of Footnote: also a forum post's title, a poll, a forwarded message as a quotation, and
    of an app what its embeds and components say. ``paste`` is the address of a text that arrived as
    a file instead, or "". ``mentions_us``: it mentions Footnote outside code and quotes, by user or
    role; ``pings_us``: Discord notified Footnote. ``answers`` is the id of the message it replies
    to, and ``answered`` that message, as far as Discord included it. ``begun`` is the thread that
    was made from it. ``runs`` are those of its buttons. ``has_roles``: its author has the roles
    held in the server. ``proxied``: an app posted it for a person who writes under another name.
    ``forwards``: it only forwards another message.
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
    proxied: bool = False
    forwards: bool = False
    mentions_us: bool = False
    pings_us: bool = False
    answers: str = ""
    answered: DiscordMessage | None = None
    edited_at: datetime | None = None
    begun: str = ""
    attachments: tuple[Attachment, ...] = ()
    paste: str = ""
    runs: frozenset[str] = frozenset()
    has_roles: bool = False

    @property
    def is_said(self) -> bool:
        """True if a person wrote it, rather than an app, a webhook, or Discord itself (joins, pins,
        notices about threads)."""
        return (self.proxied or not self.by_app) and self.kind in QUESTIONS

    @property
    def question(self) -> str:
        """Its words, or a question about its files if it has none; "" without either."""
        return self.text or about_files(self.attachments, texts_for(self.locale))

    @property
    def quoted(self) -> str:
        """Its words as a quotation in somebody else's message; a forward is one already."""
        if self.forwards:
            return self.text
        return quotation(self.text, author=self.author.name, at=f"{self.at:%Y-%m-%d}")

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
        in particular. In a thread a reply to Footnote addresses it, unless it mentions others.
        """
        if place.audience == "person" or self.mentions_us:
            return "footnote"
        if not place.inside:
            return None
        if mentions_in(self.content):
            return "others"
        if self.answered is not None and self.answered.is_ours:
            return "footnote" if self.pings_us else "thread"
        is_reply = self.answered is not None and self.answered.author.id != self.author.id
        return "others" if is_reply else "thread"

    def message_in(self, place: Place, started_by: str = "") -> Message:
        """Return the core's message; ``started_by`` opens the conversation, if not this message."""
        return Message(
            event_id=self.id,
            thread=place.thread(started_by or self.id),
            author=self.author,
            text=self.text or ", ".join(file.name for file in self.attachments),
            at=self.at,
            links=tuple(links_in(self.text)),
            attachments=self.attachments,
            locale=self.locale,
            audience=place.audience,
        )


def parse_message(message: discord.Message, me: int) -> DiscordMessage:
    """Parse a message from the gateway, of a command, or from REST. ``me`` is the bot's user id."""
    guild, reference = message.guild, message.reference
    guild_id = guild.id if guild is not None else getattr(message.channel, "guild_id", None)
    own = own_mentions(me, guild)
    names = _names(guild, message.mentions)
    is_reply = reference is not None and reference.type is discord.MessageReferenceType.default
    resolved = reference.resolved if reference is not None and is_reply else None
    by_app = message.author.bot or message.webhook_id is not None
    said = [
        *_title(message),
        plain_markdown(message.content, names, own),
        *_poll(message.poll),
        *(_of_app(message, names) if by_app else ()),
        *(_forwarded(snapshot, message, names) for snapshot in message.message_snapshots),
    ]
    text = "\n\n".join(filter(None, said))
    parts: tuple[discord.Message | discord.MessageSnapshot, ...] = (
        message,
        *message.message_snapshots,
    )
    files = [file for part in parts for file in part.attachments]
    components: list[Any] = [component.to_dict() for component in message.components]
    return DiscordMessage(
        id=str(message.id),
        channel=str(message.channel.id),
        author=author_of(message.author),
        content=message.content or written_in(components),
        text=text,
        at=message.created_at,
        kind=message.type.value,
        server=IN_NO_SERVER if guild_id is None else str(guild_id),
        server_locale=str(guild.preferred_locale) if guild is not None else "",
        is_ours=message.author.id == me,
        by_app=by_app,
        # A webhook's id is its app's own if the message answers a command.
        proxied=message.application_id not in (None, message.webhook_id)
        and message.webhook_id is not None,
        forwards=bool(message.message_snapshots) and not message.content,
        mentions_us=not mentions_in(message.content).isdisjoint(own),
        pings_us=any(user.id == me for user in message.mentions),
        answers=str(reference.message_id or "") if reference is not None and is_reply else "",
        answered=parse_message(resolved, me) if isinstance(resolved, discord.Message) else None,
        edited_at=message.edited_at,
        begun=str(message.id) if message.flags.has_thread else "",
        attachments=tuple(map(_attachment, files)),
        paste=_paste(files) if not text else "",
        runs=frozenset(runs_in(components)),
        has_roles=isinstance(message.author, discord.Member),
    )


def without_spare(raw: dict[str, Any]) -> dict[str, Any]:
    """Return a message's JSON without what Footnote can do without, for discord.py to parse."""
    kept = {name: value for name, value in raw.items() if name not in _SPARE}
    if isinstance(answered := raw.get("referenced_message"), dict):
        kept["referenced_message"] = without_spare(answered)
    return kept | {"embeds": [], "components": [], "mention_roles": []}


def titled(title: str, text: str, tags: Iterable[str] = ()) -> str:
    """Return the first message of a forum post with the post's title and tags above it."""
    listed = ", ".join(tags)
    return "\n\n".join(filter(None, (f"{title} ({listed})" if listed else title, text)))


def _title(message: discord.Message) -> Iterator[str]:
    thread = message.channel
    if not isinstance(thread, discord.Thread) or thread.id != message.id:
        return
    if isinstance(thread.parent, discord.ForumChannel):
        yield titled(thread.name, "", (tag.name for tag in thread.applied_tags))


def _poll(poll: discord.Poll | None) -> Iterator[str]:
    if poll is not None:
        yield "\n".join([poll.question, *(f"- {answer.text}" for answer in poll.answers)])


def _forwarded(snapshot: discord.MessageSnapshot, message: discord.Message, names: Named) -> str:
    """Return a forwarded message as a quotation. Discord does not say who wrote it."""
    said = (plain_markdown(snapshot.content, names), *_of_app(snapshot, names))
    text = "\n\n".join(filter(None, said))
    channel = names("channel", message.reference.channel_id) if message.reference else None
    place = f"#{channel}" if channel else ""
    return quotation(text, place=place, at=f"{snapshot.created_at:%Y-%m-%d}") if text else ""


def _of_app(part: discord.Message | discord.MessageSnapshot, names: Named) -> Iterator[str]:
    """Yield what the embeds and components of an app's message say. Embeds of other types are link
    previews, which Discord adds to anybody's message."""
    for embed in part.embeds:
        if embed.type == "rich":
            head = f"[{embed.title}]({embed.url})" if embed.title and embed.url else embed.title
            fields = (f"**{field.name}**: {field.value}" for field in embed.fields)
            parts = (embed.author.name, head, embed.description, *fields)
            yield plain_markdown("\n\n".join(filter(None, parts)), names)
    for text in _displayed(part.components):
        yield plain_markdown(text, names)


def _displayed(components: Iterable[Any]) -> Iterator[str]:
    for component in components:
        if isinstance(component, discord.TextDisplay):
            yield component.content
        else:
            yield from _displayed(getattr(component, "children", ()))


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


def _attachment(file: discord.Attachment) -> Attachment:
    """Return a file. Its address is without the signature, which changes and expires: clients sign
    the addresses in messages anew (https://docs.discord.com/developers/reference, Signed Attachment
    CDN URLs)."""
    media_type = file.content_type or mimetypes.guess_type(file.filename)[0] or ""
    url = attached(file.url.partition("?")[0])
    return Attachment(file.filename, media_type, url, download=file.url)


def _paste(files: Sequence[discord.Attachment]) -> str:
    is_paste = len(files) == 1 and files[0].filename == PASTE and files[0].size <= PASTE_BYTES
    return files[0].url if is_paste else ""


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
    if target is not None:
        asked = parse_message(target, me)
        text, sent = asked.question, asked.attachments
    else:
        asked, sent = None, tuple(map(_attachment, files))
        text = plain_markdown(typed, _names(guild, ()), own_mentions(me, guild))
        text = text or about_files(sent, texts_for(str(interaction.locale)))
    return DiscordInteraction(
        id=str(interaction.id),
        token=interaction.token,
        application_id=str(interaction.application_id),
        place=place_of(interaction.channel, guild_id, is_member=is_member),
        author=author_of(interaction.user, interaction.permissions if guild_id else None),
        at=interaction.created_at,
        locale=str(interaction.locale),
        text=text,
        target=asked,
        attachments=sent,
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
# ">" quotes a line, ">>>" all that follows.
_QUOTE = re.compile(r"^(?:>>> (?s:.*)|> .*)", re.MULTILINE)
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")

Named = Callable[[str, int], str | None]
"""Looks up the name of a "user", a "role" or a "channel" by its id; None for an unknown one."""


def _names(guild: discord.Guild | None, mentioned: Sequence[discord.abc.User]) -> Named:
    people = {user.id: user.display_name for user in mentioned}

    def name(kind: str, id: int) -> str | None:
        if kind == "user" or guild is None:
            return people.get(id) if kind == "user" else None
        found = guild.get_role(id) if kind == "role" else guild.get_channel_or_thread(id)
        return found.name.lstrip("@") if found is not None else None

    return name


def own_mentions(me: int, guild: discord.Guild | None) -> tuple[str, ...]:
    """Return the mentions of Footnote: its user, and the role that Discord made for it."""
    role = guild.self_role if guild is not None else None
    return (f"<@{me}>", f"<@!{me}>", *([f"<@&{role.id}>"] if role is not None else []))


def plain_markdown(content: str, names: Named, own: Iterable[str] = ()) -> str:
    """Return a message's content with names for ids, dates for timestamps, and bare links.

    ``own`` are the mentions of Footnote itself (``<@1>``, ``<@!1>``, ``<@&2>``). They only address
    the message, so they are left out.
    """
    parts = _CODE.split(content)
    for index in range(0, len(parts), 2):
        parts[index] = _FORM.sub(lambda form: _written(form, names), _without(own, parts[index]))
    return "".join(parts).strip()


def mentions_in(content: str) -> frozenset[str]:
    """Return all mentions outside code and quotes, as written (``<@1>``, ``@here``)."""
    spoken = _QUOTE.sub("", "`".join(_CODE.split(content)[::2]))
    mention = r"<@[!&]?\d{1,20}>|(?<![\w.])@(?:everyone|here)\b"
    return frozenset(re.findall(mention, spoken, re.ASCII))


def _without(mentions: Iterable[str], text: str) -> str:
    for mention in mentions:
        pattern = rf"(?:(?<![ \t])[ \t]++)?{re.escape(mention)}[ \t]*+(?:[,，:：][ \t]*+)?"
        text = re.sub(pattern, " ", text)
    return text


def _written(form: re.Match[str], names: Named) -> str:
    kind, value = form.lastgroup, form[form.lastgroup or 0]
    match kind:
        case "user" | "role" | "channel":
            sign = "#" if kind == "channel" else "@"
            return f"{sign}{names(kind, int(value)) or f'unknown-{kind}'}"
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
