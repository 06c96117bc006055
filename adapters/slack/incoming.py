"""Parses what Slack sends into frozen values, once: behind this module nothing looks into JSON.

An event becomes one of ``SlackEvent``, a slash command a ``Command``, a press on a control a
``SlackPress``, a message shortcut a ``Shortcut``. A ``SlackMessage`` is the same value wherever a
message comes from: an event, a shortcut, a thread or a search. Parsing raises ``MALFORMED`` where
something is missing that cannot be done without.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal, Self, TypeVar

from adapters.slack.format import Json
from adapters.slack.mrkdwn import (
    QUOTED_LINE,
    Quote,
    dict_of,
    dicts,
    mentions_in,
    shown_in,
    string_of,
    unescape,
    without_mention,
)
from bot.core.logs import get_logger
from bot.core.messages import Attachment, Audience, Author, Message, Thread
from bot.core.reader import attached
from bot.pages.urls import links_in

PLATFORM = "slack"
EVENT_TYPE = "footnote_run"  # of the metadata of Footnote's own messages

# Subtypes of messages that people write (https://docs.slack.dev/reference/events/message).
_SPEECH = frozenset((None, "file_share", "thread_broadcast", "me_message"))
STUB = "check_file_info"  # the ``file_access`` of a file of Slack Connect that is only named

# Errors that parsing JSON of an unexpected shape raises. ``FootnoteError`` is not among them.
MALFORMED = (LookupError, TypeError, ValueError, AttributeError, OverflowError)

T = TypeVar("T")

log = get_logger()


class CoreBroke(Exception):
    """The core raised an error that would be mistaken for a malformed payload."""


async def by_core(work: Awaitable[T]) -> T:
    """Await the core's work on a parsed event. Raises ``CoreBroke`` in place of ``MALFORMED``."""
    try:
        return await work
    except MALFORMED as error:
        raise CoreBroke(repr(error)) from error


def note(error: Exception) -> None:
    """Log a payload that is acknowledged and dropped."""
    log.warning("Slack sent an unreadable payload, dropped", error=repr(error)[:300])


# ---------------------------------------------------------------- places

# The mark of a channel shared with another company, in the envelope of an event.
SHARED = "is_ext_shared_channel"

Kind = Literal["public", "private", "mpim", "im"]
# The ``channel_type`` of events (https://docs.slack.dev/reference/events/message).
_KINDS: Mapping[str, Kind] = {"channel": "public", "group": "private", "mpim": "mpim", "im": "im"}


def is_direct(channel: str) -> bool:
    """Return True for the id of a conversation of two; if Footnote can post there, it is one of
    them."""
    return channel.startswith("D")


@dataclass(frozen=True, slots=True)
class Place:
    """A channel or conversation. ``shared`` tells that people of another company are in it, and is
    None if Slack did not tell. Sharing among the workspaces of one organisation does not count."""

    kind: Kind
    shared: bool | None

    @classmethod
    def of_event(cls, event: Json, shared: object) -> Self:
        """Return the place of an event; ``shared`` is the mark of its envelope, ``SHARED``.
        ``app_mention`` tells no kind."""
        kind = _KINDS.get(str(event.get("channel_type"))) or _kind_of(event.get("channel"))
        return cls(kind, shared if isinstance(shared, bool) else None)

    @classmethod
    def of_id(cls, channel: str) -> Self:
        """Return the place of a command, shortcut or press, which tell no more than the id."""
        return cls(_kind_of(channel), None)

    @classmethod
    def of_description(cls, about: Json) -> Self:
        """Return the place that ``conversations.info`` describes."""
        kind: Kind = "private"
        if about.get("is_im") or about.get("is_mpim"):
            kind = "im" if about.get("is_im") else "mpim"
        elif about.get("is_channel") and not about.get("is_private"):
            kind = "public"
        shared = about.get("is_ext_shared")
        return cls(kind, shared if isinstance(shared, bool) else None)

    @property
    def audience(self) -> Audience:
        if self.kind == "im":  # who may be a guest, as Slack tells of each person
            return "person"
        if self.shared:
            return "outsiders"
        if self.shared is None:
            return "unknown"
        return "workspace" if self.kind == "public" else "channel"


def _kind_of(channel: object) -> Kind:
    return "im" if is_direct(str(channel)) else "private"


# ---------------------------------------------------------------- messages


# ``either`` is a person who writes through an app, or an app with a user of its own: their JSON is
# the same. ``none`` wrote notices, such as of a join or a new topic, and hidden messages.
Writer = Literal["person", "app", "either", "none"]


@dataclass(frozen=True, slots=True)
class SlackMessage:
    """A message: all that Footnote reads of it.

    ``thread_ts`` is "" outside a thread. ``user`` is the id of the author, or "" if Slack does not
    name it; ``bot`` is the id of the app that posted it, or "", and ``app_name`` its name. A person
    can write through an app. ``teams`` are the ids of the author's workspaces and organisations, as
    far as they are told. ``words`` is Slack's own text of all that is shown, also in blocks and
    attachments, without previews of links; ``quotes`` are the messages that it forwards or links
    to. ``mentions`` are ids of people, also those in the text for notifications, but none that are
    only quoted. ``stubs`` are the ids of files of which Slack has to be asked for more.

    ``action_token`` allows searching, for some minutes, what the author may see. ``run`` and
    ``part`` are those of a message of Footnote; ``stream`` is the state of a streamed message, and
    None for others.
    """

    channel: str
    ts: str
    writer: Writer
    place: Place
    thread_ts: str = ""
    user: str = ""
    bot: str = ""
    app_name: str = ""
    teams: tuple[str, ...] = ()
    words: str = ""
    quotes: tuple[Quote, ...] = ()
    mentions: tuple[str, ...] = ()
    files: tuple[Attachment, ...] = ()
    stubs: tuple[str, ...] = ()
    action_token: str = ""
    run: str = ""
    part: int = 0
    stream: str | None = None

    @property
    def said(self) -> tuple[str, tuple[Quote, ...]]:
        """All words, empty strings included."""
        return self.words, self.quotes

    @property
    def is_silent(self) -> bool:
        """True if it has no words, and perhaps files."""
        return not (self.words or self.quotes)

    @property
    def is_empty(self) -> bool:
        return self.is_silent and not (self.files or self.stubs)

    @property
    def id(self) -> str:
        """The same for all events about it."""
        return event_id(self.channel, self.ts)

    @property
    def is_reply(self) -> bool:
        return self.thread_ts not in ("", self.ts)

    @property
    def author(self) -> str:
        """The id of a person, an app's user, or an app."""
        return self.user or self.bot

    def thread(self, team: str) -> Thread:
        """Return the thread it is in, or the one that a reply to it would begin."""
        return Thread(PLATFORM, team, self.channel, self.thread_ts or self.ts)

    def people(self) -> list[str]:
        """Return the ids of the person who wrote it and of those mentioned or quoted in it."""
        writer = [self.user] if self.user and self.writer != "app" else []
        quoted = [id for quote in self.quotes for id in quote.people()]
        return list(dict.fromkeys([*writer, *mentions_in(self.words), *quoted]))

    def markdown(self, names: Mapping[str, str], without: str = "") -> str:
        """Return its words as Markdown, followed by its quotes. ``names`` are as in ``unescape``;
        mentions of the user ``without`` are left out of its own words."""
        own = unescape(without_mention(self.words, without) if without else self.words, names)
        return "\n\n".join(filter(None, (own, *(each.markdown(names) for each in self.quotes))))

    def to_message(
        self,
        thread: Thread,
        author: Author,
        text: str,
        locale: str,
        *,
        audience: Audience = "channel",
        conversations: bool = False,
    ) -> Message:
        """Build the core's message; ``text`` is its Markdown."""
        return Message(
            event_id=self.id,
            thread=thread,
            author=author,
            text=text,
            at=datetime.fromtimestamp(float(self.ts), UTC),
            links=tuple(links_in(text)),
            attachments=self.files,
            locale=locale,
            audience=audience,
            conversations=conversations,
        )


def is_person(user: str) -> bool:
    """Return True for the id of a user, False for that of an app without one."""
    return user.startswith(("U", "W"))


def event_id(channel: str, ts: str) -> str:
    return f"{channel}:{ts}"


def parse_message(message: Json, channel: str, place: Place | None = None) -> SlackMessage:
    """Parse a message, whose JSON need not name its ``channel``."""
    run, part = _run_of(message)
    words, quotes, files = shown_in(message)
    own = QUOTED_LINE.sub("", f"{message.get('text') or ''}\n{words}")
    bot, user = str(message.get("bot_id") or ""), str(message.get("user") or "")
    profile = dict_of(message.get("bot_profile"))
    teams = _teams_of(message)
    if bot and profile.get("team_id"):
        teams = (str(profile["team_id"]),)
    return SlackMessage(
        channel=_id(channel),
        ts=str(message["ts"]),
        writer=_writer(message),
        place=place or Place.of_id(channel),
        thread_ts=str(message.get("thread_ts") or ""),
        user=user,
        bot=bot,
        app_name=str(profile.get("name") or message.get("username") or user or bot),
        teams=teams,
        words=words,
        quotes=quotes,
        mentions=tuple(mentions_in(own)),
        files=attachments_of([file for file in files if file.get("file_access") != STUB]),
        stubs=tuple(str(file["id"]) for file in files if file.get("file_access") == STUB),
        action_token=str(message.get("action_token") or ""),
        run=run,
        part=part,
        stream=str(message["streaming_state"]) if "streaming_state" in message else None,
    )


def _id(id: object) -> str:
    if not isinstance(id, str):
        raise TypeError(f"no id: {id!r}")
    return id


def _writer(message: Json) -> Writer:
    subtype, bot = message.get("subtype"), message.get("bot_id")
    if message.get("hidden"):
        return "none"
    if bot and message.get("user") and subtype in _SPEECH:
        return "either"
    if bot:
        return "app" if subtype in _SPEECH | {"bot_message"} else "none"
    return "person" if subtype in _SPEECH and message.get("user") else "none"


def _teams_of(payload: Json) -> tuple[str, ...]:
    """Return the author's teams that an event, message or command names.

    ``source_team`` is ignored: in channels that another team shares, Slack has been seen to give
    that team's id for our own members.
    """
    told = (payload.get(name) for name in ("user_team", "team", "team_id"))
    return tuple([team for team in told if isinstance(team, str)][:1])


def _run_of(message: Json) -> tuple[str, int]:
    """Return the run and the part that a message's metadata names; "" for other messages."""
    metadata = dict_of(message.get("metadata"))
    payload = dict_of(metadata.get("event_payload"))
    if metadata.get("event_type") != EVENT_TYPE or not isinstance(payload.get("run"), str):
        return "", 0
    part = payload.get("part")
    return payload["run"], part if isinstance(part, int) else 0


def attachments_of(files: Sequence[Json]) -> tuple[Attachment, ...]:
    """Return the files of a message, also those that cannot be downloaded."""
    return tuple(map(_attachment_of, files))


# https://docs.slack.dev/reference/objects/file-object
_UNREAD_MODES: Mapping[object, str] = {
    "tombstone": "file-gone",
    "hidden_by_limit": "file-hidden",
    "external": "file-elsewhere",
}
_CANVASES = "application/vnd.slack-"  # media types of canvases and lists


def _attachment_of(file: Json) -> Attachment:
    url, kind = string_of(file.get("url_private")), string_of(file.get("mimetype"))
    unread = _UNREAD_MODES.get(file.get("mode"), "" if url else "file-not-shown")
    if file.get("is_external"):
        unread = "file-elsewhere"
    elif kind.startswith(_CANVASES):
        unread = "file-is-canvas"
    name = str(file.get("name") or file.get("title") or file.get("id") or "")
    return Attachment(
        name=name,
        media_type=kind or "application/octet-stream",
        url=attached(str(file.get("permalink") or url or name)),
        download="" if unread else str(file.get("url_private_download") or url),
        unread=unread,
    )


# ---------------------------------------------------------------- events


@dataclass(frozen=True, slots=True)
class Mention:
    """``app_mention``: in a channel it comes besides the event of the same message."""

    message: SlackMessage


@dataclass(frozen=True, slots=True)
class Edit:
    """A changed message, and what it was ``before``. Slack does not always name its author."""

    message: SlackMessage
    before: SlackMessage


@dataclass(frozen=True, slots=True)
class Deletion:
    """A deleted message, with its thread's ts, or "" if Slack does not tell."""

    channel: str
    ts: str
    thread_ts: str


@dataclass(frozen=True, slots=True)
class SessionStop:
    """``agent_session_stopped``, which Slack's own Stop button sends."""

    channel: str
    thread_ts: str


@dataclass(frozen=True, slots=True)
class Reaction:
    """``reaction_added`` to a message; ``name`` is without the skin tone."""

    name: str
    channel: str
    ts: str
    item_user: str


@dataclass(frozen=True, slots=True)
class Opened:
    """``app_home_opened``: a person opened the Home tab or the messages tab."""

    user: str
    channel: str
    is_home: bool


@dataclass(frozen=True, slots=True)
class Viewing:
    """``app_context_changed``: a person looks at another ``channel`` ("" for none) beside the
    messages tab."""

    user: str
    channel: str


@dataclass(frozen=True, slots=True)
class LinkShared:
    """``link_shared``: a person posted ``links`` to the app's domain in a message."""

    user: str
    channel: str
    ts: str
    links: tuple[str, ...]


Told = SessionStop | Reaction | Opened | Viewing | LinkShared
SlackEvent = SlackMessage | Mention | Edit | Deletion | Told


def parse_event(
    event: Json, shared: object = None, authorizations: object = None
) -> SlackEvent | None:
    """Parse an event; None if it is of no interest. ``shared`` is the mark ``SHARED`` of its
    envelope, which alone tells whether other organisations are in the channel; its
    ``authorizations`` alone may name the person who views something."""
    match event["type"]:
        case "app_mention":
            return Mention(_message_of(event, event, shared))
        case "message":
            return _parse_message_event(event, shared)
        case "agent_session_stopped":
            thread_ts = str(event.get("thread_ts") or event["ts"])
            return SessionStop(_id(event["channel"]), thread_ts)
        case "reaction_added":
            item = event.get("item") or {}
            name = str(event.get("reaction", "")).partition("::")[0]
            if item.get("type") != "message":
                return None
            author = str(event.get("item_user") or "")
            return Reaction(name, _id(item["channel"]), str(item["ts"]), author)
        case "app_home_opened":
            is_home = event.get("tab") == "home"
            return Opened(str(event["user"]), str(event["channel"]), is_home)
        case "app_context_changed":
            people = [one for one in dicts(authorizations) if one.get("is_bot") is False]
            named = [event.get("user"), *(one.get("user_id") for one in people)]
            user = next((id for id in named if isinstance(id, str) and id), "")
            return Viewing(user, _channel_viewed(event)) if user else None
        case "link_shared":
            if event.get("source") == "composer":  # not posted yet
                return None
            links = tuple(str(one["url"]) for one in dicts(event.get("links")))
            user, channel = str(event["user"]), _id(event["channel"])
            return LinkShared(user, channel, str(event["message_ts"]), links)
    return None


def _channel_viewed(event: Json) -> str:
    """Return the first channel among the entities, which are ordered by relevance."""
    for entity in dicts(dict_of(event.get("context")).get("entities")):
        value = entity.get("value")
        if entity.get("type") == "slack#/types/message_context":
            value = dict_of(value).get("channel_id")
        elif entity.get("type") != "slack#/types/channel_id":
            continue
        if isinstance(value, str) and value and not is_direct(value):
            return value
    return ""


def _message_of(event: Json, message: Json, shared: object) -> SlackMessage:
    return parse_message(message, event["channel"], Place.of_event(event, shared))


def _parse_message_event(event: Json, shared: object) -> SlackEvent | None:
    match event.get("subtype"):
        case "message_deleted":
            message = event.get("previous_message") or {}
            return _deletion(event["channel"], event.get("deleted_ts"), message)
        case "message_changed":
            message, before = event["message"], event.get("previous_message") or {}
            if message.get("subtype") == "tombstone":  # a deleted message that began a thread
                return _deletion(event["channel"], None, message)
            # Some edits name their author in only one of these places, or not at all.
            edited = message.get("edited")
            editor = edited.get("user") if isinstance(edited, dict) else None
            author = message.get("user") or before.get("user") or editor
            parsed = _message_of(event, {**message, "user": author or "?"}, shared)
            earlier = parse_message({"ts": parsed.ts, **before}, parsed.channel)
            return Edit(replace(parsed, user=str(author or "")), earlier)
    return _message_of(event, event, shared)


def _deletion(channel: object, ts: object, message: Json) -> Deletion | None:
    known = str(message.get("ts") or "")
    id = str(ts or known)
    thread_ts = str(message.get("thread_ts") or known) if known else ""
    return Deletion(_id(channel), id, thread_ts) if id else None


# ---------------------------------------------------------------- commands, controls, shortcuts


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command. ``teams`` are those of the person who used it."""

    name: str
    user: str
    user_name: str
    channel: str
    text: str
    trigger: str
    response_url: str
    teams: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SlackPress:
    """Controls that were pressed, each as its action id and value.

    ``teams`` are those of the presser; ``is_ephemeral`` tells that only the presser sees the
    message with the controls.
    """

    user: str
    channel: str
    thread_ts: str
    trigger: str
    response_url: str
    is_ephemeral: bool
    controls: tuple[tuple[str, str], ...]
    teams: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A message shortcut. ``teams`` are those of the person who used it."""

    name: str
    user: str
    message: SlackMessage
    response_url: str
    teams: tuple[str, ...]


def parse_command(command: Json) -> Command:
    return Command(
        name=str(command["command"]),
        user=str(command["user_id"]),
        user_name=str(command.get("user_name") or ""),
        channel=str(command["channel_id"]),
        text=str(command.get("text") or ""),
        trigger=str(command["trigger_id"]),
        response_url=str(command.get("response_url") or ""),
        teams=_teams_of(command),
    )


def parse_press(body: Json) -> SlackPress:
    """Parse ``block_actions``."""
    container = body.get("container") or {}
    actions = [(action, action.get("selected_option") or action) for action in body["actions"]]
    return SlackPress(
        user=str(body["user"]["id"]),
        channel=str((body.get("channel") or {}).get("id") or container.get("channel_id") or ""),
        thread_ts=str(container.get("thread_ts") or ""),
        trigger=str(body.get("trigger_id") or ""),
        response_url=str(body.get("response_url") or ""),
        is_ephemeral=bool(container.get("is_ephemeral")),
        controls=tuple(
            (str(action.get("action_id")), str(chosen.get("value") or ""))
            for action, chosen in actions
        ),
        teams=_teams_of_user(body),
    )


def parse_shortcut(body: Json) -> Shortcut:
    """Parse ``message_action``."""
    return Shortcut(
        name=str(body["callback_id"]),
        user=str(body["user"]["id"]),
        message=parse_message(body["message"], str(body["channel"]["id"])),
        response_url=str(body.get("response_url") or ""),
        teams=_teams_of_user(body),
    )


def _teams_of_user(body: Json) -> tuple[str, ...]:
    """Return the teams of who acted; the payload's own ``team`` is the place where it happened."""
    return _teams_of({"team_id": body["user"].get("team_id")})
