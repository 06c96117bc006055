"""People's messages and the conversations they belong to. Frozen values without storage ids."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from typing import Literal
from urllib.parse import unquote
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.core.answers import Citation
from bot.core.errors import InvalidQuestion
from bot.core.provenance import OWN_WORDS, Provenance
from bot.text.terms import without_controls

Depth = Literal["auto", "quick", "standard", "deep"]
Style = Literal["auto", "answer", "report", "check"]
Role = Literal["person", "footnote"]

# Who reads an answer in a place: one ``person``, in a private conversation with Footnote; the
# members of a ``channel`` or group; the whole ``workspace``, in a public channel; people from
# outside the team too (``outsiders``); or ``strangers``, where Footnote is not a member. It is
# ``unknown`` if the event does not tell: the platform is asked, and until it answers outsiders may
# read.
Audience = Literal["person", "channel", "workspace", "outsiders", "strangers", "unknown"]

CONSOLE, TERMINAL = "web", "terminal"  # platforms with one reader at a time
MAX_QUESTION = 20_000  # characters
UPLOADED = "upload:"  # prefix of addresses of files that Footnote stores; must never change


@dataclass(frozen=True, slots=True)
class Thread:
    """One conversation on one platform. Its key is ``platform:workspace:channel:thread``."""

    platform: str
    workspace: str
    channel: str
    thread: str

    @property
    def key(self) -> str:
        return _joined(self.platform, self.workspace, self.channel, self.thread)

    @property
    def place(self) -> str:
        """The key of all threads of its channel."""
        return _joined(self.platform, self.workspace, self.channel)

    @property
    def home(self) -> str:
        """The key of all threads of its workspace."""
        return _joined(self.platform, self.workspace)


def _joined(*parts: str) -> str:
    return ":".join(part.replace("%", "%25").replace(":", "%3A") for part in parts)


@dataclass(frozen=True, slots=True)
class Author:
    """The author of a message: the platform's id and the name people know.

    ``roles`` are the platform's ids of the author's groups; ``admin`` is True if the platform lets
    the author administer the workspace. Both are known on arrival only and not stored. ``groups``
    (named by a proxy), ``guest`` (from outside the team; None: not known yet) and the time ``zone``
    (as in ``zone_named``) are also known on arrival only; a question keeps them in its options.
    """

    id: str
    name: str
    roles: tuple[str, ...] = ()
    admin: bool = False
    groups: tuple[str, ...] = ()
    guest: bool | None = False
    zone: str = ""


def zone_named(zone: str) -> tzinfo:
    """The time zone of an IANA name or an offset such as "+0200"; UTC for "" and unknown ones."""
    try:
        if "/" in zone:
            return ZoneInfo(zone)
        return datetime.strptime(zone.removeprefix("UTC"), "%z").tzinfo or UTC
    except (ValueError, ZoneInfoNotFoundError, OSError):
        return UTC


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file sent with a message.

    ``url`` is for people to open; ``download`` is for the adapter to fetch, if it differs. Files
    that Footnote stores have addresses that begin with ``UPLOADED``. ``again`` is True for a file
    from an earlier message of the thread that is read for this one too.
    """

    name: str
    media_type: str
    url: str
    download: str = ""
    again: bool = False


def name_of_upload(url: str) -> str:
    """The file name in the address of a file that Footnote stores; "" for other addresses."""
    return unquote(url.rpartition("/")[2]) if url.startswith(UPLOADED) else ""


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a person, normalized by an adapter.

    ``text`` is plain Markdown without platform escapes. ``event_id`` identifies the message on its
    platform, so that all events about it and their redeliveries find it. ``at`` is timezone-aware.
    ``audience`` are the readers of the place. ``conversations`` is True if the platform may be
    searched on the author's behalf. Both are known on arrival only; a question keeps them in its
    options. ``made_from`` is what the text was made from, if Footnote wrote it
    and the author only pressed a button.
    """

    event_id: str
    thread: Thread
    author: Author
    text: str
    at: datetime
    links: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    locale: str = "en"
    audience: Audience = "channel"
    conversations: bool = False
    made_from: Provenance = OWN_WORDS

    @property
    def direct(self) -> bool:
        """True in a private conversation with Footnote."""
        return self.audience == "person"


@dataclass(frozen=True, slots=True)
class Entry:
    """One earlier message of a thread as a reasoner sees it.

    For an answer of Footnote, ``sources`` are the titles of the cited pages, ``question`` is the
    standalone question, and ``cited`` its footnotes ordered by number. ``made_from`` are the
    documents that may have contributed to the text. ``files`` are those that a person sent with it.
    """

    role: Role
    name: str
    text: str
    sources: tuple[str, ...] = ()
    question: str = ""
    cited: tuple[Citation, ...] = ()
    made_from: Provenance = OWN_WORDS
    files: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class Transcript:
    """The earlier messages of a thread, oldest first, without the one being asked."""

    entries: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources an asker has chosen, out of those configured and permitted.

    ``providers`` are names of search providers (empty: all), ``collections`` names of document
    collections (None: all), where "" means the documents in no collection.
    """

    providers: tuple[str, ...] = ()
    collections: tuple[str, ...] | None = None


EVERYWHERE = Sources()


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of one run that the asker or the channel chose.

    ``providers`` limits the search to these providers (empty: all that are configured) and
    ``collections`` to documents in these collections, as in ``Sources``. ``instructions`` are the
    operator's instructions on tone and language for this channel; ``daily_usd`` is the channel's
    own daily limit, if it has one. A ``report`` is a long text whose paragraphs are drafted and
    then revised against pages read for them; a ``check`` judges the statements of the message
    instead of answering it.

    ``audience``, ``groups`` and ``guest`` record what was known about the question's place and its
    author on arrival; rights depend on them. The author's time ``zone`` is recorded too.
    ``conversations`` is True if the platform's own messages may be searched.

    ``watch`` is the id of the standing question being checked again, or "".
    """

    depth: Depth = "auto"
    providers: tuple[str, ...] = field(default=())
    instructions: str = ""
    style: Style = "auto"
    daily_usd: float | None = None
    audience: Audience = "channel"
    groups: tuple[str, ...] = ()
    guest: bool | None = False
    collections: tuple[str, ...] | None = None
    conversations: bool = False
    watch: str = ""
    zone: str = ""

    def asked_in(self, message: Message) -> RunOptions:
        """Return the options for a message that has just arrived."""
        author = message.author
        return replace(
            self,
            audience=message.audience,
            groups=author.groups,
            guest=author.guest,
            zone=author.zone or self.zone,
            conversations=message.conversations,
        )

    def standing_of(self, author: Author) -> Author:
        """Return the author of a stored question, with the details known on arrival."""
        return replace(author, groups=self.groups, guest=self.guest, zone=self.zone)


def clean_question(text: str) -> str:
    """Return the question without control characters and outer space; raises
    ``InvalidQuestion``."""
    cleaned = without_controls(text, " ").strip()
    if not any(unicodedata.category(char)[0] in "LN" for char in cleaned):
        raise InvalidQuestion(
            "The question is empty: write what you want to know.", text_id="no-question"
        )
    if len(cleaned) > MAX_QUESTION:
        raise InvalidQuestion(
            f"The question has {len(cleaned):,} characters, but at most {MAX_QUESTION:,} can be "
            "read: shorten it, or put the long part into a file and use --docs.",
            text_id="question-too-long",
            values={"length": len(cleaned), "most": MAX_QUESTION},
        )
    return cleaned
