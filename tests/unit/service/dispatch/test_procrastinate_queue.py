"""The queue's calls: what is told while they are under way, and what a worker is spared."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import procrastinate
import psycopg
import pytest
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException, UniqueViolation
from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager
from psycopg_pool import PoolTimeout
from structlog.testing import capture_logs

from bot.core.errors import StorageUnavailable
from bot.service.dispatch import procrastinate_dispatcher
from bot.service.dispatch.attempts import Pace
from bot.service.dispatch.procrastinate_dispatcher import (
    LAST_SECONDS,
    NO_WORKERS,
    RESTART_SECONDS,
    TAKES_NOTHING,
    Connector,
    PostgresDispatcher,
    Queue,
    cause_of,
    is_away,
    redirect_library_logs,
    storage,
    trouble_of,
)
from bot.storage.database import STALL_SECONDS, Outages
from bot.storage.postgres import QUEUE, Connecting, Listener
from tests.fakes.virtual_time import in_virtual_time, now

NOTHING = {"id": None}


class Silent(Connector):
    """A queue's database whose ``answers`` come one after the other; a notification is sent while
    each of the first ``disturbed`` is awaited."""

    def __init__(self, answers: list[dict[str, Any]], disturbed: int) -> None:
        super().__init__("postgresql+psycopg://nobody@/nowhere", Outages(), Listener(None))
        self._answers = answers
        self._disturbed = disturbed
        self._notify: Any = None
        self.asked = 0

    async def listen_notify(self, on_notification: Any, channels: Any) -> None:
        self._notify = on_notification
        await asyncio.Event().wait()

    async def execute_query_one_async(self, query: Any, **arguments: Any) -> dict[str, Any]:
        self.asked += 1
        await asyncio.sleep(0)
        if self.asked <= self._disturbed:
            told = {"type": "job_inserted", "job_id": 1}
            await self._notify(channel="any", payload=json.dumps(told))
        return self._answers.pop(0)


def a_row(id: int) -> dict[str, Any]:
    return {
        "id": id,
        "status": "doing",
        "task_name": "research",
        "priority": 0,
        "lock": "thread",
        "queueing_lock": "run",
        "args": {},
        "scheduled_at": None,
        "queue_name": "slack",
        "attempts": 0,
        "worker_id": 1,
    }


@pytest.mark.parametrize(
    ("answers", "disturbed", "asked", "found"),
    [
        ([NOTHING], 0, 1, None),
        ([a_row(7)], 1, 1, 7),
        ([NOTHING, a_row(7)], 1, 2, 7),
        ([NOTHING, NOTHING, a_row(7)], 2, 3, 7),
        ([NOTHING, NOTHING], 1, 2, None),
    ],
)
async def test_a_job_that_is_told_of_while_one_is_fetched_is_fetched_at_once(
    answers: list[dict[str, Any]], disturbed: int, asked: int, found: int | None
) -> None:
    connector = Silent(answers, disturbed)
    queue = Queue(connector, asyncio.Event().wait, Pace().ready)  # type: ignore[arg-type]
    heard: list[str] = []

    async def hear(*, channel: str, notification: Any) -> None:
        heard.append(notification["type"])

    listening = asyncio.create_task(queue.listen_for_jobs(on_notification=hear))
    await asyncio.sleep(0)
    job = await queue.fetch_job(["slack"], 1)
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)

    assert (None if job is None else job.id) == found
    assert connector.asked == asked
    assert heard == ["job_inserted"] * disturbed


DEAF = Listener(None)

BROKEN = psycopg.OperationalError("the connection is lost\nserver closed it")
WRONG = psycopg.errors.UndefinedTable("relation does not exist")
CONTENDED = psycopg.errors.DeadlockDetected("deadlock detected")
BUSY = PoolTimeout("couldn't get a connection")
STRUCK_OFF = psycopg.errors.ForeignKeyViolation("worker_id is not present")


def failing(cause: BaseException | None) -> ConnectorException:
    error = ConnectorException()
    error.__cause__ = cause
    return error


def break_off(outages: Outages) -> None:
    trouble = trouble_of(failing(BROKEN))
    assert trouble is not None
    outages.record_failure("queue", trouble)


class Calls:
    """Calls of Procrastinate's own, each with the next outcome; the last one stays."""

    def __init__(self, *outcomes: object) -> None:
        self.outcomes = list(outcomes)
        self.made = 0
        self.given: dict[str, Any] = {}  # by name, to the last one

    async def __call__(self, *_: object, **given: object) -> Any:
        self.made += 1
        self.given = given
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


def a_queue(outages: Outages | None = None) -> Queue:
    connector = Connector("postgresql+psycopg://nobody@/nowhere", outages or Outages(), DEAF)

    async def ready() -> None:
        return None

    return Queue(connector, ready, ready)


def a_job(id: int = 7) -> Job:
    its = {"lock": "t", "queueing_lock": "r", "task_kwargs": {"run_id": "r"}}
    return Job(id=id, queue="slack", task_name="research", **its)  # type: ignore[arg-type]


Put = Callable[..., Calls]


@pytest.fixture
def put(monkeypatch: pytest.MonkeyPatch) -> Put:
    """Puts calls in the place of Procrastinate's own."""

    def put(kind: type, name: str, *outcomes: object) -> Calls:
        calls = Calls(*outcomes)
        monkeypatch.setattr(kind, name, lambda self, *a, **b: calls(*a, **b))
        return calls

    return put


# ---------------------------------------------------------------- what a failure means


@pytest.mark.parametrize(
    ("error", "away"),
    [
        (failing(BROKEN), True),
        (failing(CONTENDED), True),
        (failing(BUSY), True),
        (failing(WRONG), False),
        (failing(KeyError("a defect")), False),
        (failing(None), False),
        (BROKEN, False),
    ],
)
def test_only_what_its_database_cannot_do_now_is_worth_a_later_try(
    error: Exception, away: bool
) -> None:
    assert is_away(error) is away


def test_failures_leave_as_storage_that_is_unavailable() -> None:
    for error in (failing(BROKEN), BROKEN):
        with pytest.raises(StorageUnavailable, match="queue's database cannot be"), storage():
            raise error
    with pytest.raises(StorageUnavailable, match="does not work: check"), storage():
        raise failing(None)
    with pytest.raises(AlreadyEnqueued), storage():
        raise AlreadyEnqueued
    assert trouble_of(failing(None)) is None


@pytest.mark.parametrize("error", [failing(BROKEN), BROKEN])
def test_a_failure_is_told_on_one_line(error: Exception) -> None:
    assert cause_of(error) == "the connection is lost"


# ---------------------------------------------------------------- calls


NAMES = ["execute_query_async", "execute_query_one_async", "execute_query_all_async"]


@pytest.mark.parametrize("name", NAMES)
@in_virtual_time
async def test_a_call_is_made_again_while_a_connection_may_be_one_that_broke(
    put: Put, name: str
) -> None:
    outages = Outages()
    connector = Connector("postgresql+psycopg://nobody@/nowhere", outages, DEAF)
    calls = put(
        procrastinate.PsycopgConnector, name, *[failing(BROKEN)] * QUEUE, failing(CONTENDED)
    )
    with pytest.raises(ConnectorException):
        await getattr(connector, name)("SELECT 1")
    assert calls.made == QUEUE + 1
    calls.outcomes = [failing(BROKEN)]
    with pytest.raises(ConnectorException):
        await getattr(connector, name)("SELECT 1")
    assert connector.is_away
    calls.outcomes = [failing(BROKEN)] * QUEUE + [{"id": 1}]
    begin = now()
    found = await getattr(connector, name)("SELECT 1")
    assert now() - begin < 1.0, "after pauses that are too short to notice"
    assert found == (None if name == NAMES[0] else {"id": 1})
    assert not connector.is_away


@pytest.mark.parametrize(
    ("cause", "is_out"), [(BUSY, True), (WRONG, False), (None, False), (KeyError("x"), False)]
)
@in_virtual_time
async def test_another_failure_is_raised_at_once(
    put: Put, cause: BaseException | None, is_out: bool
) -> None:
    connector = Connector("postgresql+psycopg://nobody@/nowhere", Outages(), DEAF)
    calls = put(procrastinate.PsycopgConnector, NAMES[1], failing(cause))
    with pytest.raises(ConnectorException):
        await connector.execute_query_one_async("SELECT 1")
    assert (calls.made, connector.is_away) == (1, is_out)


@in_virtual_time
async def test_a_call_that_is_not_answered_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [asyncio.Event().wait(), asyncio.sleep(0, {"id": 1})]
    monkeypatch.setattr(
        procrastinate.PsycopgConnector, NAMES[1], lambda self, *_, **__: answers.pop(0)
    )
    connector = Connector("postgresql+psycopg://nobody@/nowhere", Outages(), DEAF)
    begin = now()
    assert await connector.execute_query_one_async("SELECT 1") == {"id": 1}
    assert STALL_SECONDS <= now() - begin < STALL_SECONDS + 1.0


@in_virtual_time
async def test_a_database_that_refuses_a_duplicate_works(put: Put) -> None:
    connector = Connector("postgresql+psycopg://nobody@/nowhere", Outages(), DEAF)
    calls = put(procrastinate.PsycopgConnector, NAMES[1], failing(BUSY))
    with pytest.raises(ConnectorException):
        await connector.execute_query_one_async("SELECT 1")
    calls.outcomes = [UniqueViolation(constraint_name="x", queueing_lock="r")]
    with pytest.raises(UniqueViolation):
        await connector.execute_query_one_async("SELECT 1")
    assert not connector.is_away


# ---------------------------------------------------------------- what a worker is spared


@in_virtual_time
async def test_a_worker_finds_no_job_while_the_database_is_away(put: Put) -> None:
    queue = a_queue()
    calls = put(JobManager, "fetch_job", failing(BROKEN))
    assert await queue.fetch_job(["slack"], 1) is None
    calls.outcomes = [failing(WRONG)]
    with pytest.raises(ConnectorException):
        await queue.fetch_job(["slack"], 1)
    calls.outcomes = [a_job()]
    assert await queue.fetch_job(["slack"], 1) is not None
    assert queue.held_jobs == {7}


@in_virtual_time
async def test_a_worker_that_was_struck_off_registers_and_finds_no_job_yet(put: Put) -> None:
    registering = Calls(None)
    connector = Connector("postgresql+psycopg://nobody@/nowhere", Outages(), DEAF)
    queue = Queue(connector, registering, Calls(None))
    put(JobManager, "fetch_job", failing(STRUCK_OFF))
    assert await queue.fetch_job(["slack"], 1) is None
    assert registering.made == 1


@in_virtual_time
async def test_a_heartbeat_that_cannot_be_given_waits_for_the_next(put: Put) -> None:
    queue = a_queue()
    calls = put(JobManager, "update_heartbeat", failing(BROKEN))
    await queue.update_heartbeat(1)
    calls.outcomes = [failing(WRONG)]
    with pytest.raises(ConnectorException):
        await queue.update_heartbeat(1)


@pytest.mark.parametrize(
    ("is_away", "ends", "again"), [(True, False, True), (True, True, False), (False, True, True)]
)
async def test_the_end_of_a_job_is_told_again_for_a_while_but_not_by_a_process_that_ends(
    put: Put, monkeypatch: pytest.MonkeyPatch, is_away: bool, ends: bool, again: bool
) -> None:
    """It knows that the database is away: a first failure may be the last."""
    monkeypatch.setattr("bot.service.dispatch.procrastinate_dispatcher.FINISH_SECONDS", 0.5)
    monkeypatch.setattr("bot.service.dispatch.procrastinate_dispatcher.LAST_SECONDS", 0.001)
    pool = SimpleNamespace(timeout=5.0)
    monkeypatch.setattr(Connector, "pool", pool)
    monkeypatch.setattr("random.uniform", lambda least, most: least)  # of its pauses
    outages = Outages()
    queue = a_queue(outages)
    queue.held_jobs.add(7)
    if is_away:
        break_off(outages)
    if ends:
        queue.hurry()
    calls = put(JobManager, "finish_job", failing(BROKEN))
    await queue.finish_job(a_job(), Status.SUCCEEDED, True)
    assert (calls.made > 2) == again
    assert (pool.timeout < 5.0) == (not again), "nor is a connection waited for"
    assert queue.held_jobs == set()


@in_virtual_time
async def test_a_job_that_went_to_another_is_not_told_of_again(put: Put) -> None:
    queue = a_queue()
    queue.held_jobs.update({7, 8})
    calls = put(JobManager, "finish_job", failing(WRONG))
    await queue.finish_job(a_job(), Status.SUCCEEDED, True)
    assert (calls.made, queue.held_jobs) == (1, {8})


@in_virtual_time
async def test_jobs_that_are_not_held_here_are_lost(put: Put) -> None:
    queue = a_queue()
    queue.held_jobs.add(7)
    put(JobManager, "list_jobs_async", [a_job(7), a_job(8)])
    assert [job.id for job in await queue.lost_jobs(1)] == [8]


async def test_the_queue_is_never_asked_which_jobs_to_stop() -> None:
    assert list(await a_queue().list_jobs_to_abort_async()) == []


# ---------------------------------------------------------------- a dispatcher without a database


def unconnected(concurrency: int = 1) -> PostgresDispatcher:
    database = SimpleNamespace(outages=Outages(), listener=DEAF, connecting=Connecting())
    store = SimpleNamespace(database=database, stopped_in_waiting=Calls([]))
    its: Any = ("postgresql+psycopg://nobody@/nowhere", store, None, concurrency)
    return PostgresDispatcher(*its, platforms=["slack"])


@pytest.mark.parametrize("concurrency", [0, 1])
async def test_only_a_worker_looks_for_runs_that_others_stopped(concurrency: int) -> None:
    on = unconnected(concurrency)
    await on._attempts.look()
    assert on._store.stopped_in_waiting.made == concurrency  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("concurrency", "workers", "trouble", "advice"),
    [(0, 0, "", NO_WORKERS), (0, 1, "", ""), (1, 1, TAKES_NOTHING, ""), (1, 0, TAKES_NOTHING, "")],
)
async def test_it_tells_what_keeps_runs_from_being_done(
    monkeypatch: pytest.MonkeyPatch, concurrency: int, workers: int, trouble: str, advice: str
) -> None:
    """Here its worker has not yet registered."""
    monkeypatch.setattr(procrastinate_dispatcher, "live_workers", Calls(workers))
    condition = await unconnected(concurrency).condition()
    assert (condition.workers, condition.trouble, condition.advice) == (workers, trouble, advice)


@in_virtual_time
async def test_a_worker_that_broke_is_replaced_until_the_process_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    on = unconnected()
    began = []

    class Breaking:
        def __init__(self, app: object, **how: object) -> None:
            began.append(now())

        async def run(self) -> None:
            if len(began) < 3:
                raise failing(BROKEN if len(began) == 1 else WRONG)
            on._draining = True

    monkeypatch.setattr(procrastinate_dispatcher, "Worker", Breaking)
    begin = now()
    with capture_logs() as lines:
        await on._keep_working()
    assert [moment - begin for moment in began] == [0.0, RESTART_SECONDS, 2 * RESTART_SECONDS]
    assert now() == began[-1], "nothing is waited for at the end"
    assert [line["log_level"] for line in lines] == ["info", "warning"]


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> PostgresDispatcher:
    """A dispatcher whose worker is registered, and whose sweep finds no run."""
    on = unconnected()
    monkeypatch.setattr(on, "_worker", SimpleNamespace(worker_id=1))
    monkeypatch.setattr(on, "_unqueued", Calls([]))
    return on


async def test_a_job_that_nobody_works_on_is_queued_again_unless_it_is_just_being_fetched(
    put: Put, on: PostgresDispatcher
) -> None:
    put(JobManager, "get_stalled_jobs", [])
    put(JobManager, "update_heartbeat", None)
    put(JobManager, "list_jobs_async", [a_job(8)], [a_job(8), a_job(9)])
    finished = put(JobManager, "finish_job_by_id_async", None)
    again = put(JobManager, "defer_job_async", a_job(10))
    for times in (0, 1):
        await on._look_after()
        assert (finished.made, again.made) == (times, times)
    assert again.given["job"].task_kwargs == {"run_id": "r", "failures": 0}


@pytest.mark.parametrize("worker_id", [1, None])
async def test_a_worker_is_heard_of_while_it_finishes_its_last_jobs(
    put: Put, on: PostgresDispatcher, monkeypatch: pytest.MonkeyPatch, worker_id: int | None
) -> None:
    monkeypatch.setattr(on, "_worker", SimpleNamespace(worker_id=worker_id))
    monkeypatch.setattr(on, "_draining", True)
    put(JobManager, "get_stalled_jobs", [])
    put(JobManager, "list_jobs_async", [])
    heartbeats = put(JobManager, "update_heartbeat", None)
    await on._look_after()
    assert heartbeats.made == (worker_id is not None)


async def test_after_an_outage_workers_get_time_to_be_heard_of_again(
    put: Put, on: PostgresDispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = put(JobManager, "get_stalled_jobs", [])
    put(JobManager, "list_jobs_async", [])
    put(JobManager, "update_heartbeat", None)
    for seconds, is_looked in ((0.0, False), (5.75, False), (6.0, True)):
        monkeypatch.setattr("bot.storage.database.monotonic", lambda at=seconds: at)
        if not seconds:
            break_off(on._store.database.outages)
            on._store.database.outages.record_success("queue")
        await on._look_after()
        assert (looked.made > 0) == is_looked


async def test_a_process_that_ends_does_not_wait_for_a_database_that_is_away(
    on: PostgresDispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = SimpleNamespace(timeout=5.0)
    monkeypatch.setattr(Connector, "pool", pool)
    break_off(on._store.database.outages)
    await on.drain(0.0)
    assert pool.timeout == LAST_SECONDS


@pytest.mark.parametrize(
    ("name", "level", "told"),
    [
        ("procrastinate.worker", logging.WARNING, "warning"),
        ("procrastinate", logging.INFO, "debug"),
        ("psycopg.pool", logging.ERROR, "debug"),
    ],
)
def test_what_libraries_log_is_told_once_on_one_line_and_what_outages_tell_is_not(
    caplog: pytest.LogCaptureFixture, name: str, level: int, told: str
) -> None:
    for _ in range(2):
        redirect_library_logs()
    caplog.set_level(logging.DEBUG, name)
    with capture_logs() as lines:
        logging.getLogger(name).log(level, "the connection is lost\nserver closed it")
    assert lines == [{"event": "the connection is lost", "by": name, "log_level": told}]
    assert caplog.records == []
