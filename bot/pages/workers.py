"""Extracts text in separate processes, so that a page can neither block others nor run forever.

Why processes: extraction is Python and C code that holds the GIL for up to seconds, during which no
other run could continue; and a page built to be slow can only be stopped by ending the process that
works on it. Why not ``concurrent.futures``: its pool cannot end one worker without breaking, and
its workers survive a parent that is killed. These end when their standard input closes.

Replies are JSON, not pickles, because a worker handles hostile input.

The workers share a memory limit (``bot.pages.processes``). A document that needs more than the
share of one of several processes, or crashes it, is read again by the single large process.
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
from bot.pages.turns import Load
from bot.pages.urls import display_url

SECONDS = 20.0
"""Time limit for one document. The slowest of 181 news pages takes 0.2 s."""

LARGE_IDLE_SECONDS = 10.0  # until the process for large documents ends
NOT_READ = "## What comes after the first {:,} characters was not read"

LACKS_MEMORY = {"lacks": "memory"}
COMMAND = (sys.executable, "-P", "-c", "import sys; from bot.pages.workers import work; "
           "work(int(sys.argv[1]))")  # fmt: skip


class Workers:
    """A bounded pool of processes, started on demand, that run ``extract.from_bytes``.

    There are ``size`` of them, by default as many as the ``shares`` have room for, and one for
    documents that need more memory. ``command`` starts one; the bytes it may allocate are appended.
    ``seconds`` is the limit for one document.
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
    def single_process(cls, shares: Shares) -> Workers:
        """A single process for documents that fit its memory; for others ``extract`` raises
        ``NeedsMoreMemory``.
        """
        workers = cls(1, shares=shares)
        workers._large = None
        return workers

    @property
    def load(self) -> Load:
        """How many of the processes work, and how many documents wait for one."""
        return self._pool.load

    @property
    def interrupted(self) -> int:
        """How often a document was begun again, because others waited."""
        return self._pool.interrupted

    def warm(self) -> None:
        """Start a process now if there is none, so that it is ready for the first page.

        Raises ``Unavailable`` if none can be started.
        """
        self._pool.warm()

    async def extract(self, data: bytes, media_type: str | None, name: str) -> Reading:
        """Run ``extract.from_bytes`` in a worker.

        Raises ``PageUnreadable`` like it, and for a document that takes too long or too much memory
        or crashes its reader; ``Unavailable`` if no process can be started. A text is cut to
        ``MOST_CHARACTERS``. On cancellation, the work is ended.
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
        """Stop all processes."""
        await self._pool.aclose()
        if self._large is not None:
            await self._large.aclose()

    def _too_large(self, name: str, most: int) -> NeedsMoreMemory:
        return NeedsMoreMemory(
            f"{display_url(name)} takes more than {most / 1e6:,.0f} MB of memory to read; split it,"
            " or paste the part that matters."
        )

    def _broken(self, name: str, detail: str) -> PageUnreadable:
        return PageUnreadable(
            f"{display_url(name)} could not be read: its reader crashed, or needed more than"
            f" {self._shares.large / 1e6:,.0f} MB of memory; paste its text.",
            detail=detail,
        )


class NeedsMoreMemory(PageUnreadable):
    """A document needs more memory than is available for it."""


class _LacksMemory(Exception):
    """A process had too little memory for a document."""


def _too_slow(name: str, seconds: float) -> PageUnreadable:
    return PageUnreadable(
        f"{display_url(name)} takes too long to read because of the way it is made; paste its"
        " text.",
        detail=f"no result within {seconds} s",
    )


def _understood(reply: Any, data: bytes) -> Reading | PageUnreadable:
    """Parse a worker's reply, which may be anything if a document has taken control of it."""
    match reply:
        case {"title": str(title), "canonical": str(canonical), "kept": int() | float() as kept}:
            text = text_of(data)
            if len(text) > MOST_CHARACTERS + len(NOT_READ) + 20:
                raise ValueError("the text of a reply is too long")
            return Reading(title, text, min(1.0, max(0.0, kept)), canonical)
        case {"unreadable": str(sentence), "detail": str(detail), "for_browsers": bool(is_wall)}:
            return (BrowserNeeded if is_wall else PageUnreadable)(sentence, detail=detail)
        case dict() if reply == LACKS_MEMORY:
            raise _LacksMemory
        case _:
            raise ValueError("an invalid reply")


# ---------------------------------------------------------------- in the worker process


def work(memory: int) -> None:
    """Main loop of a worker: reads documents and replies until the parent exits.

    ``memory`` is in bytes, see ``limit_memory``.
    """
    requests, replies = own_pipes()
    limit_memory(memory)
    from bot.pages import articles, extract, markup  # noqa: F401 - slow imports, done in advance

    while True:
        try:
            head, data = receive(requests)
        except EOFError:
            return
        # if the parent is killed, no other process ends this one
        set_alarm(2 * head["seconds"])
        try:
            reply, text = _read(data, head["media_type"], head["name"])
        except MemoryError:
            reply, text = LACKS_MEMORY, b""
        # When a library runs out of memory, readers take the document for empty or damaged.
        if "unreadable" in reply and peak_memory() > NEAR_LIMIT * memory:
            reply = LACKS_MEMORY
        set_alarm(0)
        del data
        send(replies, reply, text)


def _read(data: bytes, media_type: str | None, name: str) -> tuple[dict[str, Any], bytes]:
    """Read a document; return the JSON and the data of the reply."""
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
