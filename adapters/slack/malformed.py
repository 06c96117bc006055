"""Payloads that cannot be read: delivered again they would read the same, so they are acknowledged.

What breaks while a payload is read is told from what breaks in the core: that may work next time.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from bot.logs import get_logger

# What reading JSON of another shape than expected raises. ``FootnoteError`` is none of them.
MALFORMED = (LookupError, TypeError, ValueError, AttributeError, OverflowError)

T = TypeVar("T")

log = get_logger()


class CoreBroke(Exception):
    """The core raised something that would pass for a malformed payload."""


async def by_core(work: Awaitable[T]) -> T:
    """Await the core's work on an event that was parsed; raises ``CoreBroke`` for its errors."""
    try:
        return await work
    except MALFORMED as error:
        raise CoreBroke(repr(error)) from error


def note(error: Exception) -> None:
    """One line in the log for a payload that is acknowledged and dropped."""
    log.warning("Slack sent what cannot be read, it is dropped", error=repr(error)[:300])
