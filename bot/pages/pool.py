"""A bounded pool of worker processes, each handling one request at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from bot.errors import Unavailable
from bot.pages.processes import WorkerProcess
from bot.pages.turns import UNDISTURBED, Load, Turn, Turns

T = TypeVar("T")

END_SECONDS = 5.0  # that a process gets to shut down


class WorkerPool:
    """Worker processes, at most ``size``; one is started when all others are busy.

    People and runs share them fairly (``bot.pages.turns``). A process is ended if it fails, exceeds
    its time, has its request cancelled, or if others need its turn; the next request starts a new
    one. Work that is begun again has only the rest of its time: it shrinks while others wait.
    Processes idle for ``idle_seconds`` are ended; None keeps them.
    """

    def __init__(
        self, size: int, command: Sequence[str], name: str, idle_seconds: float | None = None
    ) -> None:
        self._turns = Turns(size, can_be_wanted_back=True)
        self._threads = ThreadPoolExecutor(size, thread_name_prefix=name)
        self._command = command
        self._idle_seconds = idle_seconds
        self._ending: asyncio.TimerHandle | None = None
        self._idle: list[WorkerProcess] = []
        self._busy: set[WorkerProcess] = set()
        self._closed = False
        self.interrupted = 0  # requests that were begun again, because others needed the turn

    @property
    def load(self) -> Load:
        return self._turns.load

    def warm(self) -> None:
        """Start a process now if there is none. Raises ``Unavailable`` if that fails."""
        if not self._idle and not self._busy and not self._closed:
            self._idle.append(start_process(self._command))

    async def ask(
        self,
        head: dict[str, Any],
        data: bytes,
        seconds: float,
        understood: Callable[[Any, bytes], T],
    ) -> T:
        """Send a request to a process and return its reply as parsed by ``understood``, which
        receives the reply's JSON and data and raises ``ValueError`` if they are invalid.

        Also raises ``TimeoutError`` after ``seconds`` of work, ``OSError`` or ``EOFError`` if the
        process has ended, ``Unavailable`` if none can be started.
        """
        undisturbed = UNDISTURBED
        while True:
            try:
                return await self._ask(head, data, seconds, undisturbed, understood)
            except _WantedBack as wanted_back:  # start over, queued behind those who wait
                self.interrupted += 1
                seconds -= wanted_back.worked
                undisturbed *= 2
                if seconds <= 0:
                    raise TimeoutError from None

    async def _ask(
        self,
        head: dict[str, Any],
        data: bytes,
        seconds: float,
        undisturbed: float,
        understood: Callable[[Any, bytes], T],
    ) -> T:
        async with self._turns.turn(undisturbed) as turn:
            if self._closed:
                raise Unavailable("Footnote is shutting down; ask again later.")
            worker = self._free()
            self._busy.add(worker)
            try:
                loop = asyncio.get_running_loop()
                reply = loop.run_in_executor(self._threads, worker.ask, head, data)
                reply.add_done_callback(_seen)  # killing the process makes it fail
                # on a timeout the thread stays blocked until the worker is killed
                async with asyncio.timeout(seconds):
                    outcome = understood(*await _unless_wanted_back(turn, reply))
            except BaseException:
                worker.kill()
                raise
            else:
                self._idle.append(worker)
            finally:
                self._busy.discard(worker)
                self._end_later()
        return outcome

    async def aclose(self) -> None:
        """Stop all processes."""
        self._closed = True
        if self._ending is not None:
            self._ending.cancel()
        ending = [asyncio.to_thread(each.end, END_SECONDS) for each in (*self._idle, *self._busy)]
        self._idle.clear()
        await asyncio.gather(*ending)
        await asyncio.to_thread(self._threads.shutdown)

    def _free(self) -> WorkerProcess:
        """An idle process that is still alive, or a new one."""
        while self._idle:
            worker = self._idle.pop()
            if worker.lives():
                return worker
            worker.kill()
        return start_process(self._command)

    def _end_later(self) -> None:
        if self._idle_seconds is None or self._closed:
            return
        if self._ending is not None:
            self._ending.cancel()
        loop = asyncio.get_running_loop()
        self._ending = loop.call_later(self._idle_seconds, self._end_idle)

    def _end_idle(self) -> None:
        for worker in self._idle:
            worker.kill()
        self._idle.clear()


class _WantedBack(Exception):
    """Others need the turn, after ``worked`` seconds."""

    def __init__(self, worked: float) -> None:
        super().__init__(worked)
        self.worked = worked


async def _unless_wanted_back(turn: Turn, reply: asyncio.Future[T]) -> T:
    either: tuple[asyncio.Future[Any], ...] = (reply, turn.wanted_back)
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    if not reply.done():
        raise _WantedBack(asyncio.get_running_loop().time() - turn.began)
    return reply.result()


def _seen(reply: asyncio.Future[Any]) -> None:
    if not reply.cancelled():
        reply.exception()


def start_process(command: Sequence[str]) -> WorkerProcess:
    """Start a process. Raises ``Unavailable`` if it cannot be started."""
    try:
        return WorkerProcess(command)
    except OSError as error:
        raise Unavailable(
            "The page could not be read because the machine cannot start another process;"
            " try again later.",
            detail=str(error),
        ) from None
