"""Pairs the two events of one mention: ``app_mention`` and the ``message`` with the same words.

Slack sends both at once, in any order. Only the message carries files, and the mention may be the
only one with the right to search. Without the channel scopes, only the mention comes.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from cachetools import LRUCache

from adapters.slack.calls import Json
from adapters.slack.incoming import event_id

MENTIONS_REMEMBERED = 10_000
MENTION_SECONDS = 0.25  # that one event of a pair waits for the other
RIGHT = "action_token"  # of an event: good for some minutes, to search what its author may see


@dataclass(slots=True)
class _Pair:
    """The events of one mention, each set once it is here; ``right`` is that of the mention."""

    message: asyncio.Event = field(default_factory=asyncio.Event)
    mention: asyncio.Event = field(default_factory=asyncio.Event)
    right: str = ""


class Mentions:
    """See the module docstring."""

    def __init__(self) -> None:
        self._pairs: LRUCache[str, _Pair] = LRUCache(MENTIONS_REMEMBERED)

    def message_came(self, channel: str, ts: str) -> None:
        """Keep that the ``message`` event of a mention is here."""
        self._pair(channel, ts).message.set()

    async def has_message(self, mention: Json) -> bool:
        """Keep an ``app_mention``; True if its ``message`` event is here, or comes in time."""
        pair = self._pair(mention["channel"], mention["ts"])
        pair.right = str(mention.get(RIGHT) or "")
        pair.mention.set()
        return await _comes(pair.message)

    async def with_right(self, message: Json) -> Json:
        """A ``message`` event with the right to search for its author, if the mention has it."""
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
