"""The kinds of places in Slack, and who reads in each.

https://docs.slack.dev/reference/objects/conversation-object, https://docs.slack.dev/apis/slack-connect
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from bot.core.messages import Audience

Json = Mapping[str, Any]

# The mark of a channel shared with another company, in the envelope of an event.
SHARED = "is_ext_shared_channel"

# The scopes for the descriptions of public channels, private ones and group messages.
CHANNELS = "channels:read"
READERS = (CHANNELS, "groups:read", "mpim:read")

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
    def of_event(cls, event: Json) -> Self:
        """Return the place of an event with the mark of its envelope. ``app_mention`` tells no
        kind."""
        shared = event.get(SHARED)
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
