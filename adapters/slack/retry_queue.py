"""Messages that could not be kept, taken again as soon as the database works.

What is not acknowledged Slack delivers again after a moment, after one minute and after five
(https://docs.slack.dev/apis/events-api#retries): late for somebody who waits for an answer. So
messages stay in hand as well. Whichever comes first takes a message, the other finds it taken; and
a process that dies with messages in hand has acknowledged none of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import stamina

from adapters.slack.ephemeral import EphemeralMessages
from bot.errors import StorageUnavailable
from bot.logs import get_logger

# Less than until Slack's last delivery, at which the asker is told if that fails too.
SECONDS = 240.0
FIRST_SECONDS, LONGEST_SECONDS = 0.1, 1.0  # between two tries
MOST = 1_000  # messages in hand

log = get_logger()


class RetryQueue:
    """Takes messages again in the order in which they came."""

    def __init__(self, ephemeral: EphemeralMessages) -> None:
        self._ephemeral = ephemeral
        self._in_hand: set[str] = set()
        self._turn = asyncio.Lock()  # those who wait get it in order

    def keep(self, id: str, take: Callable[[], Awaitable[None]]) -> None:
        """Call ``take`` until it no longer raises ``StorageUnavailable``; meanwhile return."""
        if id not in self._in_hand and len(self._in_hand) < MOST:
            self._in_hand.add(id)
            self._ephemeral.later(self._retake(id, take))

    async def _retake(self, id: str, take: Callable[[], Awaitable[None]]) -> None:
        try:
            async with asyncio.timeout(SECONDS), self._turn:
                await _until_kept(take)
        except (TimeoutError, StorageUnavailable) as error:
            log.info("message left to Slack", message=id, error=repr(error))
        finally:
            self._in_hand.discard(id)


async def _until_kept(take: Callable[[], Awaitable[None]]) -> None:
    async for attempt in stamina.retry_context(
        on=_may_pass,
        attempts=None,
        timeout=None,
        wait_initial=FIRST_SECONDS,
        wait_max=LONGEST_SECONDS,
        wait_jitter=FIRST_SECONDS,
    ):
        with attempt:
            await take()


def _may_pass(error: Exception) -> bool:
    return isinstance(error, StorageUnavailable) and error.kind != "wrong"
