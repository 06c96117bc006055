"""Pacing of a dispatcher: how fast runs begin, and periodic background work."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from bot.core.errors import StorageUnavailable
from bot.core.logs import get_logger

TICK_SECONDS = 0.02
LATE_SECONDS = 0.02  # a timer later than this means that the loop is busy
LONGEST_SECONDS = 1.0  # between two runs' beginnings, however late the timers are
# The same for workers, where no platform waits for an acknowledgement: one processor can handle
# about four runs a second, and on a machine busy with other work every timer is late.
LONGEST_OF_WORKER = 0.25
MOST_AT_ONCE = 32  # runs that may begin within a tick of an idle loop


class Pace:
    """Limits how fast runs begin: call ``begin`` before a run's work and ``end`` after it. Belongs
    to one event loop. After ``longest`` seconds another run may begin, however late the timers are.
    """

    def __init__(self, longest: float = LONGEST_SECONDS) -> None:
        self._longest = longest
        self._working = 0
        self._left = MOST_AT_ONCE
        self._burst = MOST_AT_ONCE
        self._tick = asyncio.Event()
        self._last = 0.0  # when a run last began

    async def ready(self) -> None:
        """Wait until a run may begin; the first one always may."""
        while self._working and self._left <= 0:
            await self._tick.wait()

    async def begin(self) -> None:
        """Wait until a run may begin, and count it."""
        await self.ready()
        self._left -= 1
        self._working += 1
        self._last = asyncio.get_running_loop().time()

    def end(self) -> None:
        """Count the end of a run; if none is left, the next may begin."""
        self._working -= 1
        if not self._working:
            self._wake()

    async def keep(self) -> None:
        """Measure how busy the loop is, until cancelled."""
        clock = asyncio.get_running_loop().time
        while True:
            asked = clock()
            await asyncio.sleep(TICK_SECONDS)
            late = clock() - asked - TICK_SECONDS > LATE_SECONDS
            self._burst = 1 if late else min(self._burst * 2, MOST_AT_ONCE)
            waited = clock() - self._last > self._longest
            self._left = int(waited) if late else self._burst
            self._wake()

    def _wake(self) -> None:
        self._tick.set()
        self._tick = asyncio.Event()


LAST_SECONDS = 5.0  # for a round in progress to finish when closing

log = get_logger()


class Rounds:
    """Repeats a function, starting on construction: first after ``first`` seconds (default:
    ``seconds``), then every ``seconds``. A failed round is logged, and the next one still runs.
    ``aclose`` lets a round in progress finish, since cancelling it would leave its database
    connection open.
    """

    def __init__(
        self,
        what: str,
        seconds: float,
        do: Callable[[], Awaitable[object]],
        first: float | None = None,
    ) -> None:
        self._what = what
        self._seconds = seconds
        self._first = seconds if first is None else first
        self._do = do
        self._ending = asyncio.Event()
        self._task = asyncio.create_task(self._go())

    async def aclose(self) -> None:
        self._ending.set()
        await asyncio.wait({self._task}, timeout=LAST_SECONDS)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _go(self) -> None:
        seconds = self._first
        while not await self._ends(seconds):
            seconds = self._seconds
            try:
                await self._do()
            except StorageUnavailable as error:
                log.debug("not done", what=self._what, error=str(error))  # ``Outages`` told of it
            except Exception as error:
                log.error("broke", what=self._what, error=repr(error))
                log.debug("broke here", what=self._what, exc_info=True)

    async def _ends(self, seconds: float) -> bool:
        """Wait for the next round; returns True if closing."""
        try:
            async with asyncio.timeout(seconds):
                return await self._ending.wait()
        except TimeoutError:
            return False
