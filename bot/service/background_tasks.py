"""Background tasks of an event, such as a notice to the asker: acknowledging the event does not
wait for them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from bot.core.errors import FootnoteError
from bot.core.logs import get_logger

log = get_logger()


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
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _done(self, work: Coroutine[Any, Any, object]) -> None:
        try:
            await work
        except FootnoteError as error:
            log.warning("background task failed", of=self._of, error=str(error))
        except Exception as error:
            log.error("background task broke", of=self._of, error=repr(error))
            log.debug("background task broke here", of=self._of, exc_info=True)
