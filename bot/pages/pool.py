"""A pool of child processes for one named task, which all share the same limits and failures.

Why processes: reading documents is Python and C code that holds the GIL for up to seconds, during
which no other run could continue; and work that was built to be slow can only be stopped by ending
the process that does it. Why not ``concurrent.futures``: its pool cannot end one worker without
breaking, and its workers survive a parent that is killed.

``bot.pages.tasks`` has the table of tasks and the other side. Replies are JSON, not pickles,
because a child handles hostile input.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any, Literal, TypeVar

from bot.core.errors import Unavailable
from bot.core.measurements import Load
from bot.pages.processes import LACKS_MEMORY, MAX_REPLY, environment, receive, send
from bot.pages.turns import UNDISTURBED, Turn, Turns

T = TypeVar("T")

COMMAND = (sys.executable, "-P", "-c", "from bot.pages.tasks import main; main()")
START_SECONDS = 60.0  # for a process to become ready; it takes some seconds on a busy machine
END_SECONDS = 5.0  # that a process gets to shut down


class TaskFailed(Exception):
    """A request has no usable reply: it took too long, needed too much memory, or its process died
    or sent nonsense. The process was ended."""

    def __init__(self, reason: Literal["slow", "memory", "died"], detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason


class Pool:
    """Processes for ``task``, at most ``size``; one is started when all others are busy.

    Each may allocate ``memory`` bytes. People and runs share them fairly (``bot.pages.turns``). A
    process is ended if it fails, exceeds its time, has its request cancelled, or if others need its
    turn; the next request starts a new one. Work that is begun again has only the rest of its time:
    it shrinks while others wait. Processes idle for ``idle_seconds`` are ended; None keeps them.

    ``shared``: one process serves all requests at once, and goes on when one is cancelled.
    ``command`` starts a process; the name of the task and its memory are appended. Belongs to one
    event loop.
    """

    def __init__(
        self,
        task: str,
        size: int,
        memory: int,
        *,
        idle_seconds: float | None = None,
        shared: bool = False,
        command: Sequence[str] = COMMAND,
    ) -> None:
        self._turns = Turns(size, can_be_wanted_back=True)
        self._command = (*command, task, str(memory))
        self._idle_seconds = idle_seconds
        self._is_shared = shared
        self._ending: asyncio.TimerHandle | None = None
        self._idle: list[Child] = []
        self._busy: set[Child] = set()
        self._closed = False
        self.interrupted = 0  # requests that were begun again, because others needed the turn

    @property
    def load(self) -> Load:
        return self._turns.load

    @property
    def children(self) -> list[Child]:
        """Return the living processes."""
        return [each for each in (*self._idle, *self._busy) if each.lives]

    def warm(self) -> None:
        """Start a process now if there is none. Raises ``Unavailable`` if that fails."""
        if not self._idle and not self._busy and not self._closed:
            self._idle.append(Child(self._command))

    async def ask(
        self,
        asked: dict[str, Any],
        data: bytes,
        seconds: float,
        understood: Callable[[Any, bytes], T],
    ) -> T:
        """Send a request to a process and return its reply as parsed by ``understood``, which
        receives the reply's JSON and data and raises ``ValueError`` if they are invalid.

        Also raises ``TaskFailed``, after at most ``seconds`` of work, and ``Unavailable`` if no
        process can be started.
        """
        if self._is_shared:
            child = self._free()
            self._idle.append(child)
            return await self._outcome(child, None, asked, data, seconds, understood)
        undisturbed = UNDISTURBED
        while True:
            try:
                return await self._ask(asked, data, seconds, undisturbed, understood)
            except _WantedBack as wanted_back:  # start over, queued behind those who wait
                self.interrupted += 1
                seconds -= wanted_back.worked
                undisturbed *= 2
                if seconds <= 0:
                    raise TaskFailed("slow", "others needed its turn") from None

    async def _ask(
        self,
        asked: dict[str, Any],
        data: bytes,
        seconds: float,
        undisturbed: float,
        understood: Callable[[Any, bytes], T],
    ) -> T:
        async with self._turns.turn(undisturbed) as turn:
            child = self._free()
            self._busy.add(child)
            try:
                outcome = await self._outcome(child, turn, asked, data, seconds, understood)
            except BaseException:
                child.kill()
                raise
            else:
                self._idle.append(child)
            finally:
                self._busy.discard(child)
                self._end_later()
        return outcome

    async def _outcome(
        self,
        child: Child,
        turn: Turn | None,
        asked: dict[str, Any],
        data: bytes,
        seconds: float,
        understood: Callable[[Any, bytes], T],
    ) -> T:
        await child.begun()
        try:
            async with asyncio.timeout(seconds):
                reply = child.ask(asked, data, seconds)
                head, told = await (_unless_wanted_back(turn, reply) if turn else reply)
            if head == LACKS_MEMORY:
                child.kill()  # its memory is fragmented now
                raise TaskFailed("memory", "it has no more")
            return understood(head, told)
        except TimeoutError:
            child.kill()
            raise TaskFailed("slow", f"no reply within {seconds:g} s") from None
        except (OSError, EOFError, ValueError) as error:
            child.kill()
            raise TaskFailed("died", f"{type(error).__name__}: {error}") from None

    def end_idle(self) -> None:
        """End the processes that have nothing to do, and free their memory."""
        for child in self._idle:
            child.kill()
        self._idle.clear()

    async def aclose(self) -> None:
        """Stop all processes."""
        self._closed = True
        if self._ending is not None:
            self._ending.cancel()
        ending = [asyncio.to_thread(each.end) for each in (*self._idle, *self._busy)]
        self._idle.clear()
        await asyncio.gather(*ending)

    def _free(self) -> Child:
        """An idle process that is still alive, or a new one."""
        if self._closed:
            raise Unavailable("Footnote is shutting down; ask again later.")
        while self._idle:
            child = self._idle.pop()
            if child.lives:
                return child
            child.kill()
        return Child(self._command)

    def _end_later(self) -> None:
        if self._idle_seconds is None or self._closed:
            return
        if self._ending is not None:
            self._ending.cancel()
        loop = asyncio.get_running_loop()
        self._ending = loop.call_later(self._idle_seconds, self.end_idle)


class Child:
    """A process and its requests: one thread sends them, another one receives the replies."""

    def __init__(self, command: Sequence[str]) -> None:
        """Raises ``Unavailable`` if the process cannot be started."""
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and code
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment(),
                start_new_session=True,  # Ctrl-C goes to the parent, which ends its children
            )
        except OSError as error:
            raise _not_started(str(error)) from None
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[tuple[Any, bytes]] = self._loop.create_future()
        self._ready.add_done_callback(_seen)
        self._waiting = {0: self._ready}
        self._numbers = itertools.count(1)
        self._error: EOFError | None = None  # that ended it
        self._telling = ThreadPoolExecutor(1, thread_name_prefix="requests")
        self._hearing = threading.Thread(target=self._hear, name="replies", daemon=True)
        self._hearing.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def lives(self) -> bool:
        return self._process.poll() is None

    async def begun(self) -> None:
        """Wait until the process is ready. Raises ``Unavailable`` if it does not become so."""
        try:
            async with asyncio.timeout(START_SECONDS):
                await asyncio.shield(self._ready)
        except (TimeoutError, EOFError) as error:
            self.kill()
            raise _not_started(repr(error)) from None

    async def ask(self, asked: dict[str, Any], data: bytes, seconds: float) -> tuple[Any, bytes]:
        """Send a request and return its reply. Raises ``EOFError`` if the process has ended."""
        if self._error is not None:
            raise self._error
        number = next(self._numbers)
        reply: asyncio.Future[tuple[Any, bytes]] = self._loop.create_future()
        self._waiting[number] = reply
        self._tell({"number": number, "seconds": seconds, "asked": asked}, data)
        try:
            return await reply
        except asyncio.CancelledError:
            self._tell({"number": number})  # a shared process stops its work
            raise
        finally:
            self._waiting.pop(number, None)

    def kill(self) -> None:
        """Kill the process. Its requests fail."""
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        """Ask the process to exit, kill it after ``END_SECONDS``, and stop both threads. Blocks."""
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_SECONDS)
        self.kill()
        self._hearing.join()
        self._telling.shutdown()

    def _tell(self, head: dict[str, Any], data: bytes = b"") -> None:
        # In a thread: a pipe that is not being read would block the event loop.
        with contextlib.suppress(RuntimeError):  # the process has just ended, and _hear will notice
            self._telling.submit(send, self._pipe(self._process.stdin), head, data)

    def _hear(self) -> None:
        try:
            while True:
                head, data = receive(self._pipe(self._process.stdout), MAX_REPLY)
                self._loop.call_soon_threadsafe(self._heard, head, data)
        except (OSError, EOFError, ValueError, RuntimeError) as error:  # RuntimeError: loop closed
            ended = EOFError(f"{type(error).__name__}: {error}")
        self.kill()
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._ended, ended)
        self._telling.shutdown()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):  # unsent data cannot be flushed
                self._pipe(pipe).close()

    def _heard(self, head: Any, data: bytes) -> None:
        match head:
            case {"number": int(number)}:
                reply = self._waiting.get(number)
                if reply is not None and not reply.done():  # else cancelled
                    reply.set_result((head.get("reply"), data))
            case _:
                self.kill()

    def _ended(self, error: EOFError) -> None:
        self._error = error
        for reply in self._waiting.values():
            if not reply.done():
                reply.set_exception(error)

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
        assert pipe is not None  # noqa: S101 - all are pipes
        return pipe


class _WantedBack(Exception):
    """Others need the turn, after ``worked`` seconds."""

    def __init__(self, worked: float) -> None:
        super().__init__(worked)
        self.worked = worked


async def _unless_wanted_back(turn: Turn, asking: Coroutine[Any, Any, T]) -> T:
    began = asyncio.get_running_loop().time()
    reply = asyncio.ensure_future(asking)
    either: tuple[asyncio.Future[Any], ...] = (reply, turn.wanted_back)
    try:
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    finally:
        if not reply.done():
            reply.cancel()
    if not reply.done():
        raise _WantedBack(asyncio.get_running_loop().time() - began)
    return reply.result()


def _seen(reply: asyncio.Future[Any]) -> None:
    if not reply.cancelled():
        reply.exception()


def _not_started(detail: str) -> Unavailable:
    return Unavailable(
        "The page could not be read because the machine cannot start another process;"
        " try again later.",
        detail=detail,
    )
