"""The state of the fake Discord: users, guilds, channels, messages. Mutable, behind one lock.

Ids are decimal strings, as on the wire.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Protocol

from tests.fakes.discord_permissions import EVERYONE

Json = dict[str, Any]

EPOCH_MS = 1_420_070_400_000  # the first millisecond of 2015, the epoch of Discord's ids

# Channel types.
TEXT, DIRECT_MESSAGE, VOICE, GROUP, ANNOUNCEMENT = 0, 1, 2, 3, 5
PUBLIC_THREAD, PRIVATE_THREAD, STAGE, FORUM = 11, 12, 13, 15
THREADS = (10, PUBLIC_THREAD, PRIVATE_THREAD)

# Message types.
DEFAULT, THREAD_CREATED, REPLY, CHAT_INPUT, THREAD_STARTER, CONTEXT_MENU = 0, 18, 19, 20, 21, 23

# Message flags.
SUPPRESS_EMBEDS, HAS_THREAD, EPHEMERAL, LOADING = 1 << 2, 1 << 5, 1 << 6, 1 << 7
SUPPRESS_NOTIFICATIONS, COMPONENTS_V2 = 1 << 12, 1 << 15

TEXT_DISPLAY = 10  # a type of component


def nested(components: list[Json]) -> list[Json]:
    """Return components with all that they contain, in the order in which they are shown."""
    found = []
    for one in components:
        inner = [
            *(one.get("components") or []),
            *([one["accessory"]] if "accessory" in one else []),
        ]
        found += [one, *nested(inner)]
    return found


def texts_of(components: list[Json]) -> list[str]:
    """Return the texts that components show."""
    return [one["content"] for one in nested(components) if one.get("type") == TEXT_DISPLAY]


class Clock:
    """Seconds since 1970, which a test can move forward but not backward."""

    def __init__(self) -> None:
        self._ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self._ahead

    def advance(self, seconds: float) -> None:
        self._ahead += seconds

    def iso(self) -> str:
        return datetime.fromtimestamp(self(), UTC).isoformat()


@dataclass(eq=False)
class User:
    """A person or a bot. ``accepts_direct`` tells whether the bot may write to them first."""

    id: str
    name: str
    bot: bool = False
    accepts_direct: bool = True

    @property
    def mention(self) -> str:
        return f"<@{self.id}>"


@dataclass(eq=False)
class Role:
    id: str
    name: str
    permissions: int
    managed_by: str | None = None


@dataclass(eq=False)
class Member:
    user: User
    joined_at: str
    roles: list[Role] = field(default_factory=list)


@dataclass(eq=False)
class Overwrite:
    """The permissions allowed and denied in one channel to a role (type 0) or a member (type 1)."""

    type: int
    allow: int = 0
    deny: int = 0


@dataclass(eq=False)
class Guild:
    """A server. ``installed`` is false if only a user installed the app."""

    id: str
    name: str
    owner: User
    everyone: Role
    joined_at: str
    locale: str = "en-US"
    installed: bool = True
    roles: list[Role] = field(default_factory=list)
    members: dict[str, Member] = field(default_factory=dict)


@dataclass(eq=False)
class Channel:
    """Any place with messages: channel, forum, thread, direct message."""

    id: str
    type: int
    name: str = ""
    guild: Guild | None = None
    parent: Channel | None = None
    overwrites: dict[str, Overwrite] = field(default_factory=dict)
    recipients: list[User] = field(default_factory=list)
    messages: dict[str, Message] = field(default_factory=dict)
    topic: str | None = None
    tags: tuple[str, ...] = ()  # of a forum, those that exist; of a post, those it has
    # Only for threads:
    owner_id: str = ""
    archived: bool = False
    locked: bool = False
    auto_archive: int = 4320
    archive_changed: str = ""
    thread_members: dict[str, str] = field(default_factory=dict)
    sent: int = 0

    @property
    def is_thread(self) -> bool:
        return self.type in THREADS

    @property
    def mention(self) -> str:
        return f"<#{self.id}>"


@dataclass(eq=False)
class Message:
    """The current state of a message. ``private_to`` is the only reader of an ephemeral one;
    ``pings`` are the ids of users and roles (or ``everyone``) that it actually notifies;
    ``history`` are its earlier contents."""

    id: str
    channel: Channel
    author: User
    content: str
    timestamp: str
    type: int = DEFAULT
    flags: int = 0
    edited: str | None = None
    embeds: list[Json] = field(default_factory=list)
    components: list[Json] = field(default_factory=list)
    attachments: list[Json] = field(default_factory=list)
    mentions: list[User] = field(default_factory=list)
    mention_roles: list[str] = field(default_factory=list)
    mention_everyone: bool = False
    pings: set[str] = field(default_factory=set)
    allowed_mentions: Json | None = None
    nonce: str | int | None = None
    reference: Json | None = None
    replies_to: Message | None = None
    reactions: dict[str, list[str]] = field(default_factory=dict)
    thread: Channel | None = None
    interaction: Json | None = None
    webhook: bool = False
    webhook_of: str = ""  # the id of another app that owns the webhook; the author's id is its own
    snapshots: list[Json] = field(default_factory=list)
    poll: Json | None = None
    private_to: User | None = None
    deleted: bool = False
    history: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its content and the texts of its components, as people see them."""
        return "\n".join(filter(None, [self.content, *texts_of(self.components)]))

    @property
    def link(self) -> str:
        guild = self.channel.guild.id if self.channel.guild else "@me"
        return f"https://discord.com/channels/{guild}/{self.channel.id}/{self.id}"


class Emit(Protocol):
    """Passes an event to the gateway.

    ``build`` returns the data for a session; its argument tells whether the session has the
    message-content intent. ``needs`` is a mask of intents, one of which is enough (0: none needed).
    """

    def __call__(
        self, name: str, build: Callable[[bool], Json], *, needs: int, guild: Guild | None
    ) -> None: ...


def _to_nobody(
    name: str, build: Callable[[bool], Json], *, needs: int, guild: Guild | None
) -> None:
    """Drop events until the gateway listens."""


@dataclass(eq=False)
class App:
    """The application's configuration: its token and its privileged intents."""

    id: str
    token: str
    public_key: str
    content_intent: bool = True
    members_intent: bool = False
    presence_intent: bool = False
    user_installable: bool = True

    @property
    def flags(self) -> int:
        """Return the flags, in the "limited" variants for apps in fewer than 100 guilds."""
        return (
            (1 << 19) * self.content_intent
            | (1 << 15) * self.members_intent
            | (1 << 13) * self.presence_intent
        )


def _signature(url: str, until: int, since: int) -> str:
    return sha256(f"{url} {until} {since}".encode()).hexdigest()


class World:
    """The whole state. Hold ``lock`` to read or change it from any thread."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.clock = Clock()
        self.emit: Emit = _to_nobody
        self.guilds: dict[str, Guild] = {}
        self.channels: dict[str, Channel] = {}
        self.users: dict[str, User] = {}
        self.files: dict[str, tuple[str, bytes]] = {}  # path on the CDN -> media type, bytes
        self.cdn = ""
        self._last_id = self._signatures = 0
        self.bot = self.user("Footnote", bot=True)
        self.app = App(self.bot.id, f"{self.bot.id}.fake.token", "00" * 32)

    def new_id(self) -> str:
        """Return the next snowflake: milliseconds since 2015 and a counter, always increasing."""
        made = int(self.clock() * 1000 - EPOCH_MS) << 22
        self._last_id = max(made, self._last_id + 1)
        return str(self._last_id)

    def sign(self, url: str) -> str:
        """Return an address on the CDN with a signature that no other one has."""
        self._signatures += 1
        since = int(self.clock()) - self._signatures % 3_600
        until = since + 24 * 3_600
        return f"{url}?ex={until:x}&is={since:x}&hm={_signature(url, until, since)}&"

    def is_signed(self, path: str, query: Mapping[str, str]) -> bool:
        """Return True if the CDN serves a file at an address with these parameters."""
        try:
            until, since = int(query["ex"], 16), int(query["is"], 16)
        except (KeyError, ValueError):
            return False
        right = _signature(self.cdn + path, until, since)
        return query.get("hm") == right and self.clock() < until

    def user(self, name: str, *, bot: bool = False) -> User:
        made = User(self.new_id(), name, bot)
        self.users[made.id] = made
        return made

    def guild(self, name: str, owner: User, *, locale: str, installed: bool) -> Guild:
        id = self.new_id()
        everyone = Role(id, "@everyone", EVERYONE)
        made = Guild(id, name, owner, everyone, self.clock.iso(), locale, installed, [everyone])
        self.guilds[id] = made
        self.join(made, owner)
        return made

    def join(self, guild: Guild, user: User) -> Member:
        return guild.members.setdefault(user.id, Member(user, self.clock.iso()))

    def channel(self, type: int, name: str = "", guild: Guild | None = None) -> Channel:
        made = Channel(self.new_id(), type, name, guild)
        self.channels[made.id] = made
        return made

    def direct(self, *users: User) -> Channel:
        """Return the direct-message channel of exactly these users; make it if needed."""
        for channel in self.channels.values():
            if channel.type == DIRECT_MESSAGE and set(channel.recipients) == set(users):
                return channel
        made = self.channel(DIRECT_MESSAGE)
        made.recipients = list(users)
        return made

    def threads_of(self, guild: Guild) -> list[Channel]:
        return [c for c in self.channels.values() if c.guild is guild and c.is_thread]

    def channels_of(self, guild: Guild) -> list[Channel]:
        return [c for c in self.channels.values() if c.guild is guild and not c.is_thread]
