"""The content of a Slack workspace: people, channels, messages, files, sessions."""

from __future__ import annotations

import copy
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.slack_files import File
from tests.fakes.slack_limits import SCOPE_OF_KIND, STREAM_SECONDS, Manifest

Json = dict[str, Any]

TEAM = "T0FOOTNOTE"
BOT_USER = "U0FOOTBOT"
BOT_ID = "B0FOOTBOT"
APP_ID = "A0FOOTNOTE"
VERIFICATION_TOKEN = "verification-token"


@dataclass(slots=True)
class User:
    id: str
    name: str
    locale: str = "en-US"
    is_bot: bool = False
    deleted: bool = False
    is_admin: bool = False
    team: str = TEAM
    enterprise: str | None = None
    is_restricted: bool = False  # a guest
    is_ultra_restricted: bool = False  # a guest of a single channel; is_restricted as well
    is_stranger: bool = False  # of another team, known from a shared channel only

    def json(self, include_locale: bool) -> Json:
        profile = {"real_name": self.name.title(), "display_name": self.name, "team": self.team}
        shown: Json = {
            "id": self.id,
            "team_id": self.team,
            "name": self.name,
            "deleted": self.deleted,
            "real_name": self.name.title(),
            "tz": "Asia/Tokyo",
            "tz_offset": 32_400,
            "profile": profile,
            "is_bot": self.is_bot,
            "is_app_user": False,
        }
        if self.is_stranger:  # whose rights Slack does not show
            shown["is_stranger"] = True
        else:
            shown |= {
                "is_admin": self.is_admin,
                "is_restricted": self.is_restricted or self.is_ultra_restricted,
                "is_ultra_restricted": self.is_ultra_restricted,
            }
        if self.enterprise:
            shown["enterprise_user"] = {
                "id": self.id,
                "enterprise_id": self.enterprise,
                "teams": [self.team],
                "is_admin": False,
            }
        return {**shown, "locale": self.locale} if include_locale else shown


@dataclass(frozen=True, slots=True)
class App:
    """Another app; ``user`` is its bot user, which a workflow or webhook does not have."""

    bot_id: str
    name: str
    user: str | None = None
    team: str = TEAM

    def json(self, message: Json) -> Json:
        """Return a message of the app as Slack sends it."""
        own: Json = {"bot_id": self.bot_id, "app_id": f"A{self.bot_id[1:]}"}
        if self.user is None:
            message = {key: value for key, value in message.items() if key not in ("user", "team")}
            return {**message, **own, "subtype": "bot_message", "username": self.name}
        profile = {"id": self.bot_id, "app_id": own["app_id"], "name": self.name}
        return {**message, **own, "bot_profile": {**profile, "team_id": self.team}}


@dataclass(slots=True)
class Channel:
    id: str
    name: str
    kind: str = "channel"  # channel, group (private), im, mpim: Slack's `channel_type`
    members: set[str] = field(default_factory=set)
    archived: bool = False
    org: bool = False  # shared with other workspaces of the organisation

    @property
    def shown_name(self) -> str:
        """Its name in a command and an interaction, which do not tell a private one."""
        return self.name if self.kind in ("channel", "im") else "privategroup"


@dataclass(slots=True)
class Stream:
    """The state of a streamed message."""

    started: float
    state: str = "streaming"  # streaming | stopped | expired | stopped_by_user
    characters: int = 0
    plan_title: str | None = None
    tasks: dict[str, Json] = field(default_factory=dict)
    text: str = ""
    shown: list[Json] = field(default_factory=list)  # Markdown and blocks, in their order
    recipient: str | None = None


@dataclass(slots=True)
class Message:
    channel: str
    ts: str
    user: str
    text: str
    thread_ts: str | None = None
    blocks: list[Json] = field(default_factory=list)
    subtype: str | None = None
    bot_id: str | None = None
    metadata: Json | None = None
    edited: Json | None = None
    files: list[File] = field(default_factory=list)
    attachments: list[Json] = field(default_factory=list)
    reactions: dict[str, list[str]] = field(default_factory=dict)
    ephemeral_to: str | None = None
    stream: Stream | None = None
    client_msg_id: str | None = None

    @property
    def root(self) -> str:
        return self.thread_ts or self.ts


@dataclass(slots=True)
class Session:
    status: str
    title: str | None = None
    history: list[str] = field(default_factory=list)


class Clock:
    """Wall time that a test can move forward; streams, rates and `ts` follow it."""

    def __init__(self) -> None:
        self._ahead = 0.0
        self._last = 0
        self._lock = threading.Lock()

    def now(self) -> float:
        return time.time() + self._ahead

    def advance(self, seconds: float) -> None:
        self._ahead += seconds

    def ts(self) -> str:
        """Return a unique, increasing message timestamp."""
        with self._lock:
            self._last = max(self._last + 1, int(self.now() * 1_000_000))
            return f"{self._last // 1_000_000}.{self._last % 1_000_000:06d}"


@dataclass(frozen=True, slots=True)
class Tenant:
    """A workspace, and the app's identity in it.

    ``enterprise`` is the organisation it belongs to, or None; ``whole``: the app was installed for
    the whole organisation.
    """

    team: str = TEAM
    bot_user: str = BOT_USER
    bot_id: str = BOT_ID
    name: str = "Footnote Test"
    domain: str = "footnote-test"
    enterprise: str | None = None
    whole: bool = False


class Workspace:
    """The state of a workspace, guarded by ``lock``; every change notifies waiters."""

    def __init__(
        self, manifest: Manifest, base: Callable[[], str], tenant: Tenant | None = None
    ) -> None:
        self.manifest = manifest
        tenant = tenant or Tenant()
        self.team, self.name, self.domain = tenant.team, tenant.name, tenant.domain
        self.bot_user, self.bot_id = tenant.bot_user, tenant.bot_id
        self.enterprise, self.whole = tenant.enterprise, tenant.whole
        self.scopes = set(manifest.scopes)
        self.clock = Clock()
        self.lock = threading.Condition(threading.RLock())
        self.users: dict[str, User] = {}
        self.channels: dict[str, Channel] = {}
        self.files: dict[str, File] = {}
        self.apps: dict[str, App] = {}  # other apps, by bot id
        self.user_groups: dict[str, set[str]] = {}  # id → people
        self.sessions: dict[tuple[str, str], Session] = {}
        self.assistant: dict[tuple[str, str], Json] = {}
        self.views: dict[str, Json] = {}  # user → published home view
        self.modals: list[Json] = []
        self.action_tokens: dict[str, tuple[str, float]] = {}  # token → person, made at
        self.triggers: dict[str, tuple[float, bool]] = {}  # id → made at, already used
        self.unfurl_domains: set[str] = set()  # of the app
        self.emit: Callable[[Json], object] = lambda event: None
        self._base = base
        self._messages: dict[tuple[str, str], Message] = {}
        self._threads: dict[tuple[str, str], list[Message]] = {}  # by root, in order
        self._streaming: list[Message] = []
        self._numbers = itertools.count(1)
        self.add_user(self.bot_user, "footnote", is_bot=True)

    def new_id(self, prefix: str) -> str:
        return f"{prefix}{next(self._numbers):09d}"

    def changed(self) -> None:
        """Notify waiters of a change that is not a message."""
        with self.lock:
            self.lock.notify_all()

    def add_user(self, user: str, name: str, locale: str = "en-US", is_bot: bool = False) -> User:
        with self.lock:
            here = User(user, name, locale, is_bot, team=self.team, enterprise=self.enterprise)
            return self.users.setdefault(user, here)

    def add_stranger(self, user: str, name: str, team: str, enterprise: str | None = None) -> User:
        """Add a person of another team, connected with this one only by shared channels."""
        if team == self.team:
            raise ValueError("a stranger is of another team")
        with self.lock:
            stranger = User(user, name, team=team, enterprise=enterprise, is_stranger=True)
            return self.users.setdefault(user, stranger)

    def is_shared(self, channel: str) -> bool:
        """Return True if people of another organisation are in a channel."""
        return any(
            user in self.users and self.users[user].is_stranger
            for user in self.channels[channel].members
        )

    def add_channel(self, channel: Channel) -> Channel:
        if channel.kind not in SCOPE_OF_KIND:
            raise ValueError(f"a channel is one of {', '.join(SCOPE_OF_KIND)}")
        with self.lock:
            return self.channels.setdefault(channel.id, channel)

    def im(self, user: str) -> Channel:
        """Return the direct conversation of the bot and ``user``; open it if needed."""
        with self.lock:
            for channel in self.channels.values():
                if channel.kind == "im" and {user, self.bot_user} <= channel.members:
                    return channel
            return self.add_channel(
                Channel(f"D{user[1:]}", "directmessage", "im", {user, self.bot_user})
            )

    # --- messages ---

    def keep(self, message: Message) -> Message:
        with self.lock:
            self._messages[message.channel, message.ts] = message
            self._threads.setdefault((message.channel, message.root), []).append(message)
            if message.stream is not None:
                self._streaming.append(message)
            pane = self.assistant.get((message.channel, message.root))
            if pane is not None and message.bot_id is not None:
                pane["status"] = ""  # a reply clears it
            self.lock.notify_all()
        return message

    def find(self, channel: str, ts: str) -> Message | None:
        with self.lock:
            self.expire_streams()
            return self._messages.get((channel, ts))

    def drop(self, channel: str, ts: str) -> None:
        with self.lock:
            message = self._messages.pop((channel, ts))
            self._threads[channel, message.root].remove(message)
            self.lock.notify_all()

    def thread(self, channel: str, root: str) -> list[Message]:
        """Return the thread's messages in order, root first, including ephemeral ones."""
        with self.lock:
            self.expire_streams()
            return list(self._threads.get((channel, root), ()))

    def places_of(self, file: File) -> list[Channel]:
        """Return the channels in which a file is shared."""
        with self.lock:
            shared = {
                message.channel
                for message in self._messages.values()
                if file in message.files and message.ephemeral_to is None
            }
            return [self.channels[id] for id in sorted(shared)]

    def shows_bot(self, file: File) -> bool:
        """Return True if a file is shared anywhere that our app can see."""
        return bool(self._seen_places(file))

    def _seen_places(self, file: File) -> list[Channel]:
        return [
            place
            for place in self.places_of(file)
            if place.kind == "channel" or self.bot_user in place.members
        ]

    def file_json(self, file: File) -> Json:
        """Return a file as in ``files.info``'s response to our app."""
        places = self._seen_places(file)
        lists: Json = {
            name: [place.id for place in places if place.kind in kinds]
            for name, kinds in (
                ("channels", ("channel",)),
                ("groups", ("group", "mpim")),
                ("ims", ("im",)),
            )
        }
        return {**file.json(self._base()), **lists, "is_public": bool(lists["channels"])}

    def in_channel(self, channel: str) -> list[Message]:
        with self.lock:
            self.expire_streams()
            return [message for (where, _), message in self._messages.items() if where == channel]

    def streams(self, channel: str, root: str) -> Iterator[Message]:
        for message in self.thread(channel, root):
            if message.stream is not None and message.stream.state == "streaming":
                yield message

    def expire_streams(self, at_once: bool = False) -> None:
        """End the streams that have reached Slack's time limit, or all if ``at_once``."""
        with self.lock:
            running = []
            for message in self._streaming:
                stream = message.stream
                if stream is None or stream.state != "streaming":
                    continue
                if at_once or self.clock.now() - stream.started >= STREAM_SECONDS:
                    stream.state = "expired"
                else:
                    running.append(message)
            self._streaming = running

    def message_json(self, message: Message, metadata: bool = True) -> Json:
        """Return a message as in the Web API and in events."""
        shown: Json = {"type": "message", "user": message.user, "ts": message.ts}
        if message.subtype:
            shown["subtype"] = message.subtype
        if message.client_msg_id:
            shown["client_msg_id"] = message.client_msg_id
        shown |= {"text": message.text, **self._team_json(message)}
        if message.bot_id in self.apps:
            shown = self.apps[message.bot_id].json(shown)
        elif message.bot_id:
            profile = {"id": self.bot_id, "app_id": APP_ID, "name": "footnote"}
            profile["team_id"] = self.team
            shown |= {"bot_id": message.bot_id, "app_id": APP_ID, "bot_profile": profile}
        if message.blocks:
            shown["blocks"] = message.blocks
        if message.attachments:
            shown["attachments"] = message.attachments
        if message.files:
            shown["files"] = self.files_json(message)
        if message.edited:
            shown["edited"] = message.edited
        if message.metadata and metadata:
            shown["metadata"] = message.metadata
        if message.stream is not None:
            streaming = message.stream.state == "streaming"
            shown["streaming_state"] = "in_progress" if streaming else "completed"
        if message.reactions:
            shown["reactions"] = [
                {"name": name, "users": users, "count": len(users)}
                for name, users in message.reactions.items()
            ]
        return copy.deepcopy(shown | self._thread_json(message))

    def files_json(self, message: Message) -> list[Json]:
        """Return a message's files; those of other teams are stubs: ``files.info`` tells more."""
        return [
            file.json(self._base()) if file.team == self.team else file.stub()
            for file in message.files
        ]

    def _team_json(self, message: Message) -> Json:
        """Return the author's ``team`` and ``user_team``, and ``source_team``, perhaps another."""
        if message.user not in self.users or not self.is_shared(message.channel):
            return {"team": self.team}
        author = self.users[message.user]
        if not author.is_stranger:
            members = (self.users[user] for user in self.channels[message.channel].members)
            other = next(member.team for member in members if member.is_stranger)
            return {"team": author.team, "user_team": author.team, "source_team": other}
        # Seen: for people in an organisation, ``user_team`` is the organisation's id.
        other = author.enterprise or author.team
        return {"team": author.team, "user_team": other, "source_team": other}

    def _thread_json(self, message: Message) -> Json:
        if message.thread_ts and message.thread_ts != message.ts:
            root = self._messages.get((message.channel, message.thread_ts))
            parent = {"parent_user_id": root.user} if root else {}
            return {"thread_ts": message.thread_ts, **parent}
        replies = [
            reply
            for reply in self._threads.get((message.channel, message.ts), ())
            if reply.ts != message.ts and reply.ephemeral_to is None
        ]
        if not replies:
            return {"thread_ts": message.thread_ts} if message.thread_ts else {}
        return {
            "thread_ts": message.ts,
            "reply_count": len(replies),
            "reply_users": sorted({reply.user for reply in replies}),
            "latest_reply": max(reply.ts for reply in replies),
        }
