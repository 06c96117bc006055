"""The reader of an answer: who asks, and where it is shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from bot.messages import CONSOLE, TERMINAL, Author, Message, RunOptions, Thread
from bot.rights.collection import DocumentCollection

# Where an answer is read: by all of a channel, by one person of a chat, by one of the console, or
# by the operator.
Surface = Literal["channel", "direct", "console", "terminal"]


@dataclass(frozen=True, slots=True)
class Reader:
    """The reader of an answer, as far as rights depend on it.

    ``channel`` and ``person`` are the platform's own ids, ``groups`` those of the Slack user
    groups, Discord roles or proxy groups that the person is in. A ``guest`` comes from outside of
    the team, such as from a connected workspace, or is not known to be of it: no documents at all,
    whatever else is said.
    """

    surface: Surface
    channel: str = ""
    person: str = ""
    groups: frozenset[str] = frozenset()
    guest: bool = False

    @classmethod
    def of(
        cls,
        thread: Thread,
        author: Author,
        *,
        direct: bool,
        shared: bool = False,
        groups: Iterable[str] = (),
    ) -> Reader:
        """The reader of the answer to what ``author`` asks in a thread; ``direct`` tells a private
        conversation. In a channel that is ``shared`` with another company guests read every answer.
        ``groups`` are those that the author is in beside what the author tells."""
        surface: Surface = "direct" if direct else "channel"
        if thread.platform in (TERMINAL, CONSOLE):
            surface = "terminal" if thread.platform == TERMINAL else "console"
        held = frozenset((*author.groups, *groups))
        return cls(surface, thread.channel, author.id, held, shared or author.guest is not False)

    @classmethod
    def of_stored(cls, message: Message, options: RunOptions) -> Reader:
        """The reader of the answer to a stored question, as far as the store knows: in which groups
        of a chat the author is, only the platform can tell."""
        author = options.standing_of(message.author)
        return cls.of(message.thread, author, direct=options.direct, shared=options.shared)

    def may_search(self, collection: DocumentCollection) -> bool:
        """Whether the collection's lists name this reader. In a channel the channel's rights
        decide: what only some of those who read there may read is not quoted there."""
        return bool(self.why(collection))

    def why(self, collection: DocumentCollection) -> str:
        """The list that lets the reader search a collection ("everybody", "channels" …), or ""."""
        if self.surface == "terminal":
            return "terminal"
        if self.guest:
            return ""
        if collection.everybody:
            return "everybody"
        if self.surface == "channel":
            return "channels" if self.channel in collection.channels else ""
        if self.surface == "console":
            return self._named("console_users", ["console_groups"], collection)
        return self._named("people", ["slack_groups", "discord_roles"], collection)

    def _named(self, people: str, groups: Sequence[str], collection: DocumentCollection) -> str:
        if self.person in getattr(collection, people):
            return people
        lists = (name for name in groups if self.groups.intersection(getattr(collection, name)))
        return next(lists, "")
