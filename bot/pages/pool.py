"""A pool of child processes for one named task, and fair turns at them.

Why processes: reading documents is Python and C code that holds the GIL for up to seconds, during
which no other run could continue; and work that was built to be slow can only be stopped by ending
the process that does it. Why not ``concurrent.futures``: its pool cannot end one worker without
breaking, and its workers survive a parent that is killed. Replies are JSON, not pickles, because a
child handles hostile input. ``bot.pages.processes`` is the other side.

Waiting requests are served person by person and run by run, not first come, first served: twelve
slow links in one question delay only their own run, and ten slow files of one person only that
person. A run may take all turns while no other run wants one. If one without a turn has waited for
``PATIENCE``, a turn is given back, and the work done in it is restarted later:

- the latest of the person with several turns, or of that person's run with several;
- if everybody has a single turn, the one held longest, once it was held for as long as the waiting
  one leaves it undisturbed: ``UNDISTURBED``, and twice as long each time that it was interrupted
  itself. So one who has just come waits briefly, and two with slow work do not stop each other for
  ever.

After that, the last turn stays reserved for others for a while.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import subprocess
import sys
import threading
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import IO, Any, Literal, NamedTuple, TypeVar

from bot.core.errors import Unavailable
from bot.core.measurements import Load
from bot.pages.processes import LACKS_MEMORY, MAX_REPLY, environment, receive, send

# ---------------------------------------------------------------- turns


PATIENCE = 0.5  # seconds; nearly all pages are read in 0.2 s
KEPT_FREE = 3.0  # seconds since a run without a turn last needed one
UNDISTURBED = 1.0  # seconds that a turn is held before it is wanted back for another person


class For(NamedTuple):
    """The person and the run that pages are read for; "" outside of runs."""

    person: str = ""
    run: str = ""


reading_for: ContextVar[For] = ContextVar("reading_for", default=For())  # noqa: B039 - immutable
"""Tasks inherit it."""


class Turn:
    """One turn of ``owner``. ``wanted_back`` completes when somebody else needs the turn."""

    def __init__(self, owner: For) -> None:
        loop = asyncio.get_running_loop()
        self.owner = owner
        self.began = loop.time()
        self.wanted_back: asyncio.Future[None] = loop.create_future()


class _Waiter:
    """A request for a turn; ``seconds`` for which it leaves another person's turn undisturbed."""

    def __init__(self, owner: For, seconds: float) -> None:
        self.owner = owner
        self.seconds = seconds
        self.turn: asyncio.Future[Turn] = asyncio.get_running_loop().create_future()
        self.patience: asyncio.TimerHandle | None = None


class Turns:
    """At most ``size`` concurrent turns. Belongs to one event loop.

    ``can_be_wanted_back``: the code that holds a turn watches ``Turn.wanted_back``.
    """

    def __init__(self, size: int, *, can_be_wanted_back: bool = False) -> None:
        self._size = self._free = size
        self._can_be_wanted_back = can_be_wanted_back
        self._held: list[Turn] = []  # in the order they began
        self._waiting: OrderedDict[For, deque[_Waiter]] = OrderedDict()
        self._kept_until = 0.0  # event loop time; until then, the last turn is for those without
        self._is_kept_for_people = False  # ... for people without a turn, not only for runs
        self._later: asyncio.TimerHandle | None = None

    @property
    def load(self) -> Load:
        return Load(self._size, len(self._held), sum(map(len, self._waiting.values())))

    @asynccontextmanager
    async def turn(self, seconds: float = UNDISTURBED) -> AsyncIterator[Turn]:
        """Hold a turn for the one in ``reading_for`` until the block ends. ``seconds`` are those
        for which it leaves others undisturbed, if everybody has a single turn."""
        turn = await self._begun(reading_for.get(), seconds)
        try:
            yield turn
        finally:
            self._end(turn)

    async def _begun(self, owner: For, seconds: float) -> Turn:
        if self._free and not self._waiting and self._is_open_to(owner):
            return self._begin(owner)
        waiter = _Waiter(owner, seconds)
        self._waiting.setdefault(owner, deque()).append(waiter)
        self._want_back_later(waiter, PATIENCE)
        self._serve()
        try:
            return await waiter.turn
        except asyncio.CancelledError:
            if not waiter.turn.cancelled():  # the turn was granted at the same moment
                self._end(waiter.turn.result())
            else:
                self._leave(waiter)
            raise
        finally:
            if waiter.patience is not None:
                waiter.patience.cancel()

    def _begin(self, owner: For) -> Turn:
        now = asyncio.get_running_loop().time()
        if self._free == 1 and now < self._kept_until:
            self._kept_until = now + KEPT_FREE
        self._free -= 1
        turn = Turn(owner)
        self._held.append(turn)
        return turn

    def _end(self, turn: Turn) -> None:
        self._held.remove(turn)
        self._free += 1
        turn.wanted_back.cancel()
        for owner in [each for each in self._waiting if each.person == turn.owner.person]:
            self._waiting.move_to_end(owner)
        if turn.owner in self._waiting:
            self._waiting.move_to_end(turn.owner)
        self._serve()

    def _leave(self, waiter: _Waiter) -> None:
        waiters = self._waiting.get(waiter.owner)
        if waiters is not None and waiter in waiters:
            waiters.remove(waiter)
            if not waiters:
                del self._waiting[waiter.owner]

    def _is_open_to(self, owner: For) -> bool:
        if self._free > 1 or asyncio.get_running_loop().time() >= self._kept_until:
            return True
        return not self._has_turn(owner.person if self._is_kept_for_people else owner)

    def _has_turn(self, owner: str | For) -> bool:
        return any(owner in (turn.owner, turn.owner.person) for turn in self._held)

    def _serve(self) -> None:
        """Grant free turns: to the people with the fewest turns first, among their runs to those
        with the fewest, among these to the one whose last turn ended longest ago.
        """
        while self._free and self._waiting:
            people = Counter(turn.owner.person for turn in self._held)
            runs = Counter(turn.owner for turn in self._held)
            open_to = filter(self._is_open_to, self._waiting)
            owner = min(open_to, key=lambda each: (people[each.person], runs[each]), default=None)
            if owner is None:
                if self._later is not None:
                    self._later.cancel()
                self._later = asyncio.get_running_loop().call_at(self._kept_until, self._serve)
                return
            waiter = self._waiting[owner][0]
            self._leave(waiter)
            if not waiter.turn.done():  # else it was cancelled
                waiter.turn.set_result(self._begin(owner))

    # ------------------------------------------------------------ giving back

    def _want_back_later(self, waiter: _Waiter, seconds: float) -> None:
        if self._can_be_wanted_back:
            loop = asyncio.get_running_loop()
            waiter.patience = loop.call_later(seconds, self._want_back_for, waiter)

    def _want_back_for(self, waiter: _Waiter) -> None:
        """Ask for a turn to be given back, if the waiter's run still has none."""
        if waiter.turn.done() or self._has_turn(waiter.owner):
            return
        kept = [turn for turn in self._held if not turn.wanted_back.done()]
        without = self._waiting.keys() - {turn.owner for turn in self._held}
        seconds = PATIENCE
        if kept and len(self._held) - len(kept) < len(without):
            if self._has_turn(waiter.owner.person):
                self._want_back_from_run(waiter.owner.person, kept)
            else:
                seconds = self._want_back_from_person(kept, waiter.seconds)
        self._want_back_later(waiter, seconds)

    def _want_back_from_run(self, person: str, kept: list[Turn]) -> None:
        """Ask the person's run with the most turns for its latest one."""
        theirs = [turn for turn in kept if turn.owner.person == person]
        counted = Counter(turn.owner for turn in theirs).most_common(1)
        if counted and counted[0][1] > 1:
            self._want_back([turn for turn in theirs if turn.owner == counted[0][0]][-1])
            self._is_kept_for_people = False

    def _want_back_from_person(self, kept: list[Turn], undisturbed: float) -> float:
        """Ask the person with the most turns for the latest one, or else for the turn that was held
        for long enough; returns the seconds after which to look again."""
        ((person, most),) = Counter(turn.owner.person for turn in kept).most_common(1)
        if most > 1:
            turn = [turn for turn in kept if turn.owner.person == person][-1]
        else:
            turn = kept[0]
            left = turn.began + undisturbed - asyncio.get_running_loop().time()
            if left > 0:
                return left
        self._want_back(turn)
        self._is_kept_for_people = True
        return PATIENCE

    def _want_back(self, turn: Turn) -> None:
        turn.wanted_back.set_result(None)
        self._kept_until = asyncio.get_running_loop().time() + KEPT_FREE


# ---------------------------------------------------------------- processes


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

    Each may allocate ``memory`` bytes. People and runs share them fairly (``bot.pages.pool``). A
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
                        return outcome
                    finally:
                        self._busy.discard(child)
                        self._end_later()
            except _WantedBack as wanted_back:  # start over, queued behind those who wait
                self.interrupted += 1
                seconds -= wanted_back.worked
                undisturbed *= 2
                if seconds <= 0:
                    raise TaskFailed("slow", "others needed its turn") from None

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
        self._closed = True
        if self._ending is not None:
            self._ending.cancel()
        ending = [asyncio.to_thread(each.end) for each in (*self._idle, *self._busy)]
        self._idle.clear()
        await asyncio.gather(*ending)

    def _free(self) -> Child:
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
        self._ready.add_done_callback(lambda reply: reply.cancelled() or reply.exception())
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


def _not_started(detail: str) -> Unavailable:
    return Unavailable(
        "The page could not be read because the machine cannot start another process;"
        " try again later.",
        detail=detail,
    )
