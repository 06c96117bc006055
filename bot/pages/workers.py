"""Extraction in processes of its own, so that a page can neither stall nor outlive its welcome.

Why processes: extraction is Python and C code that holds the GIL for up to seconds, during which
no other run of this process would move; and a page made to be slow can only be stopped by ending
what works on it. Why not ``concurrent.futures``: its pool cannot end one worker without breaking,
and its workers survive a parent that is killed. These end when their standard input does.

What comes back is JSON, not pickles: a worker has had hostile input in its hands.

Their memory is limited together (``bot.pages.processes``). A document that needs more than one of
several processes may have, or that breaks it, is read again by the one large process.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

from bot.errors import BrowserNeeded, PageUnreadable
from bot.pages.formats.blocks import MOST_CHARACTERS, Reading
from bot.pages.pool import WorkerPool
from bot.pages.processes import (
    DEFAULT,
    NEAR_LIMIT,
    Shares,
    data_of,
    limit_memory,
    own_pipes,
    peak_memory,
    receive,
    send,
    set_alarm,
    text_of,
)
from bot.pages.urls import shown

SECONDS = 20.0
"""The limits for one document. The slowest of 181 news pages takes 0.2 s."""

LARGE_IDLE_SECONDS = 10.0  # after which the memory of the process for large documents is free again
NOT_READ = "## What comes after the first {:,} characters was not read"

LACKS_MEMORY = {"lacks": "memory"}
COMMAND = (sys.executable, "-P", "-c", "import sys; from bot.pages.workers import work; "
           "work(int(sys.argv[1]))")  # fmt: skip


class Workers:
    """A bounded set of processes, started when needed, that run ``extract.from_bytes``.

    ``size`` of them, by default as many as the ``shares`` have room for, and one for documents that
    need more memory. ``command`` starts one; the bytes it may allocate are added to it. ``seconds``
    are for one document.
    """

    def __init__(
        self,
        size: int = 0,
        seconds: float = SECONDS,
        command: Sequence[str] = COMMAND,
        shares: Shares = DEFAULT,
    ) -> None:
        self._shares = shares
        self._pool = WorkerPool(
            size or shares.readers, (*command, str(shares.one_of_several)), "extraction"
        )
        self._large: WorkerPool | None = WorkerPool(
            1, (*command, str(shares.large)), "extraction-large", LARGE_IDLE_SECONDS
        )
        self._seconds = seconds

    @classmethod
    def for_a_look(cls, shares: Shares) -> Workers:
        """One process, which reads documents for which it has the memory; for others ``extract``
        raises ``NeedsMoreMemory``."""
        workers = cls(1, shares=shares)
        workers._large = None
        return workers

    def warm(self) -> None:
        """Start a process now if there is none, to be ready when the first page has come.

        Raises ``Unavailable`` when none can be started.
        """
        self._pool.warm()

    async def extract(self, data: bytes, media_type: str | None, name: str) -> Reading:
        """``extract.from_bytes`` elsewhere.

        Raises ``PageUnreadable`` like it, and for a document that takes too long, takes too much
        memory or breaks its reader; ``Unavailable`` when no process can be started. Of a longer
        text ``MOST_CHARACTERS`` are given. When cancelled, ends the work.
        """
        ends = time.monotonic() + self._seconds
        try:
            return await self._read_by(self._pool, data, media_type, name, self._seconds)
        except (OSError, EOFError, ValueError, _LacksMemory) as error:
            if self._large is None:
                raise self._too_large(name, self._shares.one_of_several) from error
            rest = max(self._seconds / 2, ends - time.monotonic())
        try:
            return await self._read_by(self._large, data, media_type, name, rest)
        except _LacksMemory:
            raise self._too_large(name, self._shares.large) from None
        except (OSError, EOFError, ValueError) as error:
            raise self._broken(name, f"{type(error).__name__}: {error}") from None

    async def _read_by(
        self, pool: WorkerPool, data: bytes, media_type: str | None, name: str, seconds: float
    ) -> Reading:
        head = {"media_type": media_type, "name": name, "seconds": seconds}
        try:
            outcome = await pool.ask(head, data, seconds, _understood)
        except TimeoutError:
            raise _too_slow(name, seconds) from None
        if isinstance(outcome, PageUnreadable):
            raise outcome
        return outcome

    async def aclose(self) -> None:
        """End all processes."""
        await self._pool.aclose()
        if self._large is not None:
            await self._large.aclose()

    def _too_large(self, name: str, most: int) -> NeedsMoreMemory:
        return NeedsMoreMemory(
            f"{shown(name)} takes more than {most / 1e6:,.0f} MB of memory to read; split it, or"
            " paste the part that matters."
        )

    def _broken(self, name: str, detail: str) -> PageUnreadable:
        return PageUnreadable(
            f"{shown(name)} could not be read: its reader broke on it, or needed more than"
            f" {self._shares.large / 1e6:,.0f} MB of memory; paste its text.",
            detail=detail,
        )


class NeedsMoreMemory(PageUnreadable):
    """A document takes more memory than there is for it."""


class _LacksMemory(Exception):
    """A process had too little memory for a document."""


def _too_slow(name: str, seconds: float) -> PageUnreadable:
    return PageUnreadable(
        f"{shown(name)} is made in a way that takes too long to read; paste its text.",
        detail=f"no result within {seconds} s",
    )


def _understood(reply: Any, data: bytes) -> Reading | PageUnreadable:
    """Parse a worker's reply, which may be anything once a document has taken control of it."""
    match reply:
        case {"title": str(title), "canonical": str(canonical), "kept": int() | float() as kept}:
            text = text_of(data)
            if len(text) > MOST_CHARACTERS + len(NOT_READ) + 20:
                raise ValueError("a reply of too many characters")
            return Reading(title, text, min(1.0, max(0.0, kept)), canonical)
        case {"unreadable": str(sentence), "detail": str(detail), "for_browsers": bool(is_wall)}:
            return (BrowserNeeded if is_wall else PageUnreadable)(sentence, detail=detail)
        case dict() if reply == LACKS_MEMORY:
            raise _LacksMemory
        case _:
            raise ValueError("a reply that means nothing")


# ---------------------------------------------------------------- inside a worker


def work(memory: int) -> None:
    """The life of a worker: read a document, answer, until the parent is gone.

    ``memory`` is in bytes, see ``limit_memory``.
    """
    requests, replies = own_pipes()
    limit_memory(memory)
    from bot.pages import articles, extract, markup  # noqa: F401 - slow to load, so loaded before needed

    while True:
        try:
            head, data = receive(requests)
        except EOFError:
            return
        # nobody else ends this process when the parent was killed
        set_alarm(2 * head["seconds"])
        try:
            reply, text = _read(data, head["media_type"], head["name"])
        except MemoryError:
            reply, text = LACKS_MEMORY, b""
        # Readers take a document for empty or broken when a library of theirs has found no room.
        if "unreadable" in reply and peak_memory() > NEAR_LIMIT * memory:
            reply = LACKS_MEMORY
        set_alarm(0)
        del data
        send(replies, reply, text)


def _read(data: bytes, media_type: str | None, name: str) -> tuple[dict[str, Any], bytes]:
    """A document as the JSON and the data of a reply."""
    from bot.pages.extract import from_bytes

    try:
        extracted = from_bytes(data, media_type, name)
    except PageUnreadable as error:
        is_wall = isinstance(error, BrowserNeeded)
        return {"unreadable": error.sentence, "detail": error.detail, "for_browsers": is_wall}, b""
    text, kept = extracted.text, extracted.kept
    if len(text) > MOST_CHARACTERS:
        at = text.rfind("\n", MOST_CHARACTERS // 2, MOST_CHARACTERS)
        start = text[: at if at > 0 else MOST_CHARACTERS].rstrip()
        kept *= len(start) / len(text)
        text = f"{start}\n\n{NOT_READ.format(MOST_CHARACTERS)}"
    return {
        "title": extracted.title,
        "canonical": extracted.canonical,
        "kept": kept,
    }, data_of(text)
