"""Runs executed by any number of processes and machines, through a queue in PostgreSQL
(Procrastinate).

A job means "work on this run". Its lock is the thread, so that one job of a thread runs at a time;
its queueing lock is the run, so that a run is queued only once; its queue is the platform, so that
only processes that can post there take it. The claim on the run's row keeps the order and excludes
old attempts (see ``attempts``), so a job that the queue loses or repeats costs only time.

Procrastinate never retries a job. Instead the job is queued again before it ends, ahead of its
thread: a retry could collide with a job queued for the same run meanwhile.

Procrastinate's worker ends, and cancels its jobs, when one of its side tasks fails. Therefore its
calls are kept from failing: a call whose connection broke is repeated at once, a failed heartbeat
is left to the next one, a lost connection for notifications is reopened, and fetching a job without
a database returns none. A call may take effect without our knowing: the queueing lock prevents a
run from being queued twice, and ``Queue.held_jobs`` distinguishes jobs we work on from jobs the
database assigned to us unnoticed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import procrastinate
import psycopg
import sqlalchemy as sa
import stamina
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException, UniqueViolation
from procrastinate.jobs import DeleteJobCondition, Notification, Status
from procrastinate.jobs import Job as QueuedJob
from procrastinate.manager import JobManager, NotificationCallback
from procrastinate.worker import Worker
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from bot.core.errors import StorageUnavailable
from bot.core.logs import get_logger, redirect_library
from bot.core.messages import Thread
from bot.service.background import Rounds
from bot.service.dispatch.attempts import Attempts, Condition, Executor, Job, Pace, Timing
from bot.storage.database import PARTS, STALL_SECONDS, Outages
from bot.storage.meter import live_workers
from bot.storage.postgres import QUEUE, Connecting, Listener, connection_arguments, postgres_trouble
from bot.storage.store import Store
from bot.storage.tables import UNFINISHED, runs, threads

IDLE_SECONDS = 5.0  # after which an extra connection is closed
WAIT_SECONDS = 5.0  # for a free connection
RECONNECT_SECONDS = 2.0  # after which the pool starts over: its pauses grow to minutes
RESTART_SECONDS = 1.0
LAST_SECONDS = 1.0  # for a connection when the process ends
FINISH_SECONDS = 15.0  # for repeated tries to record a job's end while the database is away
WHAT = "The queue's database"

T = TypeVar("T")

_INSERTED = '{"type": "job_inserted", "job_id": 0}'  # what a worker is told of any new job

log = get_logger()


class Connector(procrastinate.PsycopgConnector):
    """Repeats calls whose connection broke, and reports outages."""

    def __init__(
        self,
        url: str,
        outages: Outages,
        listener: Listener,
        connecting: Connecting = Connecting(),  # noqa: B008  (frozen)
    ) -> None:
        super().__init__(
            # Every call is one statement: a transaction would add two round trips.
            kwargs={**connection_arguments(sa.make_url(url), connecting), "autocommit": True},
            min_size=1,
            max_size=QUEUE,
            max_idle=IDLE_SECONDS,
            timeout=WAIT_SECONDS,
            reconnect_timeout=RECONNECT_SECONDS,
            pool_factory=_pool,
        )
        self._outages = outages
        self._listener = listener
        self._looking: asyncio.Future[None] | None = None  # kept, since the loop keeps none

    @property
    def is_away(self) -> bool:
        """True if any part of the database failed lately and has not worked since."""
        return any(self._outages.recent_failure(part) for part in PARTS)

    async def execute_query_async(self, query: Any, **arguments: Any) -> None:
        call = super().execute_query_async
        await self._again(lambda: call(query, **arguments))

    async def execute_query_one_async(self, query: Any, **arguments: Any) -> dict[str, Any]:
        call = super().execute_query_one_async
        return await self._again(lambda: call(query, **arguments))

    async def execute_query_all_async(self, query: Any, **arguments: Any) -> list[dict[str, Any]]:
        call = super().execute_query_all_async
        return await self._again(lambda: call(query, **arguments))

    async def listen_notify(
        self, on_notification: Callable[..., Awaitable[None]], channels: Iterable[str]
    ) -> None:
        async def heard(channel: str, payload: str) -> None:
            await on_notification(channel=channel, payload=payload)

        def begun() -> None:
            # A job may have come before: without a look it would wait for the next poll.
            self._looking = asyncio.ensure_future(heard("", _INSERTED))

        await self._listener.hear(channels, heard, begun=begun)

    async def _again(self, call: Callable[[], Awaitable[T]]) -> T:
        # Every idle connection of the pool may be broken.
        tries = stamina.retry_context(
            on=_has_broken, attempts=QUEUE + 1, wait_initial=0.01, wait_jitter=0.05
        )
        try:
            async for attempt in tries:
                with attempt:
                    result = await _in_time(call)
        except UniqueViolation:
            self._outages.record_success("queue")
            raise
        except ConnectorException as error:
            trouble = trouble_of(error)
            if trouble is not None:
                self._outages.record_failure("queue", trouble)
            raise
        self._outages.record_success("queue")
        return result


class Queue(JobManager):
    """The calls of Procrastinate's worker. ``register`` registers it with the database again;
    ``ready`` returns when another job may begin. A job is not fetched earlier, since it would wait
    for this worker, even if the worker dies.

    ``held`` are the ids of jobs fetched here and not finished.
    """

    def __init__(
        self,
        connector: Connector,
        register: Callable[[], Awaitable[None]],
        ready: Callable[[], Awaitable[None]],
    ) -> None:
        super().__init__(connector)
        self._by = connector
        self._register = register
        self._ready = ready
        self._ending = False
        self._notified = asyncio.Event()  # since the last fetch began
        self.held_jobs: set[int | None] = set()

    def hurry(self) -> None:
        """Shorten waits when the process ends: other processes find what an absent database
        misses."""
        if self._by.is_away:
            self._ending = True
            self._by.pool.timeout = LAST_SECONDS

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> QueuedJob | None:
        await self._ready()
        # The worker (3.10) drops notifications that arrive during a fetch. A job added just after
        # this fetch would wait for the next poll.
        while True:
            self._notified.clear()
            job = await self._fetch(queues, worker_id)
            if job is not None or not self._notified.is_set():
                return job

    async def _fetch(self, queues: Iterable[str] | None, worker_id: int) -> QueuedJob | None:
        try:
            job = await super().fetch_job(queues, worker_id)
        except ConnectorException as error:
            if isinstance(error.__cause__, psycopg.errors.ForeignKeyViolation):
                # It was silent for so long that another worker has removed it.
                log.info("worker registers again", error=cause_of(error))
                await self._register()
            elif not is_away(error):
                raise
            return None  # the worker asks again in a moment
        if job is not None:
            self.held_jobs.add(job.id)
        return job

    async def finish_job(self, job: QueuedJob, status: Status, delete_job: bool) -> None:
        """Record that a job has ended. If that fails, the job holds its thread's lock until the
        dispatcher's next round finds that no one works on it."""
        patience = LAST_SECONDS if self._ending else FINISH_SECONDS
        try:
            async for attempt in stamina.retry_context(
                on=is_away, attempts=None, timeout=patience, wait_initial=0.1, wait_max=2.0
            ):
                with attempt:
                    await super().finish_job(job, status, delete_job)
        except ConnectorException as error:
            log.info("job not finished in the queue", error=cause_of(error))
        finally:
            self.held_jobs.discard(job.id)

    async def update_heartbeat(self, worker_id: int) -> None:
        try:
            await super().update_heartbeat(worker_id)
        except ConnectorException as error:
            if not is_away(error):
                raise
            log.debug("heartbeat not given", error=cause_of(error))

    async def listen_for_jobs(
        self, *, on_notification: NotificationCallback, queues: Iterable[str] | None = None
    ) -> None:
        async def count(*, channel: str, notification: Notification) -> None:
            self._notified.set()
            await on_notification(channel=channel, notification=notification)

        await super().listen_for_jobs(on_notification=count, queues=queues)

    async def list_jobs_to_abort_async(self, queue: str | None = None) -> Iterable[int]:
        return ()  # runs are stopped by their rows (see ``attempts``)

    async def lost_jobs(self, worker_id: int) -> list[QueuedJob]:
        """Return jobs that the database assigns to this worker, but that it is not working on."""
        ours = await self.list_jobs_async(status=Status.DOING.value, worker_id=worker_id)
        return [job for job in ours if job.id not in self.held_jobs]


def _pool(**how: Any) -> AsyncConnectionPool[Any]:
    # Checking each connection before use costs a round trip, and seconds if several are broken:
    # ``Connector`` detects broken ones in use instead.
    return AsyncConnectionPool(**{**how, "check": None})


async def _in_time(call: Callable[[], Awaitable[T]]) -> T:
    try:
        async with asyncio.timeout(STALL_SECONDS):
            return await call()
    except TimeoutError:
        raise ConnectorException from psycopg.OperationalError("no answer")


def trouble_of(error: Exception) -> StorageUnavailable | None:
    """Translate an error of the queue for its database; None if the database is not the cause."""
    return postgres_trouble(error.__cause__, WHAT)


def is_away(error: Exception) -> bool:
    """Return True if repeating the call later may work."""
    trouble = trouble_of(error)
    return trouble is not None and trouble.kind != "wrong"


def _has_broken(error: Exception) -> bool:
    """Return True if repeating the call at once may work."""
    if isinstance(error.__cause__, PoolTimeout):
        return False
    trouble = trouble_of(error)
    return trouble is not None and trouble.kind in ("broken", "contended")


@contextmanager
def storage() -> Iterator[None]:
    """Convert the queue's failures to ``StorageUnavailable``."""
    try:
        yield
    except AlreadyEnqueued:
        raise
    except (ConnectorException, psycopg.Error) as error:
        cause = error.__cause__ if isinstance(error, ConnectorException) else error
        raise postgres_trouble(cause, WHAT) or StorageUnavailable(
            f"{WHAT} does not work: check that it runs and can be reached.", detail=repr(error)
        ) from error


def cause_of(error: BaseException) -> str:
    """Return an error's cause on one line."""
    return str(error.__cause__ or error).partition("\n")[0]


def redirect_library_logs() -> None:
    """Redirect the log output of Procrastinate, and of the driver, whose own is about broken
    connections, which ``Outages`` reports once."""
    redirect_library("procrastinate")
    redirect_library("psycopg", quiet=("",))


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
        self._lost: set[int | None] = set()  # jobs without a live worker at the last check
        self._task = self._app.task(name=TASK, pass_context=True)(self._research)
        self._worker: Worker | None = None
        self._working: asyncio.Task[None] | None = None
        self._pacing: asyncio.Task[None] | None = None
        self._rounds: Rounds | None = None
        self._submitting: set[asyncio.Task[None]] = set()
        self._draining = False

    async def __aenter__(self) -> PostgresDispatcher:
        redirect_library_logs()
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
        await self._attempts.look_now(run_id)

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
        trouble = TAKES_NOTHING if self._worker_id is None else ""
        return Condition(working, workers, trouble=trouble)

    async def drain(self, seconds: float) -> None:
        self._draining = True
        self._queue.hurry()
        await asyncio.gather(*self._submitting)
        if self._working is not None:
            if self._worker is not None:
                self._worker.shutdown_graceful_timeout = seconds
                self._worker.stop()  # type: ignore[no-untyped-call]
            await self._working
        if self._rounds is not None:
            await self._rounds.aclose()
        if self._pacing is not None:
            self._pacing.cancel()
        await self._attempts.aclose()

    # ------------------------------------------------------------ working

    async def _research(
        self, context: procrastinate.JobContext, *, run_id: str, failures: int
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
        assert self._worker is not None  # noqa: S101  (it asks for it)
        self._worker.worker_id = await self._queue.register_worker()

    @property
    def _worker_id(self) -> int | None:
        return None if self._worker is None else self._worker.worker_id

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
            schedule_at=datetime.now(UTC) + timedelta(seconds=wait) if wait else None,
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
        worker_id = self._worker_id
        if worker_id is not None:
            await self._find_lost(worker_id)
            with storage():  # Procrastinate does not while a worker finishes its last jobs
                await self._queue.update_heartbeat(worker_id)
        await self.resume()

    async def _revive(self) -> None:
        """Queue the jobs of workers without a heartbeat again. After a database outage no worker
        has one at first, so give all of them time."""
        if self._store.database.outages.ended_within(QUIET_SECONDS + HEARTBEAT_SECONDS):
            return
        quiet = await self._jobs_without_heartbeat(QUIET_SECONDS)
        stalled = {job.id for job in await self._jobs_without_heartbeat(STALLED_SECONDS)}
        for job in quiet:
            run_id = str(job.task_kwargs["run_id"])
            # An unclaimed run can safely be queued at once: only one claim succeeds.
            if job.id not in stalled and await self._store.is_held(run_id, datetime.now(UTC)):
                continue
            log.warning("worker is gone, its job goes to another", run=run_id)
            await self._queue_again(job)

    async def _find_lost(self, worker_id: int) -> None:
        """Queue jobs again that the database assigned to us without our knowing, or whose end we
        could not record. Jobs that are just being fetched are spared."""
        with storage():
            lost = await self._queue.lost_jobs(worker_id)
        for job in lost:
            if job.id in self._lost:
                log.info("job was lost, it is queued again", run=job.task_kwargs["run_id"])
                await self._queue_again(job)
        self._lost = {job.id for job in lost}

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
