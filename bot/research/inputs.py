"""The inputs of a run: its question, and the sources it may search and read."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime

from bot.core.messages import UPLOADED, Attachment, Message, RunOptions, Transcript
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


LONGEST = 6_000
"""Characters of a message that are analysed. The time that this takes grows with the length, and
what a question needs is at its beginning and its end."""

OMISSION = "\n\n[…]\n\n"


def without_middle(text: str) -> str:
    """The first and last characters of a long text, ``LONGEST`` in all; a short one unchanged."""
    end = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:end]}{OMISSION}{text[-end:]}"


def without_middles(transcript: Transcript) -> Transcript:
    """The transcript with what people wrote shortened by ``without_middle``."""
    return Transcript(
        tuple(
            replace(each, text=without_middle(each.text)) if each.role == "person" else each
            for each in transcript.entries
        )
    )


def whole_text(message: Message) -> Attachment | None:
    """A file with the whole text of a long message, to be read as a page; None for a short one."""
    if len(message.text) <= LONGEST:
        return None
    digest = hashlib.sha256(message.text.encode("utf-8", "replace")).hexdigest()[:16]
    return Attachment("message.txt", "text/plain", f"{UPLOADED}{digest}/message.txt")


@dataclass(frozen=True, slots=True)
class CorrectionReply:
    """The reply to an author about a correction, and whether it was stored."""

    sentence: str
    is_kept: bool = False


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
