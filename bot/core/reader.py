"""The reader of an answer: who asks, where it is shown, and which documents may appear in it.

Addresses tell what only some people may read: the operator's files, a chat's messages, corrections
(``correction:/PLACE/ID``) and results of servers of the Model Context Protocol
(``mcp:/SERVER/ID``). The last two may have a web address, which follows "?" and is the target of
links:
``mcp:/jira/OPS-7?https%3A%2F%2Fjira.example.com%2Fbrowse%2FOPS-7``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import quote, unquote

from bot.core.messages import (
    CONSOLE,
    TERMINAL,
    Answer,
    Audience,
    Author,
    Message,
    Provenance,
    RunOptions,
    Telling,
    Thread,
    Transcript,
    Wording,
)
from bot.core.readership import Readership

CORRECTION = "correction:"


def correction_address(place: str, id: str, url: str = "") -> str:
    """Return the address of a correction; ``url`` is its message's web address, if it has one."""
    end = f"?{quote(url, safe='')}" if url else ""
    return f"{CORRECTION}/{quote(place, safe='')}/{id}{end}"


def is_correction(url: str) -> bool:
    """Return True if an address belongs to a correction."""
    return url[: len(CORRECTION)].lower() == CORRECTION


def place_of(url: str) -> str:
    """Return the place whose readers may see the correction at an address."""
    return unquote(url.split("/")[1]) if url.count("/") > 1 else ""


OF_SERVER = "mcp:"
WEB = ("http://", "https://")


def mcp_address(server: str, id: str, url: str = "") -> str:
    """Return the address of a server's result; ``url`` is its web address, if it has one."""
    end = f"?{quote(url, safe='')}" if url.startswith(WEB) and url != id else ""
    return f"{server_root(server)}/{quote(id, safe='')}{end}"


def server_root(server: str) -> str:
    """Return the address above all results of a server."""
    return f"{OF_SERVER}/{server}"


def is_of_server(url: str) -> bool:
    return url[: len(OF_SERVER)].lower() == OF_SERVER


def server_of(url: str) -> str:
    """Return the name of the server; "" for other addresses."""
    return url.split("/")[1] if is_of_server(url) and url.count("/") > 1 else ""


def mcp_id(url: str) -> str:
    """Return the server's own id for the result at an address."""
    return unquote(url.partition("?")[0].split("/", 2)[-1])


def public(url: str) -> str:
    """Return the address at which people open a page: for a server's result or a correction its web
    address or "", for other pages their own address."""
    if not (is_of_server(url) or is_correction(url)):
        return url.removesuffix(ATTACHED)
    known = unquote(url.partition("?")[2]) or mcp_id(url)
    return known if known.startswith(WEB) else ""


def display_address(url: str) -> str:
    """Return the address of a page to show to people and programs."""
    return public(url) or url


SCHEME = "file:"  # of file addresses
FOUND_IN = "conversations:"  # prefix of entries for places whose conversations were searched

ATTACHED = "#attached"  # suffix of the address of a chat file attached to a message to Footnote

# Addresses at which a chat shows people's messages and files ("docs" are Slack's canvases). The
# host decides, so that content of a conversation never counts as a web page.
_CONVERSATION = re.compile(
    r"https://(?:[a-z0-9-]+\.)*(?:slack\.com|slack-gov\.com)"
    r"/(?:archives/|files/|docs/(?-i:[TE][A-Z0-9]{5,}/F))[^\s\"]+"
    r"|https://(?:(?:ptb|canary)\.)?discord(?:app)?\.com/channels/[^\s\"]+",
    re.IGNORECASE,
)


def is_conversation(url: str) -> bool:
    """Return True if an address belongs to a chat message or a file in a chat. A file attached to a
    message to Footnote counts as part of that message instead: see ``attached``."""
    return _CONVERSATION.match(url) is not None and not url.endswith(ATTACHED)


def attached(url: str) -> str:
    """Return the address of a file attached to a message to Footnote. It is marked because, unlike
    files found in conversations, all readers of the answer have it anyway."""
    return url + ATTACHED


def conversations_in(text: str) -> list[str]:
    """Return the addresses of chat messages and files in a text, such as JSON."""
    return list(filter(is_conversation, _CONVERSATION.findall(text)))


def found_in(place: str) -> str:
    """Return an entry for the addresses an answer rests on: it records that conversations of
    ``place`` were searched, so that only readers of that place may read the answer."""
    return FOUND_IN + place


def is_file(url: str) -> bool:
    """Return True if an address belongs to one of the operator's files."""
    return url[: len(SCHEME)].lower() == SCHEME


def is_document(url: str) -> bool:
    """Return True for an address that only some people may read: one of the operator's documents (a
    file, or a result of a connected server), a chat's messages, or a correction."""
    said = url.startswith(FOUND_IN) or is_conversation(url) or is_correction(url)
    return said or is_file(url) or is_of_server(url)


@dataclass(frozen=True, slots=True)
class Reach:
    """The documents and conversations that may be searched, read and shown. Web pages are not
    limited.

    ``rules`` lists addresses of folders, files and servers, each with whether it is in reach,
    longest first: the first that matches a document decides. ``others`` decides for documents that
    match none; documents of servers no longer in the settings also need ``removed``. ``place`` is
    the channel or direct conversation whose conversations may be searched: "" for none, None for
    all ever found. ``corrections`` are the places whose corrections are in reach, None for all.
    """

    rules: tuple[tuple[str, bool], ...] = ()
    others: bool = True
    removed: bool = True
    place: str | None = None
    corrections: frozenset[str] | None = None

    @property
    def is_all(self) -> bool:
        return self.place is None and self.corrections is None and self.has_all_documents

    @property
    def has_all_documents(self) -> bool:
        """True if all documents that can be found now are in reach; documents of removed servers
        may still be out of reach."""
        return self.others and all(allowed for _, allowed in self.rules)

    @property
    def is_nothing(self) -> bool:
        return not self.others and not any(allowed for _, allowed in self.rules)

    @property
    def signature(self) -> str:
        """A digest that is equal only for the same documents; "" if all are in reach."""
        if self.has_all_documents:
            return ""
        return hashlib.sha256(repr((self.rules, self.others)).encode()).hexdigest()[:16]

    def allows(self, url: str) -> bool:
        """Return True if a page may be shown; always True for pages that are not documents."""
        if url.startswith(FOUND_IN):
            return self.place is None or url == found_in(self.place)
        if is_conversation(url):
            return self.place != ""
        if is_correction(url):
            return self.corrections is None or place_of(url) in self.corrections
        if not is_document(url):
            return True
        bare = url if is_of_server(url) else url.partition("#")[0]
        for root, allowed in self.rules:
            if bare == root or bare.startswith(root + "/"):
                return allowed
        return self.others and (self.removed or not is_of_server(url))

    def covers(self, made_from: Provenance) -> bool:
        """Return True if everything that a text was made from may be shown. This decides, by the
        rights of today, for every text that Footnote derives from pages."""
        return all(map(self.allows, made_from))

    def wording(self, said: Wording) -> Wording | None:
        """Return the wording that may be shown: this one, a person's own instead, or none."""
        if self.covers(said.made_from):
            return said
        return said.own and self.wording(said.own)

    @property
    def of_files(self) -> Reach:
        """Return the same reach limited to rules for files."""
        rules = tuple((root, allowed) for root, allowed in self.rules if is_file(root))
        return replace(self, rules=rules)

    def includes(self, other: Reach) -> bool:
        """Return True if everything in the other reach is certainly in this one too. Corrections
        are ignored, since the pages read include them."""
        if self.place is not None and other.place and other.place != self.place:
            return False
        if self.has_all_documents or other.is_nothing:
            return True
        known = dict(self.rules)
        if known.keys() != dict(other.rules).keys() or (other.others and not self.others):
            return False
        return all(known[root] for root, allowed in other.rules if allowed)


EVERYTHING = Reach()
NO_DOCUMENTS = Reach(others=False, removed=False, place="", corrections=frozenset())


# The readers of an answer: everyone in a channel, one person in a chat or the console, the
# operator, or strangers, in a place that Footnote is not a member of.
Surface = Literal["channel", "direct", "console", "terminal", "strangers"]


@dataclass(frozen=True, slots=True)
class Reader:
    """The reader of an answer, with the details that rights depend on.

    ``channel`` and ``person`` are the platform's own ids, ``groups`` the ids of the person's Slack
    user groups, Discord roles or proxy groups. A ``guest`` comes from outside the team, such as
    from a connected workspace, or is not known to be a member, and may see no documents at all.
    ``place`` identifies a channel or direct conversation; it is "" in the console and the terminal.
    ``corrections`` are the places whose corrections the reader may see, as in ``Reach``.
    """

    surface: Surface
    channel: str = ""
    person: str = ""
    groups: frozenset[str] = frozenset()
    guest: bool = False
    place: str = ""
    corrections: frozenset[str] | None = frozenset()

    @classmethod
    def of(cls, thread: Thread, author: Author, audience: Audience) -> Reader:
        """Return the reader of an answer to ``author`` in a thread. Where people from outside the
        team read, or may read, every answer is for guests."""
        corrections = {thread.key, thread.place}
        if thread.platform in (TERMINAL, CONSOLE):
            surface: Surface = "terminal" if thread.platform == TERMINAL else "console"
            corrections = {thread.place}
        elif audience == "strangers":
            surface = "strangers"
        else:
            surface = "direct" if audience == "person" else "channel"
            corrections.add(thread.home)
        return cls(
            surface,
            thread.channel,
            author.id,
            frozenset(author.groups),
            audience in ("outsiders", "unknown") or author.guest is not False,
            "" if surface in ("console", "terminal") else thread.place,
            frozenset(corrections),
        )

    @classmethod
    def of_stored(cls, message: Message, options: RunOptions) -> Reader:
        """Return the reader of the answer to a stored question, without the author's chat groups,
        which only the platform knows. Its place is "" if conversations were not to be searched."""
        author = options.standing_of(message.author)
        reader = cls.of(message.thread, author, options.audience)
        return reader if options.conversations else replace(reader, place="")

    def may_search(self, collection: Readership) -> bool:
        """Return True if the collection's lists name this reader. In a channel the channel's rights
        decide, so that nothing is quoted that only some of its readers may see. For strangers no
        list decides: the operator cannot know them."""
        return bool(self.why(collection))

    def why(self, collection: Readership) -> str:
        """The list that lets the reader search a collection ("everybody", "channels" …), or ""."""
        if self.surface == "terminal":
            return "terminal"
        if self.guest:
            return ""
        if collection.everybody:
            return "everybody"
        if self.surface == "strangers":
            return ""
        if self.surface == "channel":
            return "channels" if self.channel in collection.channels else ""
        if self.surface == "console":
            return self._named("console_users", ["console_groups"], collection)
        return self._named("people", ["slack_groups", "discord_roles"], collection)

    def _named(self, people: str, groups: Sequence[str], collection: Readership) -> str:
        if self.person in getattr(collection, people):
            return people
        lists = (name for name in groups if self.groups.intersection(getattr(collection, name)))
        return next(lists, "")


def withheld(answer: Answer, sentence: str) -> Answer:
    """An answer that contains only the sentence: no text, quote, suggestion, search or step."""
    return Answer(
        status="failed",
        text=sentence,
        question="",
        run=answer.run,
        reasoner=answer.reasoner,
        usage=answer.usage,
    )


def for_reader(answer: Answer, reach: Reach, sentence: str) -> Answer:
    """Return the answer, or a withheld one if the reader may not see it."""
    return answer if reach.covers(answer.rests_on) else withheld(answer, sentence)


def telling(reach: Reach, instead: str) -> Telling:
    """Return a function that gives the text of a wording for readers with this reach, or the
    sentence ``instead``."""

    def tell(said: Wording) -> str:
        shown = reach.wording(said)
        return instead if shown is None else shown.text

    return tell


def readable(transcript: Transcript, reach: Reach) -> Transcript:
    """Return the transcript without what was made from documents out of reach."""
    kept = tuple(entry for entry in transcript.entries if reach.covers(entry.made_from))
    return transcript if len(kept) == len(transcript.entries) else replace(transcript, entries=kept)


def documents_in(urls: Iterable[str]) -> Provenance:
    """Return those of the addresses that only some people may read."""
    return Provenance.of(filter(is_document, urls))


def documents_of(transcript: Transcript) -> Provenance:
    """Return the documents that may have contributed to the transcript."""
    return Provenance.of(*(entry.made_from for entry in transcript.entries))
