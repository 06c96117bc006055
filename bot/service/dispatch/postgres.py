"""Runs executed by any number of processes and machines, through a queue in PostgreSQL
(Procrastinate).

A job means "work on this run". Its lock is the thread, so that one job of a thread runs at a time;
its queueing lock is the run, so that a run is queued only once; its queue is the platform, so that
only processes that can post there take it. The claim on the run's row keeps the order and excludes
old attempts (see ``attempts``), so a job that the queue loses or repeats costs only time.

Procrastinate never retries a job. Instead the job is queued again before it ends, ahead of its
thread: a retry could collide with a job queued for the same run meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from datetime import UTC, datetime, timedelta

import procrastinate
import sqlalchemy as sa
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.jobs import DeleteJobCondition, Status
from procrastinate.jobs import Job as QueuedJob
from procrastinate.worker import Worker

from bot.core.errors import StorageUnavailable
from bot.core.logs import get_logger
from bot.core.messages import Thread
from bot.service.dispatch.attempts import Attempts, Executor, Job, Timing
from bot.service.dispatch.dispatcher import Condition
from bot.service.dispatch.pace import Pace, Rounds
from bot.service.dispatch.queue import (
    RESTART_SECONDS,
    Connector,
    Queue,
    cause_of,
    hear_the_libraries,
    is_away,
    storage,
)
from bot.storage.meter import live_workers
from bot.storage.store import Store
from bot.storage.tables import UNFINISHED, runs, threads

TASK = "research"
AHEAD = 1  # priority of a job that was already begun: no other of its thread may overtake it
POLL_SECONDS = 1.0  # until a worker finds a job without a notification
HEARTBEAT_SECONDS = 2.0
QUIET_SECONDS = 4.0  # without a heartbeat, until we check whether the run's lease is still held
STALLED_SECONDS = 20.0  # without a heartbeat, until a worker's jobs go to others anyway
SWEEP_SECONDS = 5.0
SWEPT_AT_ONCE = 500

NO_WORKERS = (
    "No worker is alive, so questions wait: start `footnote worker` with the same "
    "FOOTNOTE_DATABASE_URL."
)
TAKES_NOTHING = "It takes nothing from the queue for now; the log says why."

log = get_logger()

# Plain SQL, so that PostgreSQL can use Procrastinate's partial indexes.
_HAS_NO_JOB = sa.text(
    "NOT EXISTS (SELECT 1 FROM procrastinate_jobs"
    " WHERE queueing_lock = runs.id AND status IN ('todo', 'doing'))"
)


class PostgresDispatcher:
    """See the module docstring. Use as an async context manager: leaving it drains.

    Works on the runs of ``platforms``, at most ``concurrency`` at once; with 0 it only queues
    them, for other processes. Raises ``StorageUnavailable`` on entering.
    """

    owner = None  # any worker may take a run

    def __init__(
        self,
        url: str,
        store: Store,
        executor: Executor,
        concurrency: int,
        *,
        platforms: Collection[str],
        drain_seconds: float = 0.0,
        sweep_seconds: float = SWEEP_SECONDS,
        poll_seconds: float = POLL_SECONDS,
        timing: Timing | None = None,
        pace: Pace | None = None,
    ) -> None:
        self._store = store
        self._platforms = sorted(platforms)
        self._concurrency = concurrency
        self._drain_seconds = drain_seconds
        self._sweep_seconds = sweep_seconds
        self._poll_seconds = poll_seconds
        self._timing = timing or Timing()
        takes = frozenset(platforms) if concurrency else frozenset()
        self._attempts = Attempts(store, executor, takes, self._timing)
        self._pace = pace or Pace()
        database = store.database
        connector = Connector(url, database.outages, database.listener, database.connecting)
        self._app = procrastinate.App(connector=connector)
        self._queue = self._app.job_manager = Queue(connector, self._register, self._pace.ready)
        self._lost: set[int] = set()  # jobs without a live worker at the last check
        self._task = self._app.task(name=TASK, pass_context=True)(self._research)
        self._worker: Worker | None = None
        self._working: asyncio.Task[None] | None = None
        self._pacing: asyncio.Task[None] | None = None
        self._rounds: Rounds | None = None
        self._submitting: set[asyncio.Task[None]] = set()
        self._draining = False

    async def __aenter__(self) -> PostgresDispatcher:
        hear_the_libraries()
        with storage():
            await self._app.open_async()
        self._pacing = asyncio.create_task(self._pace.keep())
        self._attempts.keep()
        if self._concurrency:
            self._rounds = Rounds("the queue", self._sweep_seconds, self._look_after)
            self._working = asyncio.create_task(self._keep_working())
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.drain(self._drain_seconds)
        await self._app.close_async()

    # ------------------------------------------------------------ as the protocol says

    async def submit(self, run_id: str, thread: Thread) -> None:
        """Queue a run in the background: if that fails, the sweep finds the stored run."""
        task = asyncio.create_task(self._submit(run_id, thread))
        self._submitting.add(task)
        task.add_done_callback(self._submitting.discard)

    async def _submit(self, run_id: str, thread: Thread) -> None:
        try:
            await self._put(run_id, thread.key, thread.platform)
        except StorageUnavailable as error:
            log.info("queued later", run=run_id, error=str(error))
        except Exception as error:  # noqa: BLE001  (a background task: logged)
            log.error("not queued, later again", run=run_id, error=repr(error))

    async def restart(self, run_id: str, thread: Thread) -> None:
        await self.submit(run_id, thread)
        try:
            await self._attempts.look()
        except StorageUnavailable as error:
            log.info("looking later", run=run_id, error=str(error))

    async def request_stop(self, run_id: str) -> None:
        await self._attempts.request_stop(run_id)

    async def stop(self, run_id: str) -> None:
        await self.request_stop(run_id)
        await self.wait(run_id)

    async def wait(self, run_id: str) -> None:
        """Return when a run has ended, in whichever process."""
        while True:
            run = await self._store.run(run_id)
            if run is None or run.state not in UNFINISHED:
                return
            await asyncio.sleep(self._timing.look)  # it may end in another process

    async def resume(self) -> list[str]:
        left = await self._unqueued()
        for run_id, thread_key, platform in left:
            await self._put(run_id, thread_key, platform)
        return [run_id for run_id, _, _ in left]

    async def condition(self) -> Condition:
        workers = await live_workers(self._store.database)
        working = self._attempts.working
        if not self._concurrency:
            advice = "" if workers else NO_WORKERS
            return Condition(working, workers, advice=advice)
        takes = self._worker is not None and self._worker.worker_id is not None
        return Condition(working, workers, trouble="" if takes else TAKES_NOTHING)

    async def drain(self, seconds: float = 0.0) -> None:
        self._draining = True
        self._queue.hurry()
        await asyncio.gather(*self._submitting)
        if self._working is not None:
            if self._worker is not None:
                self._worker.shutdown_graceful_timeout = seconds
                self._worker.stop()  # type: ignore[no-untyped-call]
            await asyncio.gather(self._working, return_exceptions=True)
        if self._rounds is not None:
            await self._rounds.aclose()
        if self._pacing is not None:
            self._pacing.cancel()
            await asyncio.gather(self._pacing, return_exceptions=True)
        await self._attempts.aclose()

    # ------------------------------------------------------------ working

    async def _research(
        self, context: procrastinate.JobContext, *, run_id: str, failures: int = 0
    ) -> None:
        """Work on a run: the only task of the queue."""
        queued = context.job
        await self._pace.begin()
        try:
            await self._work(run_id)
        except asyncio.CancelledError:  # this process ends
            await asyncio.shield(self._put_back(queued, failures))
            raise
        except Exception as error:  # noqa: BLE001  (the run is tried again)
            failures += 1
            await self._put_back(queued, failures, self._timing.pause(failures, error))
        finally:
            self._pace.end()

    async def _work(self, run_id: str) -> None:
        while (other := self._attempts.jobs.get(run_id)) is not None:
            await other.ended.wait()
        job = self._attempts.jobs[run_id] = Job(run_id)
        await self._attempts.work(job)

    async def _keep_working(self) -> None:
        """Run a worker, and start a new one whenever the database was away."""
        while not self._draining:
            self._worker = Worker(
                self._app,
                queues=self._platforms,
                name="footnote",
                concurrency=self._concurrency,
                fetch_job_polling_interval=self._poll_seconds,
                shutdown_graceful_timeout=self._drain_seconds,
                delete_jobs=DeleteJobCondition.ALWAYS,
                install_signal_handlers=False,
                update_heartbeat_interval=HEARTBEAT_SECONDS,
                stalled_worker_timeout=STALLED_SECONDS,
            )
            try:
                await self._worker.run()  # type: ignore[no-untyped-call]
            except Exception as error:  # noqa: BLE001  (whatever it was, work must go on)
                tell = log.info if is_away(error) else log.warning
                tell("queue does not work, trying on", error=cause_of(error))
            if not self._draining:
                await asyncio.sleep(RESTART_SECONDS)

    async def _register(self) -> None:
        """Register the worker again, under a new id: with the old id it can no longer fetch
        jobs."""
        if self._worker is not None:
            self._worker.worker_id = await self._queue.register_worker()

    # ------------------------------------------------------------ the queue

    async def _put(
        self,
        run_id: str,
        thread_key: str,
        platform: str,
        *,
        priority: int = 0,
        failures: int = 0,
        wait: float = 0.0,
    ) -> None:
        """Queue a run, unless it is already queued. Raises ``StorageUnavailable``."""
        job = self._task.configure(
            lock=thread_key,
            queueing_lock=run_id,
            queue=platform,
            priority=priority,
            schedule_at=datetime.now(UTC) + timedelta(seconds=wait) if wait > 0 else None,
        )
        with storage():
            try:
                await job.defer_async(run_id=run_id, failures=failures)
            except AlreadyEnqueued:
                log.debug("queued already", run=run_id)

    async def _put_back(self, queued: QueuedJob, failures: int, wait: float = 0.0) -> None:
        """Queue a job's run again, first in its thread."""
        run_id = str(queued.task_kwargs["run_id"])
        try:
            await self._put(
                run_id,
                queued.lock or run_id,
                queued.queue,
                priority=AHEAD,
                failures=failures,
                wait=wait,
            )
        except StorageUnavailable as error:
            log.info("queued later", run=run_id, error=str(error))

    async def _unqueued(self) -> list[tuple[str, str, str]]:
        """Return unclaimed runs without a job, oldest first: id, thread, platform."""
        query = (
            sa.select(runs.c.id, runs.c.thread_key, threads.c.platform)
            .join(threads, runs.c.thread_key == threads.c.key)
            .where(
                runs.c.state.in_(UNFINISHED),
                threads.c.platform.in_(self._platforms),
                sa.or_(runs.c.owner.is_(None), runs.c.lease_until <= datetime.now(UTC)),
                _HAS_NO_JOB,
            )
            .order_by(runs.c.message_id)
            .limit(SWEPT_AT_ONCE)
        )
        async with self._store.database.read() as db:
            return [(row.id, row.thread_key, row.platform) for row in await db.execute(query)]

    async def _look_after(self) -> None:
        """Find runs missing in the queue, and jobs left by dead workers."""
        await self._revive()
        await self._find_lost()
        if self._draining:
            await self._stay_alive()
        else:
            await self.resume()

    async def _revive(self) -> None:
        """Queue the jobs of workers without a heartbeat again. After a database outage no worker
        has one at first, so give all of them time."""
        if self._store.database.outages.ended_within(QUIET_SECONDS + HEARTBEAT_SECONDS):
            return
        quiet = await self._jobs_without_heartbeat(QUIET_SECONDS)
        if not quiet:
            return
        stalled = {job.id for job in await self._jobs_without_heartbeat(STALLED_SECONDS)}
        for job in quiet:
            run_id = str(job.task_kwargs["run_id"])
            # An unclaimed run can safely be queued at once: only one claim succeeds.
            if job.id not in stalled and await self._store.is_held(run_id, datetime.now(UTC)):
                continue
            log.warning("worker is gone, its job goes to another", run=run_id)
            await self._queue_again(job)

    async def _find_lost(self) -> None:
        """Queue jobs again that the database assigned to us without our knowing, or whose end we
        could not record. Jobs that are just being fetched are spared."""
        worker_id = self._worker.worker_id if self._worker is not None else None
        if worker_id is None:
            return
        with storage():
            lost = await self._queue.lost_jobs(worker_id)
        for job in lost:
            if job.id in self._lost:
                log.info("job was lost, it is queued again", run=job.task_kwargs["run_id"])
                await self._queue_again(job)
        self._lost = {job.id for job in lost if job.id is not None}

    async def _queue_again(self, job: QueuedJob) -> None:
        try:
            await self._finish(job)
        except ConnectorException:
            return  # another process was faster, or the database is away
        await self._put_back(job, 0)

    async def _finish(self, job: QueuedJob) -> None:
        assert job.id is not None  # noqa: S101
        await self._queue.finish_job_by_id_async(job.id, Status.FAILED, delete_job=True)

    async def _jobs_without_heartbeat(self, seconds: float) -> list[QueuedJob]:
        with storage():
            return list(
                await self._queue.get_stalled_jobs(task_name=TASK, seconds_since_heartbeat=seconds)
            )

    async def _stay_alive(self) -> None:
        """Send the heartbeat, which Procrastinate does not do while a worker finishes its last
        jobs."""
        if self._worker is not None and self._worker.worker_id is not None:
            with storage():
                await self._queue.update_heartbeat(self._worker.worker_id)
