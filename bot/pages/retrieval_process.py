"""Retrieves documents in a separate process, so that no web server can delay the chat.

Why a process: parsing a hostile server's response is Python code that holds the GIL, and an event
loop in a thread shares the GIL with all other threads. Many documents are retrieved concurrently,
so requests carry numbers and replies arrive in any order. Replies are JSON, not pickles.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import datetime
from functools import partial
from typing import IO, Any

from bot.egress import Egress
from bot.errors import AddressRefused, BrowserNeeded, FootnoteError, PageUnreadable, Unavailable
from bot.logs import get_logger
from bot.pages.page import Document
from bot.pages.pool import END_SECONDS, start_process
from bot.pages.processes import own_pipes, receive, send
from bot.pages.retrieval import DownloadSettings, Retrieval

log = get_logger()

COMMAND = (sys.executable, "-P", "-c", "from bot.pages.retrieval_process import work; work()")
RESOLVING = 64  # concurrent name lookups
MARGIN_SECONDS = 15.0  # added to a document's own, for starting the process and waiting in it

ERRORS: dict[str, type[FootnoteError]] = {
    error.__name__: error for error in (AddressRefused, BrowserNeeded, PageUnreadable, Unavailable)
}
"""The errors that may be raised, by name: the class itself or its nearest listed parent."""


class RetrievalProcess:
    """``Retrieval`` in another process. Belongs to one event loop; close it when done.

    The process starts with the first request. If it crashes, pending requests raise
    ``Unavailable``, and the next request starts a new one.
    """

    def __init__(self, way: DownloadSettings, command: Sequence[str] = COMMAND) -> None:
        """Raises ``InvalidSetting`` for malformed exceptions from the address rule."""
        Retrieval(way)  # only to validate the settings here
        self._way = way
        self._command = command
        self._connection: _Connection | None = None
        self._closed = False

    async def get(self, address: str) -> Document:
        """See ``Retrieval``."""
        head, data = await self._ask("get", address)
        match head:
            case {"url": str(url), "type": str() | None as content_type, "at": str(at)}:
                return Document(url, content_type, data, datetime.fromisoformat(at))
        raise _broken(f"it replied {head!r:.200}")

    async def permit(self, address: str) -> None:
        """See ``Retrieval``."""
        await self._ask("permit", address)

    async def aclose(self) -> None:
        """Stop the process."""
        self._closed = True
        if self._connection is not None:
            await self._connection.aclose()

    async def _ask(self, what: str, address: str) -> tuple[dict[str, Any], bytes]:
        if self._closed:
            raise Unavailable("Footnote is shutting down; ask again later.")
        if self._connection is None or self._connection.is_broken:
            self._connection = _Connection(self._command, asdict(self._way))
        connection = self._connection
        try:
            async with asyncio.timeout(self._way.seconds + MARGIN_SECONDS):
                head, data = await connection.ask({"what": what, "address": address})
        except TimeoutError:
            connection.stop(
                "a document took too long"
            )  # the process no longer enforces its own limits
            raise _broken("no reply in time") from None
        error = head.get("error")
        if error is None:
            return head, data
        raise _raised(error)


class _Connection:
    """The connection to one process: one thread sends, another one receives."""

    def __init__(self, command: Sequence[str], way: dict[str, Any]) -> None:
        """Raises ``Unavailable`` if the process cannot be started."""
        self.is_broken = False
        self._loop = asyncio.get_running_loop()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[tuple[dict[str, Any], bytes]]] = {}
        self._process = start_process(command)
        self._telling = ThreadPoolExecutor(1, thread_name_prefix="retrieval")
        self._hearing = threading.Thread(target=self._hear, name="retrieval-replies", daemon=True)
        self._hearing.start()
        self._tell(way)

    async def ask(self, head: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        """Send a request and return its reply; on cancellation, the process stops its work."""
        number = next(self._numbers)
        reply: asyncio.Future[tuple[dict[str, Any], bytes]] = self._loop.create_future()
        self._waiting[number] = reply
        self._tell({"number": number, **head})
        try:
            return await reply
        except asyncio.CancelledError:
            self._tell({"number": number, "what": "cancel"})
            raise
        finally:
            self._waiting.pop(number, None)

    def stop(self, reason: str) -> None:
        """Kill the process at once; pending requests fail."""
        self._process.stop()
        self._break(reason)

    async def aclose(self) -> None:
        """Stop the process and both threads."""
        self._break("Footnote is shutting down")
        await asyncio.to_thread(self._process.end, END_SECONDS)
        await asyncio.to_thread(self._hearing.join)

    def _tell(self, head: dict[str, Any]) -> None:
        # In a thread: a pipe that is not being read would block the event loop.
        with contextlib.suppress(RuntimeError):  # the process has just ended, and _hear will notice
            self._telling.submit(self._process.tell, head)

    def _hear(self) -> None:
        try:
            while True:
                head, data = self._process.hear()
                self._loop.call_soon_threadsafe(self._heard, head, data)
        except (OSError, EOFError, ValueError) as error:
            reason = f"{type(error).__name__}: {error}"
        with contextlib.suppress(RuntimeError):  # event loop closed; no request waits
            self._loop.call_soon_threadsafe(self._break, reason)
        self._process.kill()
        self._telling.shutdown()

    def _heard(self, head: Any, data: bytes) -> None:
        match head:
            case {"number": int(number)} if number in self._waiting:  # else cancelled
                reply = self._waiting[number]
                if not reply.done():
                    reply.set_result((head, data))

    def _break(self, reason: str) -> None:
        if self.is_broken:
            return
        self.is_broken = True
        if self._waiting:
            log.warning("page process stopped", reason=reason, under_way=len(self._waiting))
        for reply in self._waiting.values():
            if not reply.done():
                reply.set_exception(_broken(reason))


def _broken(detail: str) -> Unavailable:
    return Unavailable(
        "The page could not be read because the process that reads pages crashed; try again.",
        detail=detail,
    )


def _raised(error: Any) -> FootnoteError:
    match error:
        case {
            "kind": str(kind),
            "sentence": str(sentence),
            "detail": str(detail),
            "retry_after": int() | float() | None as retry_after,
        } if kind in ERRORS:
            if kind == Unavailable.__name__:
                return Unavailable(sentence, detail=detail, retry_after=retry_after)
            return ERRORS[kind](sentence, detail=detail)
    return _broken(f"it replied {error!r:.200}")


# ---------------------------------------------------------------- in the worker process


def work() -> None:
    """Main loop of the process: retrieves documents until the parent exits."""
    requests, replies = own_pipes()
    way, _ = receive(requests)
    settings = {**way, "allow": tuple(way["allow"]), "egress": Egress(**way["egress"])}
    asyncio.run(_Server(DownloadSettings(**settings), replies).work(requests))


class _Server:
    """The pending requests, by their number."""

    def __init__(self, way: DownloadSettings, replies: IO[bytes]) -> None:
        self._retrieval = Retrieval(way)
        self._replies = replies
        # One thread, so that a reply is sent whole even if its request is cancelled meanwhile.
        self._sending = ThreadPoolExecutor(1)
        self._pending: dict[int, asyncio.Task[None]] = {}

    async def work(self, requests: IO[bytes]) -> None:
        # Names are resolved in threads, and a hostile name server is slow.
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(RESOLVING, thread_name_prefix="resolving"))
        while True:
            try:
                head, _ = await asyncio.to_thread(receive, requests)
            except EOFError:
                return  # ``asyncio.run`` cancels the tasks
            number, what = head["number"], head["what"]
            if what == "cancel":
                if number in self._pending:
                    self._pending[number].cancel()
                continue
            task = asyncio.create_task(self._serve(number, what, head["address"]))
            self._pending[number] = task
            task.add_done_callback(partial(self._served, number))

    def _served(self, number: int, task: asyncio.Task[None]) -> None:
        del self._pending[number]

    async def _serve(self, number: int, what: str, address: str) -> None:
        head: dict[str, Any] = {"number": number}
        data = b""
        try:
            if what == "permit":
                await self._retrieval.permit(address)
            else:
                found = await self._retrieval.get(address)
                at = found.fetched_at.isoformat()
                head |= {"url": found.url, "type": found.content_type, "at": at}
                data = found.data
        except FootnoteError as error:
            head["error"] = _as_json(error)
        except Exception as error:  # noqa: BLE001 - reported to the parent, which raises it
            head["error"] = _as_json(_broken(repr(error)))
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._sending, send, self._replies, head, data)


def _as_json(error: FootnoteError) -> dict[str, Any]:
    known = next((kind.__name__ for kind in type(error).__mro__ if kind.__name__ in ERRORS), "")
    return {
        "kind": known or Unavailable.__name__,
        "sentence": error.sentence,
        "detail": error.detail,
        "retry_after": getattr(error, "retry_after", None),
    }
