"""Extraction in processes of its own, so that a page can neither stall nor outlive its welcome.

Why processes: extraction is Python and C code that holds the GIL for up to seconds, during which
no other run of this process would move; and a page made to be slow can only be stopped by ending
what works on it. Why not ``concurrent.futures``: its pool cannot end one worker without breaking,
and its workers survive a parent that is killed. These end when their standard input does.

What comes back is JSON, not pickles: a worker has had hostile input in its hands.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from bot.errors import BrowserNeeded, PageUnreadable, Unavailable
from bot.pages.extract import Extracted, from_bytes
from bot.pages.processes import (
    WorkerProcess,
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
        self._slots = asyncio.Semaphore(size)
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="extraction")
        self._seconds = seconds
        self._command = command
        self._idle: list[WorkerProcess] = []
        self._busy: set[WorkerProcess] = set()
        self._closed = False

    def warm(self) -> None:
        """Start a process now if there is none, to be ready when the first page has come.

        Raises ``Unavailable`` when none can be started.
        """
        if not self._idle and not self._busy and not self._closed:
            self._idle.append(_started(self._command))

    async def extract(self, data: bytes, media_type: str | None, name: str) -> Extracted:
        """``extract.from_bytes`` elsewhere.

        Raises ``PageUnreadable`` like it, and for a document that takes too long or breaks its
        reader; ``Unavailable`` when no process can be started. When cancelled, ends the work.
        """
        async with self._slots:
            if self._closed:
                raise Unavailable("Footnote is shutting down; ask again later.")
            worker = self._free()
            self._busy.add(worker)
            try:
                outcome = await self._exchange(worker, data, media_type, name)
            except BaseException:
                worker.kill()
                raise
            else:
                self._idle.append(worker)
            finally:
                self._busy.discard(worker)
        if isinstance(outcome, PageUnreadable):
            raise outcome
        return outcome

    async def aclose(self) -> None:
        """End all processes."""
        self._closed = True
        for worker in (*self._idle, *self._busy):
            worker.kill()
        self._idle.clear()
        await asyncio.to_thread(self._threads.shutdown)

    def _free(self) -> WorkerProcess:
        """An idle process that still lives, or a new one."""
        while self._idle:
            worker = self._idle.pop()
            if worker.lives():
                return worker
            worker.kill()
        return _started(self._command)

    async def _exchange(
        self, worker: WorkerProcess, data: bytes, media_type: str | None, name: str
    ) -> Extracted | PageUnreadable:
        loop = asyncio.get_running_loop()
        head = {"media_type": media_type, "name": name, "seconds": self._seconds}
        reply = loop.run_in_executor(self._threads, worker.ask, head, data)
        try:
            # leaves the thread waiting when it is over; that ends with the worker's life
            async with asyncio.timeout(self._seconds):
                return _understood(await reply)
        except TimeoutError:
            raise _too_slow(name, self._seconds) from None
        except (OSError, EOFError, ValueError) as error:
            raise _broken(name, f"{type(error).__name__}: {error}") from None


def _started(command: Sequence[str]) -> WorkerProcess:
    try:
        return WorkerProcess(command)
    except OSError as error:
        raise Unavailable(
            "The page could not be read because the machine has no room for another process;"
            " try again later.",
            detail=str(error),
        ) from None


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
