"""Something that is done every so many seconds, beside the work, for as long as there is any."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from bot.errors import StorageUnavailable
from bot.logs import get_logger

LAST_SECONDS = 5.0  # that a round which has begun gets at the end

log = get_logger()


class Rounds:
    """Begins when made. A round that fails is told of, and followed by the next one all the same.

    ``aclose`` lets a round that has begun come to its end: broken off in the middle it would leave
    its database connection open.
    """

    def __init__(self, what: str, seconds: float, do: Callable[[], Awaitable[object]]) -> None:
        self._what = what
        self._seconds = seconds
        self._do = do
        self._ending = asyncio.Event()
        self._task = asyncio.create_task(self._go())

    async def aclose(self) -> None:
        self._ending.set()
        await asyncio.wait({self._task}, timeout=LAST_SECONDS)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _go(self) -> None:
        while not await self._ends():
            try:
                await self._do()
            except StorageUnavailable as error:
                log.debug("not done", what=self._what, error=str(error))  # ``Outages`` told of it
            except Exception as error:
                log.error("broke", what=self._what, error=repr(error))
                log.debug("broke here", what=self._what, exc_info=True)

    async def _ends(self) -> bool:
        """Wait for the next round; True when there is none."""
        try:
            async with asyncio.timeout(self._seconds):
                return await self._ending.wait()
        except TimeoutError:
            return False
