"""The loop of a child process that serves many requests at once (``bot.pages.tasks``)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Awaitable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import IO, Any, NoReturn

from bot.pages.processes import ORPHANED_AFTER, Answer, AsyncWork, receive, send, set_alarm

RESOLVING = 64  # concurrent name lookups: a hostile name server is slow


def serve_at_once(
    requests: IO[bytes], replies: IO[bytes], opened: AbstractAsyncContextManager[AsyncWork]
) -> NoReturn:
    """Serve requests until they end or SIGTERM arrives, and end this process."""
    with contextlib.suppress(asyncio.CancelledError):
        asyncio.run(_Server(replies).serve(requests, opened))
    os._exit(0)  # a thread is still waiting for requests


class _Server:
    """Serves requests at once, and stops those that are cancelled."""

    def __init__(self, replies: IO[bytes]) -> None:
        self._replies = replies
        # One thread, so that a reply is sent whole even if its request is cancelled meanwhile.
        self._sending = ThreadPoolExecutor(1)
        self._pending: dict[int, asyncio.Task[None]] = {}

    async def serve(
        self, requests: IO[bytes], opened: AbstractAsyncContextManager[AsyncWork]
    ) -> None:
        """Serve until the requests end or SIGTERM arrives: both cancel this."""
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(RESOLVING, thread_name_prefix="resolving"))
        heads = _heads(requests)
        async with opened as work:
            await self._send({"number": 0}, b"")
            while True:
                head = await heads.get()
                number = head["number"]
                if "asked" not in head:
                    if number in self._pending:
                        self._pending[number].cancel()
                    continue
                set_alarm(ORPHANED_AFTER * head["seconds"])
                task = asyncio.create_task(self._answer(number, work(head["asked"])))
                self._pending[number] = task
                task.add_done_callback(partial(self._answered, number))

    def _answered(self, number: int, task: asyncio.Task[None]) -> None:
        del self._pending[number]
        if not self._pending:
            set_alarm(0)

    async def _answer(self, number: int, answer: Awaitable[Answer]) -> None:
        reply, data = await answer
        await self._send({"number": number, "reply": reply}, data)

    async def _send(self, head: dict[str, Any], data: bytes) -> None:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._sending, send, self._replies, head, data)


def _heads(requests: IO[bytes]) -> asyncio.Queue[dict[str, Any]]:
    """Queue the requests as they arrive. Their end, or SIGTERM, cancels the calling task."""
    loop, heads = asyncio.get_running_loop(), asyncio.Queue[dict[str, Any]]()
    task = asyncio.current_task()
    assert task is not None  # noqa: S101 - an event loop runs the caller
    loop.add_signal_handler(signal.SIGTERM, task.cancel)

    def listen() -> None:
        with contextlib.suppress(EOFError, ValueError):
            while True:
                head, _ = receive(requests)
                loop.call_soon_threadsafe(heads.put_nowait, head)
        loop.call_soon_threadsafe(task.cancel)

    threading.Thread(target=listen, name="requests", daemon=True).start()
    return heads
