"""Extraction in processes of its own, so that a page can neither stall nor outlive its welcome.

Why processes: extraction is Python and C code that holds the GIL for up to seconds, during which
no other run of this process would move; and a page made to be slow can only be stopped by ending
what works on it. Why not ``concurrent.futures``: its pool cannot end one worker without breaking,
and its workers survive a parent that is killed. These end when their standard input does.

What comes back is JSON, not pickles: a worker has had hostile input in its hands.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from bot.errors import BrowserNeeded, PageUnreadable
from bot.pages.extract import Extracted, from_bytes
from bot.pages.pool import WorkerPool
from bot.pages.processes import (
    limit_address_space,
    own_pipes,
    receive,
    send,
    set_alarm,
)
from bot.pages.urls import shown

SECONDS = 20.0
"""What one document may take. The slowest of 181 news pages takes 0.2 s."""

SIZE = max(1, min(4, os.cpu_count() or 1))
"""Processes at most; each is started when all others are busy."""

MEMORY = 2 * 1024**3  # bytes of address space for one worker, where the system can limit it
COMMAND = (sys.executable, "-P", "-c", "from bot.pages.workers import work; work()")


class Workers:
    """A bounded set of processes, started when needed, that run ``extract.from_bytes``."""

    def __init__(
        self, size: int = SIZE, seconds: float = SECONDS, command: Sequence[str] = COMMAND
    ) -> None:
        self._pool = WorkerPool(size, command, "extraction")
        self._seconds = seconds

    def warm(self) -> None:
        """Start a process now if there is none, to be ready when the first page has come.

        Raises ``Unavailable`` when none can be started.
        """
        self._pool.warm()

    async def extract(self, data: bytes, media_type: str | None, name: str) -> Extracted:
        """``extract.from_bytes`` elsewhere.

        Raises ``PageUnreadable`` like it, and for a document that takes too long or breaks its
        reader; ``Unavailable`` when no process can be started. When cancelled, ends the work.
        """
        head = {"media_type": media_type, "name": name, "seconds": self._seconds}
        try:
            outcome = await self._pool.ask(head, data, self._seconds, _understood)
        except TimeoutError:
            raise _too_slow(name, self._seconds) from None
        except (OSError, EOFError, ValueError) as error:
            raise _broken(name, f"{type(error).__name__}: {error}") from None
        if isinstance(outcome, PageUnreadable):
            raise outcome
        return outcome

    async def aclose(self) -> None:
        """End all processes."""
        await self._pool.aclose()


def _too_slow(name: str, seconds: float) -> PageUnreadable:
    return PageUnreadable(
        f"{shown(name)} is made in a way that takes too long to read; paste its text.",
        detail=f"no result within {seconds} s",
    )


def _understood(reply: Any) -> Extracted | PageUnreadable:
    """What a worker says, which may be anything once a document has got the better of it."""
    match reply:
        case {
            "title": str(title),
            "text": str(text),
            "canonical": str(canonical),
            "kept": int() | float() as kept,
        }:
            return Extracted(title, text, canonical, min(1.0, max(0.0, kept)))
        case {"unreadable": str(sentence), "detail": str(detail), "for_browsers": bool(is_wall)}:
            return (BrowserNeeded if is_wall else PageUnreadable)(sentence, detail=detail)
        case _:
            raise ValueError("a reply that means nothing")


def _broken(name: str, detail: str) -> PageUnreadable:
    return PageUnreadable(
        f"{shown(name)} could not be read: its reader broke on it; paste its text.", detail=detail
    )


# ---------------------------------------------------------------- inside a worker


def work() -> None:
    """The life of a worker: read a document, answer, until the parent is gone."""
    requests, replies = own_pipes()
    limit_address_space(MEMORY)
    from bot.pages import articles, markup  # noqa: F401 - slow to load, so loaded before needed

    while True:
        try:
            head, data = receive(requests)
        except EOFError:
            return
        # nobody else ends this process when the parent was killed
        set_alarm(2 * head["seconds"])
        reply = _read(data, head["media_type"], head["name"])
        set_alarm(0)
        send(replies, reply, b"")


def _read(data: bytes, media_type: str | None, name: str) -> dict[str, Any]:
    try:
        extracted = from_bytes(data, media_type, name)
    except PageUnreadable as error:
        is_wall = isinstance(error, BrowserNeeded)
        return {"unreadable": error.sentence, "detail": error.detail, "for_browsers": is_wall}
    return {
        "title": extracted.title,
        "text": extracted.text,
        "canonical": extracted.canonical,
        "kept": extracted.kept,
    }
