"""The inputs of a run: its question, and what it may search and read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from bot.corrections.desk import Noted
from bot.messages import Attachment, Message, RunOptions, Transcript
from bot.research.evidence.library import Library

NOTHING_SAID = Transcript()


@dataclass(frozen=True, slots=True)
class Asked:
    """The question of a run, as it was accepted at ``now``; ``transcript`` is what was said before
    it in the thread."""

    id: str
    message: Message
    options: RunOptions
    now: datetime
    transcript: Transcript = NOTHING_SAID


async def keep_nothing(statement: str) -> Noted | None:
    """The ``correct`` of runs without corrections."""
    return None


@dataclass(frozen=True, slots=True)
class Resources:
    """The sources that a run may search and read.

    ``download`` brings the files that came with the message; they are read like pages, by the URL
    where a person opens them. At most ``prefetch_pages`` are read before anyone has chosen them.
    With ``keeps_documents``, the web is not asked for words that only documents have. ``correct``
    keeps what the message states to correct the last answer; None where that is not wanted.
    """

    library: Library
    download: Callable[[Attachment, int], Awaitable[bytes]] | None = None
    prefetch_pages: int = 0
    keeps_documents: bool = True
    correct: Callable[[str], Awaitable[Noted | None]] = keep_nothing
