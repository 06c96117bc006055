"""Attempts at runs in this process: claiming them in order, keeping their lease, stopping, losing.

Dispatchers share this module. A claim is a lease on the run's row, renewed during the work. When a
process dies, its lease expires, and the next claim gets the next attempt number; only the latest
attempt can write. A process is not notified that it has lost a run: it must check. ``Pace`` limits
how fast runs begin.
"""

from __future__ import annotations

import asyncio
import contextvars
import math
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol

from cachetools import LRUCache

from bot.core.errors import RunLost, StorageUnavailable, Unavailable
from bot.core.logs import about, get_logger, work_on
from bot.core.posting import holding
from bot.service.background import Rounds
from bot.storage.store import RunRecord, Store, new_owner

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
        self._begun = asyncio.Event()  # set while runs work
        self._last = -math.inf  # when a run last began

    async def ready(self) -> None:
        """Wait until a run may begin; the first one always may."""
        while self._working and self._left <= 0:
            await self._tick.wait()

    async def begin(self) -> None:
        """Wait until a run may begin, and count it."""
        await self.ready()
        self._left -= 1
        self._working += 1
        self._begun.set()
        self._last = asyncio.get_running_loop().time()

    def end(self) -> None:
        """Count the end of a run; if none is left, the next may begin."""
        self._working -= 1
        if not self._working:
            self._begun.clear()
        self._wake()

    async def keep(self) -> None:
        """Measure how busy the loop is while runs work, until cancelled."""
        clock = asyncio.get_running_loop().time
        while True:
            await self._begun.wait()
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


FAILURES_REMEMBERED = 10_000
NO_FAILURE = 0, -math.inf  # how many, and until when the run is left in peace

log = get_logger()


@dataclass(frozen=True, slots=True)
class Timing:
    """Intervals in seconds. ``lease`` is how long a dead process keeps its runs, ``renew`` how
    often a live one renews its leases, ``look`` how often it checks whether another process stopped
    or took over a run. ``first_retry`` and ``last_retry`` are the shortest and longest wait between
    attempts at a failing run."""

    lease: float = 20.0
    renew: float = 5.0
    look: float = 0.5
    first_retry: float = 2.0
    last_retry: float = 300.0

    def pause(self, failures: int, error: Exception) -> float:
        """Return the seconds to wait after so many failures; more if a peer asks for it."""
        wait = min(self.first_retry * 2.0 ** min(failures - 1, 20), self.last_retry)
        if isinstance(error, Unavailable) and error.retry_after is not None:
            return max(wait, error.retry_after)
        return wait


@dataclass(frozen=True, slots=True)
class Condition:
    """The state of a dispatcher. ``working`` is the number of runs in progress in this process,
    ``trouble`` the reason why it takes none although it should ("" if it works), ``advice`` a
    recommendation to the operator, ``workers`` the number of processes that take runs from the
    queue; None without a queue.
    """

    working: int
    workers: int | None = None
    trouble: str = ""
    advice: str = ""


class Executor(Protocol):
    """The work that dispatchers run: ``service.ResearchService``."""

    async def answer(self, run: RunRecord, stop: asyncio.Event) -> None:
        """Process the run to its end, or to a stopped answer once ``stop`` is set."""
        ...


@dataclass(slots=True, eq=False)
class Job:
    """A run assigned to this process; ``begun`` once work has started. ``attempt`` is set while
    this process holds the claim, which is certain until ``sure_until``.
    """

    run_id: str
    begun: bool = False
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    error: Exception | None = None
    attempt: int | None = None
    sure_until: float = 0.0
    lost: bool = False
    work: asyncio.Task[None] | None = None

    def lose(self) -> None:
        assert self.work is not None  # noqa: S101  (it has an attempt)
        self.lost = True
        self.work.cancel()


class Attempts:
    """See the module docstring. Stopped runs of ``platforms`` are ended here even without a local
    job, so that runs waiting elsewhere for their turn stop at once."""

    def __init__(
        self, store: Store, executor: Executor, platforms: frozenset[str], timing: Timing
    ) -> None:
        self.owner = new_owner()
        self.jobs: dict[str, Job] = {}
        self._store = store
        self._executor = executor
        self._platforms = platforms
        self._timing = timing
        self._lease = timedelta(seconds=timing.lease)
        self._renewed = _clock()
        self._failures: LRUCache[str, tuple[int, float]] = LRUCache(FAILURES_REMEMBERED)
        self._unreleased: set[tuple[str, int]] = set()  # runs, attempts that ended without it
        self._apart: set[asyncio.Task[None]] = set()  # work on runs that no dispatcher began
        self._rounds: Rounds | None = None

    @property
    def working(self) -> int:
        return len(self._at_work())

    def _at_work(self) -> dict[Job, int]:
        """Return the jobs whose run is claimed here, each with its attempt."""
        return {job: job.attempt for job in self.jobs.values() if job.attempt is not None}

    # ------------------------------------------------------------ working

    async def work(self, job: Job) -> None:
        """Process a run until it has ended or another attempt has it. Raises the error that leaves
        it unfinished.

        ``job.ended`` is always set; a failed run is released.
        """
        job.begun = True
        try:
            while (run := await self._claim(job)) and not await self._attempt(job, run):
                job.stop.clear()  # the stop was for the attempt that was lost
            self._failures.pop(job.run_id, None)
        except Exception as error:
            job.error = error
            self._failures[job.run_id] = self._next_failure(job.run_id, error)
            log.info("run interrupted", run=job.run_id, error=repr(error))
            raise
        finally:
            self.jobs.pop(job.run_id, None)
            job.ended.set()

    async def _claim(self, job: Job) -> RunRecord | None:
        """Claim the run when it is next in its thread; returns None if it is not for this process.
        Waits for an earlier run of the thread that is in progress; begins an unclaimed one first,
        and raises its error. A run that is stopped meanwhile no longer waits.
        """
        ahead: Job | None = None  # what was begun here
        while True:
            asked = _clock()
            run = await self._store.claim(job.run_id, self.owner, datetime.now(UTC), self._lease)
            if run is not None:
                job.sure_until = asked + self._timing.lease
                return run
            if ahead is not None and ahead.error is not None:
                raise ahead.error
            earlier = await self._store.earlier_unfinished(job.run_id)
            if earlier is None:
                if await self._is_left(job.run_id):
                    continue  # the earlier run has just ended
                return None
            first = self.jobs.get(earlier)
            if first is None and await self._is_left(earlier):
                first = self.jobs[earlier] = Job(earlier)
            if first is not None and not first.begun:
                ahead = first
                self._begin(ahead)
            ended = asyncio.Event() if first is None else first.ended
            with suppress(TimeoutError):
                async with asyncio.timeout(self._timing.look):
                    await ended.wait()

    async def _is_left(self, run_id: str) -> bool:
        return await self._store.may_claim(run_id, self.owner, datetime.now(UTC))

    async def _attempt(self, job: Job, run: RunRecord) -> bool:
        """Return True if the run was processed to its end, False if it was lost."""
        job.lost = False
        job.attempt = run.attempt
        if run.stop_requested:
            job.stop.set()
        context = contextvars.copy_context()
        context.run(holding.set, lambda: self._hold(job))
        place = run.message.thread
        its = about(run.id, place.key, place.workspace, run.attempt)
        context.run(work_on, its)
        log.info("claimed", platform=place.platform, **its)
        job.work = asyncio.create_task(self._executor.answer(run, job.stop), context=context)
        try:
            await _done(job.work)
        except Exception as error:
            await self._give_back(run)
            if not job.lost:
                raise
            log.info("lost attempt interrupted", run=run.id, error=repr(error))
        except asyncio.CancelledError:
            await self._give_back(run)
            if not job.lost or _is_cancelled():
                raise
        finally:
            job.attempt = job.work = None
        return not job.lost

    async def _give_back(self, run: RunRecord) -> None:
        releasing = asyncio.ensure_future(self._store.release(run.id, run.attempt))
        try:
            await asyncio.shield(releasing)
        except asyncio.CancelledError:
            await asyncio.wait({releasing})  # or it might run after the store is closed
            raise
        except StorageUnavailable as error:
            log.info("given back later", run=run.id, error=str(error))
            self._unreleased.add((run.id, run.attempt))

    async def _give_back_late(self) -> None:
        """Release runs that could not be released when their attempt ended, so that others need not
        wait for their lease to expire."""
        for run_id, attempt in list(self._unreleased):
            await self._store.release(run_id, attempt)
            self._unreleased.remove((run_id, attempt))

    # ------------------------------------------------------------ failing

    def may_try(self, run_id: str) -> bool:
        """Return True if the wait after a run's last failure here is over."""
        return self._failures.get(run_id, NO_FAILURE)[1] <= _clock()

    def _next_failure(self, run_id: str, error: Exception) -> tuple[int, float]:
        times = self._failures.get(run_id, NO_FAILURE)[0] + 1
        return times, _clock() + self._timing.pause(times, error)

    # ------------------------------------------------------------ stopping

    async def request_stop(self, run_id: str) -> None:
        """Ask a run to stop, here or elsewhere; a run still waiting for its turn ends at once."""
        job = self.jobs.get(run_id)
        if job is not None:
            job.stop.set()  # first, since the rest may fail or take time
        try:
            await self._store.request_stop(run_id)
        except StorageUnavailable as error:
            log.info("stop not kept", run=run_id, error=str(error))
        else:
            self.end_out_of_turn(run_id)

    def end_out_of_turn(self, run_id: str) -> None:
        """Claim and end a run that should stop, even if earlier runs of its thread wait."""
        job = self.jobs.get(run_id)
        if job is None:
            job = self.jobs[run_id] = Job(run_id)
        elif job.begun:
            return
        self._begin(job)

    def _begin(self, job: Job) -> None:
        """Process a run in a task of its own."""
        job.begun = True
        task = asyncio.create_task(self._work_apart(job))
        self._apart.add(task)
        task.add_done_callback(self._apart.discard)

    async def _work_apart(self, job: Job) -> None:
        with suppress(Exception):  # logged, and stored in the job
            await self.work(job)

    # ------------------------------------------------------------ keeping

    def keep(self) -> None:
        """Start to check runs and renew leases, until ``aclose``."""
        self._rounds = Rounds("keeping runs", self._timing.look, self._look_and_renew)

    async def _look_and_renew(self) -> None:
        await self._give_back_late()
        await self.look()
        if _clock() - self._renewed >= self._timing.renew:
            await self._renew()

    async def look_now(self, run_id: str) -> None:
        """Notice at once that a run was restarted: its job loses it, and redoes it."""
        try:
            await self.look()
        except StorageUnavailable as error:
            log.info("looking later", run=run_id, error=str(error))

    async def look(self) -> None:
        """Notice our runs that other processes have stopped, restarted or taken over."""
        working = self._at_work()
        if working:
            standing = await self._store.standing([job.run_id for job in working])
            for job, attempt in working.items():
                now = standing.get(job.run_id)
                if job.attempt != attempt:
                    continue  # it has changed meanwhile
                if now is None or now.attempt != attempt:
                    job.lose()
                elif now.stop_requested:
                    job.stop.set()
        if self._platforms or len(self.jobs) > len(working):
            stopped = await self._store.stopped_in_waiting(self.owner, datetime.now(UTC))
            for run_id, platform in stopped:
                ours = platform in self._platforms or run_id in self.jobs
                if ours and self.may_try(run_id):
                    self.end_out_of_turn(run_id)

    async def _renew(self) -> set[tuple[str, int]]:
        """Renew all leases; returns the ids and attempts of the runs that are still ours."""
        working = self._at_work()
        asked = _clock()
        kept: set[tuple[str, int]] = set()
        if working:
            runs = [job.run_id for job in working]
            kept = await self._store.renew(self.owner, runs, datetime.now(UTC) + self._lease)
        self._renewed = asked
        for job, attempt in working.items():
            if (job.run_id, attempt) in kept:
                job.sure_until = asked + self._timing.lease
        return kept

    async def _hold(self, job: Job) -> None:
        """Raise ``RunLost`` if another attempt has the run; checks the database once the lease has
        expired."""
        if job.lost or job.attempt is None:
            raise RunLost(f"Run {job.run_id} has been taken over by a later attempt.")
        if _clock() < job.sure_until:
            return
        held = (job.run_id, job.attempt)
        if held not in await self._renew():
            job.lost = True
            raise RunLost(f"Run {job.run_id} has been taken over by a later attempt.")

    # ------------------------------------------------------------ ending

    async def aclose(self) -> None:
        """Cancel the work that no dispatcher began, and the periodic checks."""
        for task in self._apart:
            task.cancel()
        await asyncio.gather(*self._apart, return_exceptions=True)
        if self._rounds is not None:
            await self._rounds.aclose()


async def _done(work: asyncio.Task[None]) -> None:
    """Wait until the work has ended; cancelling the caller cancels the work too."""
    try:
        await asyncio.shield(work)
    except asyncio.CancelledError:
        work.cancel()
        await asyncio.wait({work})
        raise


def _is_cancelled() -> bool:
    """Return True if the caller's own task is being cancelled."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def _clock() -> float:
    """Return a monotonic time in seconds that includes sleep of the machine, where supported."""
    return time.clock_gettime(_CLOCK)
