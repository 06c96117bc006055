"""Background work: tasks that the acknowledgement of an event does not wait for, and rounds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine
from typing import Any

from bot.core.errors import FootnoteError, StorageUnavailable
from bot.core.logs import get_logger

log = get_logger()


async def cancelled(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancel tasks, and wait until they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class BackgroundTasks:
    """Tasks that run independently of their caller. Close it with ``aclose``."""

    def __init__(self, of: str) -> None:
        """``of`` names the owner of the tasks in log lines."""
        self._of = of
        self._running: set[asyncio.Task[None]] = set()

    def later(self, work: Coroutine[Any, Any, object]) -> None:
        """Run ``work`` in the background; errors are logged."""
        task = asyncio.create_task(self._done(work))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def aclose(self, patience: float = 0.0) -> None:
        """Wait ``patience`` seconds for the remaining tasks, then cancel them."""
        if self._running and patience > 0:
            await asyncio.wait(self._running, timeout=patience)
        await cancelled(self._running)

    async def _done(self, work: Coroutine[Any, Any, object]) -> None:
        try:
            await work
        except FootnoteError as error:
            log.warning("background task failed", of=self._of, error=str(error))
        except Exception as error:
            log.error("background task broke", of=self._of, error=repr(error))
            log.debug("background task broke here", of=self._of, exc_info=True)


LAST_SECONDS = 5.0  # for a round in progress to finish when closing


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
        await cancelled([self._task])

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
        try:
            async with asyncio.timeout(seconds):
                return await self._ending.wait()
        except TimeoutError:
            return False
