"""Single flight: simultaneous equal requests share one task, as long as any caller waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class InFlight(Generic[T]):
    """The running tasks by key. Belongs to one event loop."""

    def __init__(self) -> None:
        self._flights: dict[Hashable, _Flight[T]] = {}

    async def join(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of the task that is running for ``key``, or of ``work``, started now.

        Raises the errors of the work. A cancelled caller leaves the task to the other callers; when
        the last one is cancelled, so is the task.
        """
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.create_task(work()))
            flight.task.add_done_callback(lambda task: self._landed(key, task))
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done():
                flight.task.cancel()
                self._flights.pop(key, None)

    async def aclose(self) -> None:
        """Cancel all running tasks and wait until they have ended."""
        tasks = [flight.task for flight in self._flights.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _landed(self, key: Hashable, task: asyncio.Task[T]) -> None:
        flight = self._flights.get(key)
        if flight is not None and flight.task is task:
            del self._flights[key]
        if not task.cancelled():
            task.exception()  # mark it as retrieved, in case every caller was cancelled


@dataclass(slots=True)
class _Flight(Generic[T]):
    task: asyncio.Task[T]
    waiting: int = 0
