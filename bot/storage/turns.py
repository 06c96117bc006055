"""Turns at the one writer of a database: in order, but the urgent before the patient."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

URGENT_AT_ONCE = 4  # turns that the urgent have before one of the patient


class Turns:
    """A lock with two queues. Belongs to one event loop."""

    def __init__(self) -> None:
        self._held = False
        self._in_a_row = 0  # urgent turns while somebody patient waits
        self._urgent: deque[asyncio.Future[None]] = deque()
        self._patient: deque[asyncio.Future[None]] = deque()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Held while the block runs; waits behind all who came before, and all urgent ones."""
        async with self._turn(self._patient):
            yield

    @asynccontextmanager
    async def urgent_turn(self) -> AsyncIterator[None]:
        """Held while the block runs; waits only behind urgent ones who came before."""
        async with self._turn(self._urgent):
            yield

    @asynccontextmanager
    async def _turn(self, queue: deque[asyncio.Future[None]]) -> AsyncIterator[None]:
        await self._take(queue)
        try:
            yield
        finally:
            self._pass_on()

    async def _take(self, queue: deque[asyncio.Future[None]]) -> None:
        if not self._held:
            self._held = True
            return
        mine = asyncio.get_running_loop().create_future()
        queue.append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if not mine.cancelled():
                self._pass_on()  # it was given just now; somebody else may have it
            raise  # else it is passed over when its turn comes

    def _pass_on(self) -> None:
        queues = [self._urgent, self._patient]
        if self._in_a_row >= URGENT_AT_ONCE:
            queues.reverse()
        for queue in queues:
            while queue:
                following = queue.popleft()
                if not following.done():
                    urgent = queue is self._urgent and bool(self._patient)
                    self._in_a_row = self._in_a_row + 1 if urgent else 0
                    following.set_result(None)
                    return
        self._held = False


class NoTurns(Turns):
    """For a database that many may write to at the same time."""

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        yield

    @asynccontextmanager
    async def urgent_turn(self) -> AsyncIterator[None]:
        yield
