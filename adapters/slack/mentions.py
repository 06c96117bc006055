"""Pairs the two events of one mention: ``app_mention`` and the ``message`` with the same text.

Slack sends both at the same time, in either order. Only the message carries files, and sometimes
only the mention carries the token for searching. Without the channel scopes, only the mention
arrives.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from cachetools import LRUCache

from adapters.slack.calls import Json
from adapters.slack.incoming import event_id

MENTIONS_REMEMBERED = 10_000
MENTION_SECONDS = 0.25  # how long one event of a pair waits for the other
RIGHT = "action_token"  # in an event: allows searching, for some minutes, what its author may see


@dataclass(slots=True)
class _Pair:
    """The two events of a mention, each set once it has arrived; ``right`` is the mention's
    token."""

    message: asyncio.Event = field(default_factory=asyncio.Event)
    mention: asyncio.Event = field(default_factory=asyncio.Event)
    right: str = ""


class Mentions:
    """See the module docstring."""

    def __init__(self) -> None:
        self._pairs: LRUCache[str, _Pair] = LRUCache(MENTIONS_REMEMBERED)

    def message_came(self, channel: str, ts: str) -> None:
        """Record that the ``message`` event of a mention has arrived."""
        self._pair(channel, ts).message.set()

    async def has_message(self, mention: Json) -> bool:
        """Record an ``app_mention``; return True if its ``message`` event has arrived or arrives in
        time."""
        pair = self._pair(mention["channel"], mention["ts"])
        pair.right = str(mention.get(RIGHT) or "")
        pair.mention.set()
        return await _comes(pair.message)

    async def with_right(self, message: Json) -> Json:
        """Return a ``message`` event with the search token of its mention, if the mention has
        one."""
        if message.get(RIGHT):
            return message
        pair = self._pair(message["channel"], message["ts"])
        await _comes(pair.mention)
        return {**message, RIGHT: pair.right} if pair.right else message

    def _pair(self, channel: str, ts: str) -> _Pair:
        pair: _Pair = self._pairs.setdefault(event_id(channel, ts), _Pair())
        return pair


async def _comes(event: asyncio.Event) -> bool:
    try:
        async with asyncio.timeout(MENTION_SECONDS):
            await event.wait()
    except TimeoutError:
        return False
    return True
