"""Procrastinate's queue, made robust against database outages.

Procrastinate's worker ends, and cancels its jobs, when one of its side tasks fails. Therefore its
calls are kept from failing: a call whose connection broke is repeated at once, a failed heartbeat
is left to the next one, a lost connection for notifications is reopened, and fetching a job without
a database returns none. A call may take effect without our knowing: the queueing lock prevents a
run from being queued twice, and ``Queue.held_jobs`` distinguishes jobs we work on from jobs the
database assigned to us unnoticed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import procrastinate
import psycopg
import sqlalchemy as sa
import stamina
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException, UniqueViolation
from procrastinate.jobs import Job, Notification, Status
from procrastinate.manager import JobManager, NotificationCallback
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from bot.core.errors import StorageUnavailable
from bot.core.logs import get_logger
from bot.storage.database import PARTS, STALL_SECONDS, Outages
from bot.storage.postgres import QUEUE, Connecting, Listener, connection_arguments, postgres_trouble

IDLE_SECONDS = 5.0  # after which an extra connection is closed
WAIT_SECONDS = 5.0  # for a free connection
RECONNECT_SECONDS = 2.0  # after which the pool starts over: its pauses grow to minutes
RESTART_SECONDS = 1.0
LAST_SECONDS = 1.0  # for a connection when the process ends
FINISH_SECONDS = 15.0  # for repeated tries to record a job's end while the database is away
WHAT = "The queue's database"

T = TypeVar("T")

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
            kwargs=connection_arguments(sa.make_url(url), connecting),
            min_size=1,
            max_size=QUEUE,
            max_idle=IDLE_SECONDS,
            timeout=WAIT_SECONDS,
            reconnect_timeout=RECONNECT_SECONDS,
            configure=_each_by_itself,
            pool_factory=_pool,
        )
        self._outages = outages
        self._listener = listener

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

        await self._listener.hear(channels, heard)

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
        self._notified = 0  # number of notifications so far
        self.held_jobs: set[int] = set()

    def hurry(self) -> None:
        """Shorten waits when the process ends: other processes find what an absent database
        misses."""
        if self._by.is_away:
            self._ending = True
            self._by.pool.timeout = LAST_SECONDS

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        await self._ready()
        # The worker (3.10) drops notifications that arrive during a fetch. A job added just after
        # this fetch would wait for the next poll.
        while True:
            notified = self._notified
            job = await self._fetch(queues, worker_id)
            if job is not None or notified == self._notified:
                return job

    async def _fetch(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
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
        if job is not None and job.id is not None:
            self.held_jobs.add(job.id)
        return job

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
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
            what = "job not finished in the queue" if is_away(error) else "job went to another"
            log.info(what, error=cause_of(error))
        finally:
            self.held_jobs.discard(job.id or 0)

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
            self._notified += 1
            await on_notification(channel=channel, notification=notification)

        await super().listen_for_jobs(on_notification=count, queues=queues)

    async def list_jobs_to_abort_async(self, queue: str | None = None) -> Iterable[int]:
        return ()  # runs are stopped by their rows (see ``attempts``)

    async def lost_jobs(self, worker_id: int) -> list[Job]:
        """Return jobs that the database assigns to this worker, but that it is not working on."""
        ours = await self.list_jobs_async(status=Status.DOING.value, worker_id=worker_id)
        return [job for job in ours if job.id not in self.held_jobs]


async def _each_by_itself(connection: psycopg.AsyncConnection[Any]) -> None:
    # Every call is one statement: a transaction would add two round trips.
    await connection.set_autocommit(True)


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


def trouble_of(error: ConnectorException) -> StorageUnavailable | None:
    """Translate an error of the queue for its database; None if the database is not the cause."""
    return None if error.__cause__ is None else postgres_trouble(error.__cause__, WHAT)


def is_away(error: Exception) -> bool:
    """Return True if repeating the call later may work."""
    trouble = trouble_of(error) if isinstance(error, ConnectorException) else None
    return trouble is not None and trouble.kind != "wrong"


def _has_broken(error: Exception) -> bool:
    """Return True if repeating the call at once may work."""
    if not isinstance(error, ConnectorException) or isinstance(error.__cause__, PoolTimeout):
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
        trouble = postgres_trouble(cause, WHAT) if cause is not None else None
        raise trouble or StorageUnavailable(
            f"{WHAT} does not work: check that it runs and can be reached.", detail=repr(error)
        ) from error


def cause_of(error: BaseException) -> str:
    """Return an error's cause on one line."""
    return str(error.__cause__ or error).partition("\n")[0]


class _ToOurLog(logging.Handler):
    """Writes log records of Procrastinate and the driver to Footnote's log, without tracebacks. The
    driver's own are about broken connections, which ``Outages`` reports once.
    """

    def emit(self, record: logging.LogRecord) -> None:
        line = record.getMessage().partition("\n")[0]
        if record.levelno >= logging.WARNING and record.name.startswith("procrastinate"):
            log.warning(line, by=record.name)
        else:
            log.debug(line, by=record.name)


def hear_the_libraries() -> None:
    """Redirect the log output of Procrastinate and psycopg to ``_ToOurLog``."""
    for name in ("procrastinate", "psycopg"):
        logger = logging.getLogger(name)
        if not any(isinstance(handler, _ToOurLog) for handler in logger.handlers):
            logger.addHandler(_ToOurLog())
            logger.propagate = False
