"""Turns at a scarce resource, shared fairly among runs.

Waiting requests are served run by run, not first come, first served: twelve slow links in one
question delay only their own run. A run may take all turns while no other run wants one. If a run
without a turn has then waited for ``PATIENCE``, the run with the most turns gives its latest one
back, and the work done in it is restarted later; after that, the last turn stays reserved for other
runs for a while.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

PATIENCE = 0.5  # seconds; nearly all pages are read in 0.2 s
KEPT_FREE = 3.0  # seconds since a run without a turn last needed one

reading_for: ContextVar[str] = ContextVar("reading_for", default="")
"""The id of the run that pages are read for; "" outside of runs. Tasks inherit it."""


class Turn:
    """One turn of ``run``. ``wanted_back`` completes when another run needs the turn."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.wanted_back: asyncio.Future[None] = asyncio.get_running_loop().create_future()


class Turns:
    """At most ``size`` concurrent turns. Belongs to one event loop.

    ``can_be_wanted_back``: the code that holds a turn watches ``Turn.wanted_back``.
    """

    def __init__(self, size: int, *, can_be_wanted_back: bool = False) -> None:
        self._free = size
        self._can_be_wanted_back = can_be_wanted_back
        self._held: list[Turn] = []  # in the order they began
        self._waiting: OrderedDict[str, deque[asyncio.Future[Turn]]] = OrderedDict()
        self._kept_until = 0.0  # event loop time; until then, the last turn is for runs without one
        self._later: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Turn]:
        """Hold a turn for the run in ``reading_for`` until the block ends."""
        turn = await self._begun(reading_for.get())
        try:
            yield turn
        finally:
            self._end(turn)

    async def _begun(self, run: str) -> Turn:
        if self._free and not self._waiting and self._is_open_to(run):
            return self._begin(run)
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[Turn] = loop.create_future()
        self._waiting.setdefault(run, deque()).append(waiter)
        patience = loop.call_later(PATIENCE, self._want_back_for, run)
        self._serve()
        try:
            return await waiter
        except asyncio.CancelledError:
            if not waiter.cancelled():  # the turn was granted at the same moment
                self._end(waiter.result())
            raise
        finally:
            patience.cancel()

    def _begin(self, run: str) -> Turn:
        now = asyncio.get_running_loop().time()
        if self._free == 1 and now < self._kept_until:
            self._kept_until = now + KEPT_FREE
        self._free -= 1
        turn = Turn(run)
        self._held.append(turn)
        return turn

    def _end(self, turn: Turn) -> None:
        self._held.remove(turn)
        self._free += 1
        turn.wanted_back.cancel()
        if turn.run in self._waiting:
            self._waiting.move_to_end(turn.run)
        self._serve()

    def _is_open_to(self, run: str) -> bool:
        """True if this run may have a free turn."""
        is_kept = asyncio.get_running_loop().time() < self._kept_until
        return self._free > 1 or not is_kept or not self._has_turn(run)

    def _has_turn(self, run: str) -> bool:
        return any(turn.run == run for turn in self._held)

    def _serve(self) -> None:
        """Grant free turns: to the waiting runs with the fewest turns first, among these to the one
        whose last turn ended longest ago.
        """
        while self._free and self._waiting:
            held = Counter(turn.run for turn in self._held)
            run = min(self._waiting, key=lambda each: held[each])
            if not self._is_open_to(run):
                if self._later is not None:
                    self._later.cancel()
                self._later = asyncio.get_running_loop().call_at(self._kept_until, self._serve)
                return
            waiters = self._waiting[run]
            waiter = waiters.popleft()
            if not waiters:
                del self._waiting[run]
            if not waiter.done():  # else it was cancelled
                waiter.set_result(self._begin(run))

    def _want_back_for(self, run: str) -> None:
        """Ask a run with several turns to give one back, if this run still has none."""
        if not self._can_be_wanted_back or self._has_turn(run):
            return
        kept = [turn for turn in self._held if not turn.wanted_back.done()]
        without = self._waiting.keys() - {turn.run for turn in self._held}
        if not kept or len(self._held) - len(kept) >= len(without):
            return  # enough turns are being given back already
        greedy, most = Counter(turn.run for turn in kept).most_common(1)[0]
        if most > 1:
            latest = [turn for turn in kept if turn.run == greedy][-1]
            latest.wanted_back.set_result(None)
            self._kept_until = asyncio.get_running_loop().time() + KEPT_FREE
