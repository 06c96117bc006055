"""Runs in this process: one asyncio task a thread with work, a bound over all of them.

Leases tell other processes on the same database which runs are being worked on. They are renewed
while runs are working, and a process that dies leaves its runs to whoever starts next.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol

import structlog

from bot.dispatch.pace import Pace
from bot.errors import StorageUnavailable, Unavailable
from bot.messages import Thread
from bot.storage.owner import new_owner
from bot.storage.store import RunRecord, Store

LEASE = timedelta(seconds=30)
RENEW_SECONDS = 10.0
FIRST_RETRY_SECONDS, LAST_RETRY_SECONDS = 2.0, 300.0  # between attempts at a run that fails
STOP_POLL_SECONDS = 0.5  # how soon a stop asked for by another process is seen

log = structlog.get_logger(__name__)


class Executor(Protocol):
    """What the dispatcher runs: ``service.ResearchService``."""

    async def answer(self, run: RunRecord, stop: asyncio.Event) -> None:
        """Work the run to its end, or to a stopped answer once ``stop`` is set."""
        ...


@dataclass(slots=True, eq=False)
class _Job:
    """``superseded``: the run began anew while it was being worked on."""

    run_id: str
    superseded: bool = False
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    error: Exception | None = None


class LocalDispatcher:
    """See the module docstring. Use as an async context manager: leaving it drains.

    With ``sweep_seconds`` runs that are left unfinished, here or by a process that is gone, are
    resumed so often; one that keeps failing is tried ever more seldom.
    """

    def __init__(
        self,
        store: Store,
        executor: Executor,
        concurrency: int,
        *,
        drain_seconds: float = 0.0,
        sweep_seconds: float | None = None,
    ) -> None:
        self.owner = new_owner()
        self._store = store
        self._executor = executor
        self._places = asyncio.Semaphore(concurrency)
        self._pace = Pace()
        self._drain_seconds = drain_seconds
        self._sweep_seconds = sweep_seconds
        self._failures: dict[str, tuple[int, float]] = {}  # run → how often, not before when
        self._queues: dict[str, deque[_Job]] = {}  # thread key → jobs, the first one working
        self._jobs: dict[str, _Job] = {}
        self._workers: dict[str, asyncio.Task[None]] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._keepers: list[asyncio.Task[None]] = []
        self._draining = False

    async def __aenter__(self) -> LocalDispatcher:
        self._keepers = [
            asyncio.create_task(self._keep_leases()),
            asyncio.create_task(self._pace.keep()),
        ]
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.drain(self._drain_seconds)

    async def submit(self, run_id: str, thread: Thread) -> None:
        if run_id in self._jobs or self._draining:
            return
        job = self._jobs[run_id] = _Job(run_id)
        queue = self._queues.setdefault(thread.key, deque())
        queue.append(job)
        if thread.key not in self._workers:
            self._workers[thread.key] = asyncio.create_task(self._work(thread.key, queue))

    async def restart(self, run_id: str, thread: Thread) -> None:
        """The run begins anew in the store: work on its earlier attempt ends, then it is redone."""
        job = self._jobs.get(run_id)
        if job is None:
            await self.submit(run_id, thread)
        else:
            job.superseded = True
            job.stop.set()

    async def resume(self, platform: str | None = None) -> list[str]:
        """Submit the runs that nobody works on, oldest first; returns their ids."""
        now = asyncio.get_running_loop().time()
        left = [
            run
            for run in await self._store.unfinished(datetime.now(UTC), platform)
            if self._failures.get(run.id, (0, now))[1] <= now
        ]
        for run in left:
            await self.submit(run.id, run.message.thread)
        return [run.id for run in left]

    async def request_stop(self, run_id: str) -> None:
        """Ask a run to stop, here or elsewhere; returns when that is kept, not when it ends."""
        job = self._jobs.get(run_id)
        if job is not None:
            job.stop.set()  # before anything that can fail or take time
            self._overtake(job)
        try:
            await self._store.request_stop(run_id)
        except StorageUnavailable as error:
            log.info("stop not kept", run=run_id, error=str(error))

    async def stop(self, run_id: str) -> None:
        job = self._jobs.get(run_id)
        await self.request_stop(run_id)
        if job is not None:
            await job.ended.wait()

    async def wait(self, run_id: str) -> None:
        """Return when a submitted run has ended here.

        Raises what made it end unfinished: ``StorageUnavailable``, or the platform's own error
        when its answer could not be posted.
        """
        job = self._jobs.get(run_id)
        if job is not None:
            await job.ended.wait()
            if job.error is not None:
                raise job.error

    async def drain(self, seconds: float = 0.0) -> None:
        """Start nothing more, give working runs ``seconds``, release the rest for others."""
        self._draining = True
        if self._workers and seconds > 0:
            await asyncio.wait(self._workers.values(), timeout=seconds)
        tasks = [*self._workers.values(), *self._ending, *self._keepers]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # ------------------------------------------------------------ working

    async def _work(self, thread_key: str, queue: deque[_Job]) -> None:
        try:
            while queue and not self._draining:
                job = queue[0]
                async with self._places:
                    await self._pace.begin()
                    try:
                        if self._draining:
                            break
                        await self._execute(job)
                    finally:
                        self._pace.end()
                queue.popleft()
        finally:
            # After a cancellation jobs are left over: nobody may wait for them any longer.
            for job in queue:
                self._forget(job)
            del self._queues[thread_key]
            del self._workers[thread_key]

    async def _execute(self, job: _Job) -> None:
        try:
            while True:
                try:
                    await self._attempt(job)
                except Exception as error:
                    if not job.superseded:  # what went wrong then, went wrong for nobody
                        raise
                    log.info("run interrupted by an edit", run=job.run_id, error=repr(error))
                if not job.superseded:
                    self._failures.pop(job.run_id, None)
                    return
        except Exception as error:  # noqa: BLE001  (whoever waits gets it)
            # The run stays unfinished, to be resumed: when the storage works again, say.
            job.error = error
            self._remember_failure(job.run_id, error)
            log.info("run interrupted", run=job.run_id, error=repr(error))
        finally:
            self._forget(job)

    async def _attempt(self, job: _Job) -> None:
        """One attempt at a run, if it is for us to do. ``job.superseded`` asks for another."""
        job_was_superseded, job.superseded = job.superseded, False
        run = await self._claim(job)
        if run is None:
            return
        if job.superseded or job_was_superseded:
            # Before it was claimed: this is the new beginning already.
            job.superseded = False
            job.stop.clear()
        if run.stop_requested:
            job.stop.set()
        try:
            await self._executor.answer(run, job.stop)
        except BaseException:
            await asyncio.shield(self._store.release(run.id, run.attempt))
            raise

    def _remember_failure(self, run_id: str, error: Exception) -> None:
        times = self._failures.get(run_id, (0, 0.0))[0] + 1
        wait = min(FIRST_RETRY_SECONDS * 2 ** (times - 1), LAST_RETRY_SECONDS)
        if isinstance(error, Unavailable) and error.retry_after is not None:
            wait = max(wait, error.retry_after)
        self._failures[run_id] = (times, asyncio.get_running_loop().time() + wait)

    async def _claim(self, job: _Job) -> RunRecord | None:
        """The run, once it is this one's turn in its thread; None if it is not for us to do.

        An earlier run of the thread that another process works on is waited for; one that its
        process left behind is done first.
        """
        while True:
            now = datetime.now(UTC)
            run = await self._store.claim(job.run_id, self.owner, now, LEASE)
            if run is not None:
                return run
            earlier = await self._store.earlier_unfinished(job.run_id)
            if earlier is None:
                return None
            if earlier not in self._jobs and await self._is_left(earlier):
                first = self._jobs[earlier] = _Job(earlier)
                await self._execute(first)
                if first.error is not None:
                    raise first.error  # the thread cannot go on before it
            else:
                await asyncio.sleep(STOP_POLL_SECONDS)

    async def _is_left(self, run_id: str) -> bool:
        return run_id in [run.id for run in await self._store.unfinished(datetime.now(UTC))]

    def _overtake(self, job: _Job) -> None:
        """End a stopped job that still waits in its queue at once, not when its turn comes."""
        for queue in self._queues.values():
            if job in queue and queue[0] is not job:
                queue.remove(job)
                task = asyncio.create_task(self._end_stopped(job))
                self._ending.add(task)
                task.add_done_callback(self._ending.discard)

    async def _end_stopped(self, job: _Job) -> None:
        try:
            await self._store.request_stop(job.run_id)  # lets it be claimed out of turn
        except StorageUnavailable as error:
            job.error = error
            self._forget(job)
        else:
            await self._execute(job)

    def _forget(self, job: _Job) -> None:
        self._jobs.pop(job.run_id, None)
        job.ended.set()

    # ------------------------------------------------------------ leases and stops

    async def _keep_leases(self) -> None:
        clock = asyncio.get_running_loop().time
        renewed = swept = clock()
        while True:
            await asyncio.sleep(STOP_POLL_SECONDS)
            try:
                if self._jobs:
                    for run_id in await self._store.stops_requested(self.owner):
                        if run_id in self._jobs:
                            self._jobs[run_id].stop.set()
                if self._jobs and clock() - renewed >= RENEW_SECONDS:
                    await self._store.renew(self.owner, datetime.now(UTC) + LEASE)
                    renewed = clock()
                if self._sweep_seconds is not None and clock() - swept >= self._sweep_seconds:
                    await self.resume()
                    swept = clock()
            except StorageUnavailable as error:
                log.warning("leases not renewed", error=str(error))
