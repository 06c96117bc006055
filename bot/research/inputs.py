"""The inputs of a run: its question, and the sources it may search and read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from bot.corrections.desk import CorrectionReply
from bot.messages import Attachment, Message, RunOptions, Transcript
from bot.research.evidence.library import Library

NOTHING_SAID = Transcript()


@dataclass(frozen=True, slots=True)
class RunQuestion:
    """The question of a run, accepted at ``now``; ``transcript`` is the thread before it."""

    id: str
    message: Message
    options: RunOptions
    now: datetime
    transcript: Transcript = NOTHING_SAID


async def keep_nothing(statement: str) -> CorrectionReply | None:
    """Do nothing: the ``correct`` of runs without corrections."""
    return None


@dataclass(frozen=True, slots=True)
class Resources:
    """The sources that a run may search and read.

    ``download`` fetches the files sent with the message; they are read like pages, by the URL where
    a person opens them. At most ``prefetch_pages`` are read ahead. With ``keeps_documents``,
    queries to the web leave out words found only in documents. ``correct`` stores the message's
    statement as a correction of the last answer; it returns None if corrections are off.
    """

    library: Library
    download: Callable[[Attachment, int], Awaitable[bytes]] | None = None
    prefetch_pages: int = 0
    keeps_documents: bool = True
    correct: Callable[[str], Awaitable[CorrectionReply | None]] = keep_nothing
