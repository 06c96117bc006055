"""Dispatchers decide where and when a run executes: their protocol and choice, and the local one.

The local dispatcher runs one asyncio task per busy thread, with a limit on all of them. Leases show
other processes on the same database which runs are in progress. Runs of a dead process are found by
the next sweep; see ``attempts``.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Literal, Protocol

from bot.core.errors import InvalidSetting
from bot.core.logs import get_logger
from bot.core.messages import Thread
from bot.core.settings import Settings
from bot.service.background import Rounds
from bot.service.dispatch.attempts import (
    LONGEST_OF_WORKER,
    Attempts,
    Condition,
    Executor,
    Job,
    Pace,
    Timing,
)
from bot.storage.store import Store


class Dispatcher(Protocol):
    """One run at a time per thread, in the order accepted; threads in parallel, bounded.

    The run's database row decides: submitting a run that has ended does nothing. ``owner`` is the
    process for which a run is reserved when it is accepted or restarted; None if any may take it.
    """

    @property
    def owner(self) -> str | None: ...

    async def submit(self, run_id: str, thread: Thread) -> None:
        """Queue a run behind its thread's earlier ones; returns at once."""
        ...

    async def restart(self, run_id: str, thread: Thread) -> None:
        """Process a run again that was reset in the store (its question was edited or deleted).
        Work on its earlier attempt ends, here or elsewhere. Returns at once."""
        ...

    async def request_stop(self, run_id: str) -> None:
        """Ask a run to stop; returns when the request is stored, not when the run has ended."""
        ...

    async def stop(self, run_id: str) -> None:
        """Stop a run, queued or in progress; returns when its work has ended."""
        ...

    async def wait(self, run_id: str) -> None:
        """Return when a submitted run has ended, or is not for this dispatcher."""
        ...

    async def resume(self) -> list[str]:
        """Submit the unclaimed runs, oldest first; returns their ids."""
        ...

    async def condition(self) -> Condition:
        """Return the current state, for health checks and metrics. Raises
        ``StorageUnavailable``."""
        ...

    async def drain(self, seconds: float) -> None:
        """Start no more runs, give those in progress ``seconds``, and release the rest for
        others."""
        ...


log = get_logger()


class LocalDispatcher:
    """See the module docstring. Use as an async context manager, which drains on exit.

    With ``sweep_seconds``, unfinished runs of ``platforms``, of this process or a dead one, are
    resumed at this interval; one that keeps failing is tried less and less often.
    """

    def __init__(
        self,
        store: Store,
        executor: Executor,
        concurrency: int,
        *,
        platforms: Collection[str] | None = None,
        drain_seconds: float = 0.0,
        sweep_seconds: float | None = None,
        timing: Timing | None = None,
    ) -> None:
        self._store = store
        self._platforms = platforms
        swept = frozenset(platforms or ()) if sweep_seconds is not None else frozenset()
        self._attempts = Attempts(store, executor, swept, timing or Timing())
        self._places = asyncio.Semaphore(concurrency)
        self._pace = Pace()
        self._drain_seconds = drain_seconds
        self._sweep_seconds = sweep_seconds
        self._queues: dict[str, deque[Job]] = {}  # thread key → jobs, the first in progress
        self._workers: dict[str, asyncio.Task[None]] = {}
        self._pacing: asyncio.Task[None] | None = None
        self._sweeping: Rounds | None = None
        self._draining = False

    @property
    def owner(self) -> str:
        return self._attempts.owner

    async def __aenter__(self) -> LocalDispatcher:
        self._pacing = asyncio.create_task(self._pace.keep())
        self._attempts.keep()
        if self._sweep_seconds is not None:
            self._sweeping = Rounds("finding runs that were left", self._sweep_seconds, self.resume)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.drain(self._drain_seconds)

    async def submit(self, run_id: str, thread: Thread) -> None:
        if run_id in self._attempts.jobs:
            return
        job = self._attempts.jobs[run_id] = Job(run_id)
        queue = self._queues.setdefault(thread.key, deque())
        queue.append(job)
        if thread.key not in self._workers:
            self._workers[thread.key] = asyncio.create_task(self._work(thread.key, queue))

    async def restart(self, run_id: str, thread: Thread) -> None:
        await self._attempts.look_now(run_id)
        await self.submit(run_id, thread)

    async def resume(self) -> list[str]:
        left = [
            run
            for run in await self._store.unfinished(datetime.now(UTC), self._platforms)
            if self._attempts.may_try(run.id)
        ]
        for run in left:
            await self.submit(run.id, run.message.thread)
        return [run.id for run in left]

    async def request_stop(self, run_id: str) -> None:
        await self._attempts.request_stop(run_id)

    async def stop(self, run_id: str) -> None:
        job = self._attempts.jobs.get(run_id)
        await self.request_stop(run_id)
        if job is not None:
            await job.ended.wait()

    async def wait(self, run_id: str) -> None:
        """Return when a submitted run has ended here.

        Raises the error that left it unfinished: ``StorageUnavailable``, or the platform's own
        error if its answer could not be posted.
        """
        job = self._attempts.jobs.get(run_id)
        if job is not None:
            await job.ended.wait()
            if job.error is not None:
                raise job.error

    async def condition(self) -> Condition:
        return Condition(self._attempts.working)

    async def drain(self, seconds: float) -> None:
        self._draining = True
        if self._workers:
            await asyncio.wait(self._workers.values(), timeout=seconds)
        if self._sweeping is not None:
            await self._sweeping.aclose()
        tasks = [*self._workers.values()]
        if self._pacing is not None:
            tasks.append(self._pacing)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._attempts.aclose()

    # ------------------------------------------------------------ working

    async def _work(self, thread_key: str, queue: deque[Job]) -> None:
        try:
            while queue:
                async with self._places:
                    await self._pace.begin()
                    try:
                        if self._draining:
                            break
                        await self._execute(queue[0])
                    finally:
                        self._pace.end()
                queue.popleft()
        finally:
            # When draining, release the callers that wait for the remaining jobs.
            for job in queue:
                job.ended.set()
            del self._queues[thread_key]
            del self._workers[thread_key]

    async def _execute(self, job: Job) -> None:
        if job.begun:  # it is ended out of turn
            return
        try:
            await self._attempts.work(job)
        except Exception as error:  # noqa: BLE001  (the caller gets it)
            # The run stays unfinished and is resumed, for example when the storage works again.
            log.debug("thread goes on", run=job.run_id, error=repr(error))


CONCURRENCY = 256  # runs at once in one process
DRAIN_SECONDS = 10.0  # that runs in progress get when a process ends
SWEEP_SECONDS = 5.0  # between searches for runs that were left unfinished

# The runs that a process works on. alone: those submitted to it; serve: also those left unfinished
# by others; work: those that others accept; listen: none, workers do them.
Role = Literal["alone", "serve", "work", "listen"]


def is_queued(settings: Settings) -> bool:
    """Return True if runs go through PostgreSQL's queue."""
    return settings.database.startswith("postgresql")


def need_queue(settings: Settings, command: str) -> None:
    """Raise an ``InvalidSetting`` that says what ``command`` needs, unless runs are queued."""
    if not is_queued(settings):
        raise InvalidSetting(
            f"`{command}` needs PostgreSQL: set FOOTNOTE_DATABASE_URL to "
            "postgresql+psycopg://user:password@host/footnote, for every process."
        )


@asynccontextmanager
async def open_dispatcher(
    settings: Settings,
    store: Store,
    executor: Executor,
    platforms: Collection[str],
    role: Role,
    concurrency: int = CONCURRENCY,
) -> AsyncIterator[Dispatcher]:
    """Open the dispatcher for runs of ``platforms``, ``concurrency`` at once; on exit it drains.

    Raises ``InvalidSetting`` and ``StorageUnavailable``.
    """
    if role == "alone" or not is_queued(settings):
        async with LocalDispatcher(
            store,
            executor,
            concurrency,
            platforms=platforms,
            drain_seconds=0.0 if role == "alone" else DRAIN_SECONDS,
            sweep_seconds=None if role == "alone" else SWEEP_SECONDS,
        ) as local:
            yield local
        return
    from bot.service.dispatch.procrastinate_dispatcher import PostgresDispatcher

    async with PostgresDispatcher(
        settings.database,
        store,
        executor,
        0 if role == "listen" else concurrency,
        platforms=platforms,
        drain_seconds=DRAIN_SECONDS,
        sweep_seconds=SWEEP_SECONDS,
        pace=Pace(LONGEST_OF_WORKER) if role == "work" else None,
    ) as queue:
        yield queue
