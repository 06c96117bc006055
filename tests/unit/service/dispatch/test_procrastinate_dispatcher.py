"""The queue in PostgreSQL, beyond the contract of all dispatchers."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from bot.core.messages import RunOptions, Thread
from bot.service.dispatch.attempts import Pace, Timing
from bot.service.dispatch.procrastinate_dispatcher import PostgresDispatcher, Queue
from bot.storage.database import at_once
from bot.storage.postgres import Listener
from bot.storage.store import RunRecord, Store, new_owner, open_store
from tests.fakes.gate import Gate
from tests.unit.samples import NOW, a_message, a_thread

QUICK = Timing(look=0.05)
OTHERS_END = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid != pg_backend_pid()"
)


@pytest.fixture
def url(postgres_url: str) -> str:
    return postgres_url


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    store = await open_store(url)
    yield store
    await store.close()


@pytest.fixture
def gate(store: Store) -> Gate:
    return Gate(store, open=True)


def queue(
    url: str,
    store: Store,
    gate: Gate,
    concurrency: int = 2,
    platform: str = "terminal",
) -> PostgresDispatcher:
    return PostgresDispatcher(
        url,
        store,
        gate,
        concurrency,
        platforms=[platform],
        sweep_seconds=0.05,
        timing=QUICK,
    )


async def accept(store: Store, text: str, thread: Thread | None = None) -> str:
    run_id, _ = await store.accept(f"run-{text}", a_message(text, thread), RunOptions(), NOW)
    return run_id


async def execute(store: Store, statement: str, **values: object) -> None:
    async with store.database.write() as db:
        await db.execute(sa.text(statement), values)


async def jobs(store: Store, status: str = "%") -> int:
    query = "SELECT count(*) FROM procrastinate_jobs WHERE CAST(status AS text) LIKE :status"
    async with store.database.read() as db:
        return int(await db.scalar(sa.text(query), {"status": status}) or 0)


async def begin_elsewhere(
    store: Store,
    run_id: str,
    thread: Thread | None = None,
    *,
    quiet_seconds: float,
    owner: str | None,
) -> None:
    """A worker has begun the run's job, and has not been heard of for so long; without an owner it
    had not claimed the run yet."""
    await execute(
        store,
        "WITH worker AS (INSERT INTO procrastinate_workers (last_heartbeat)"
        " VALUES (now() - make_interval(secs => :quiet)) RETURNING id)"
        " INSERT INTO procrastinate_jobs"
        " (queue_name, task_name, lock, queueing_lock, args, status, worker_id)"
        " SELECT 'terminal', 'research', :thread, :run,"
        " jsonb_build_object('run_id', CAST(:run AS text), 'failures', 0), 'doing', id FROM worker",
        quiet=quiet_seconds,
        thread=(thread or a_thread()).key,
        run=run_id,
    )
    if owner is not None:
        await store.claim(run_id, owner, datetime.now(UTC), timedelta(seconds=20 - quiet_seconds))


def gone() -> str:
    """The name of a process of this host that runs no more."""
    place, _, _ = new_owner().rsplit("/", 2)
    return f"{place}/999999/x"


@pytest.mark.parametrize(
    ("quiet", "owner"),
    [(25.0, "another-host/1/x"), (8.0, gone()), (8.0, None)],
    ids=["silent for long", "known to be gone", "that had not claimed it yet"],
)
async def test_the_job_of_a_dead_worker_goes_to_another_and_its_thread_goes_on(
    url: str, store: Store, gate: Gate, quiet: float, owner: str | None
) -> None:
    run_id = await accept(store, "a")
    await begin_elsewhere(store, run_id, quiet_seconds=quiet, owner=owner)
    async with queue(url, store, gate) as dispatcher:
        await dispatcher.submit(await accept(store, "b"), a_thread())
        await gate.until(lambda: gate.ended == ["a", "b"])
    assert await jobs(store, "failed") == 0


async def test_the_job_of_a_worker_that_is_silent_for_a_moment_is_left_to_it(
    url: str, store: Store, gate: Gate
) -> None:
    await begin_elsewhere(
        store, await accept(store, "a"), quiet_seconds=8.0, owner="another-host/1/x"
    )
    elsewhere = a_thread("elsewhere")
    await begin_elsewhere(
        store, await accept(store, "c", elsewhere), elsewhere, quiet_seconds=8.0, owner=gone()
    )
    async with queue(url, store, gate) as dispatcher:
        await dispatcher.submit(await accept(store, "b"), a_thread())
        await gate.until(lambda: gate.ended == ["c"])
        assert gate.started == ["c"]


async def test_nothing_is_left_in_the_queue_of_what_has_ended(
    url: str, store: Store, gate: Gate
) -> None:
    """A round of the queue that saw a run before it began may queue it again after its end; a
    worker takes that job, too, and drops it."""
    async with queue(url, store, gate) as dispatcher, asyncio.timeout(30):
        for text in "ab":
            await dispatcher.submit(await accept(store, text), a_thread())
        await gate.until(lambda: gate.ended == ["a", "b"])
        while await jobs(store) > 0:
            await asyncio.sleep(0.01)
    assert gate.started == ["a", "b"]


async def test_a_run_that_fails_again_and_again_is_queued_anew_for_longer_each_time(
    url: str, store: Store
) -> None:
    """And first in its thread, whatever came after it."""

    class Failing(Gate):
        async def answer(self, run: RunRecord, stop: asyncio.Event) -> None:
            await self._tell(lambda: self.tried.append(run.message.text))
            raise BrokenPipeError("gone")

    gate = Failing(store)
    slow = Timing(look=0.05, first_retry=600.0, last_retry=10_000.0)
    query = sa.text(
        "SELECT extract(epoch FROM scheduled_at - now()) AS wait, priority"
        " FROM procrastinate_jobs WHERE status = 'todo' AND scheduled_at IS NOT NULL"
    )
    async with PostgresDispatcher(
        url, store, gate, 2, platforms=["terminal"], timing=slow
    ) as dispatcher:
        await dispatcher.submit(await accept(store, "a"), a_thread())
        for tries, wait in ((1, 600.0), (2, 1_200.0)):
            await gate.until(lambda tries=tries: len(gate.tried) == tries)  # type: ignore[misc]
            async with asyncio.timeout(60):
                while True:
                    async with store.database.read() as db:
                        if queued := (await db.execute(query)).all():
                            break
                    await asyncio.sleep(0.01)
            ((left, priority),) = queued
            assert wait - 30.0 < float(left) < wait + 1.0
            assert priority > 0
            await execute(store, "UPDATE procrastinate_jobs SET scheduled_at = NULL")


async def queued(store: Store) -> list[tuple[str, str, int, bool]]:
    """Waiting jobs: their runs, threads and priorities, and whether they may begin at once."""
    query = (
        "SELECT queueing_lock, lock, priority, scheduled_at IS NULL FROM procrastinate_jobs"
        " WHERE status = 'todo'"
    )
    async with store.database.read() as db:
        return [(*row,) for row in await db.execute(sa.text(query))]


async def test_what_a_worker_that_ends_did_not_finish_is_queued_first_in_its_thread(
    url: str, store: Store, gate: Gate
) -> None:
    gate.open = False
    signals = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    async with queue(url, store, gate) as dispatcher:
        await dispatcher.submit(await accept(store, "a"), a_thread())
        await gate.until(lambda: gate.started == ["a"])
        assert signals == [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    assert await queued(store) == [("run-a", a_thread().key, 1, True)]


class Busy(Pace):
    """Begins one run at a time."""

    async def ready(self) -> None:
        while self._working:
            await asyncio.sleep(0.01)


async def test_what_a_busy_worker_cannot_begin_stays_in_the_queue_for_others(
    url: str, store: Store, gate: Gate
) -> None:
    gate.open = False
    elsewhere = a_thread("elsewhere")
    async with PostgresDispatcher(
        url, store, gate, 2, platforms=["terminal"], timing=QUICK, pace=Busy()
    ) as busy:
        await busy.submit(await accept(store, "a"), a_thread())
        await gate.until(lambda: gate.started == ["a"])
        await busy.submit(await accept(store, "b", elsewhere), elsewhere)
        async with queue(url, store, gate):
            await gate.until(lambda: gate.started == ["a", "b"])
            assert (await busy.condition()).working == 1
            await gate.let_all()
            await gate.until(lambda: sorted(gate.ended) == ["a", "b"])
        await busy.submit(await accept(store, "c"), a_thread())
        await gate.until(lambda: gate.ended[2:] == ["c"])


async def test_a_process_that_only_listens_queues_and_leaves_the_work_to_others(
    url: str, store: Store, gate: Gate
) -> None:
    async with queue(url, store, gate, concurrency=0) as listener:
        await listener.submit(await accept(store, "a"), a_thread())
    assert await queued(store) == [("run-a", a_thread().key, 0, True)]
    assert gate.started == []
    async with queue(url, store, gate):
        await gate.until(lambda: gate.ended == ["a"])


async def test_nobody_waits_until_a_question_is_queued_and_leaving_does(
    url: str, store: Store, gate: Gate
) -> None:
    async with queue(url, store, gate, concurrency=0) as listener:
        run_id = await accept(store, "a")
        async with store.database.write() as db:
            await db.execute(sa.text("LOCK TABLE procrastinate_jobs IN ACCESS EXCLUSIVE MODE"))
            await listener.submit(run_id, a_thread())
            assert await db.scalar(sa.text("SELECT count(*) FROM procrastinate_jobs")) == 0
    assert await jobs(store) == 1


async def test_what_waits_is_stopped_even_where_there_is_no_worker(
    url: str, store: Store, gate: Gate
) -> None:
    async with queue(url, store, gate, concurrency=0) as listener:
        run_id = await accept(store, "a")
        await listener.submit(run_id, a_thread())
        await listener.stop(run_id)
    assert gate.stopped == ["a"]


async def test_runs_of_platforms_that_it_cannot_post_in_are_left_to_others(
    url: str, store: Store, gate: Gate
) -> None:
    async with queue(url, store, gate, platform="slack") as other:
        await other.submit(await accept(store, "a"), a_thread())
        in_slack = Thread("slack", "w", "c", "t")
        await other.submit(await accept(store, "b", in_slack), in_slack)
        await gate.until(lambda: gate.ended == ["b"])
        assert await other.resume() == []
    assert gate.started == ["b"]


async def test_a_worker_that_lost_its_database_connections_works_on(
    url: str, store: Store, gate: Gate
) -> None:
    async with queue(url, store, gate) as dispatcher:
        await dispatcher.submit(await accept(store, "a"), a_thread())
        await gate.until(lambda: gate.ended == ["a"])
        await execute(store, OTHERS_END)
        async with asyncio.timeout(60):
            await dispatcher.submit(await accept(store, "b"), a_thread())
            await gate.until(lambda: gate.ended == ["a", "b"])


async def test_a_run_queued_before_its_worker_listens_begins_once_it_does(
    url: str, store: Store, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    listen, fetch = Listener._listen, Queue.fetch_job
    fetched, free = asyncio.Event(), asyncio.Event()

    async def listen_late(self: Listener, hearers: Any) -> None:
        await free.wait()
        await listen(self, hearers)

    async def fetch_one(self: Queue, *given: Any, **named: Any) -> Any:
        job = await fetch(self, *given, **named)
        fetched.set()
        return job

    monkeypatch.setattr(Listener, "_listen", listen_late)
    monkeypatch.setattr(Queue, "fetch_job", fetch_one)
    async with PostgresDispatcher(
        url, store, gate, 2, platforms=["terminal"], timing=QUICK, poll_seconds=600.0
    ) as dispatcher:
        await fetched.wait()
        await dispatcher.submit(await accept(store, "a"), a_thread())
        while await jobs(store) == 0:
            await asyncio.sleep(0.01)
        free.set()
        await gate.until(lambda: gate.ended == ["a"])


async def test_notifications_come_again_after_their_connection_broke(
    url: str, store: Store, gate: Gate
) -> None:
    async with queue(url, store, gate):
        first = await listening(store)
        await execute(store, "SELECT pg_terminate_backend(:pid)", pid=first)
        assert await listening(store, other_than=first) != first


async def test_a_job_that_the_queue_gave_without_our_being_told_is_done(
    url: str, store: Store, gate: Gate
) -> None:
    """As when the connection breaks between the commit of a fetch and its answer."""
    async with queue(url, store, gate) as dispatcher:
        await listening(store)
        run_id = await accept(store, "a")
        await execute(
            store,
            "INSERT INTO procrastinate_jobs"
            " (queue_name, task_name, lock, queueing_lock, args, status, worker_id)"
            " SELECT 'terminal', 'research', :thread, :run,"
            " jsonb_build_object('run_id', CAST(:run AS text), 'failures', 0), 'doing', id"
            " FROM procrastinate_workers"
            " ON CONFLICT DO NOTHING",  # the sweep was faster, and has queued it itself
            thread=a_thread().key,
            run=run_id,
        )
        await dispatcher.submit(await accept(store, "b"), a_thread())
        await gate.until(lambda: gate.ended == ["a", "b"])


async def test_a_worker_that_was_struck_off_in_its_absence_registers_again(
    url: str, store: Store, gate: Gate
) -> None:
    async with queue(url, store, gate) as dispatcher:
        await listening(store)
        await execute(store, "DELETE FROM procrastinate_workers")
        await dispatcher.submit(await accept(store, "a"), a_thread())
        await gate.until(lambda: gate.ended == ["a"])
        async with store.database.read() as db:
            known = await db.scalar(sa.text("SELECT count(*) FROM procrastinate_workers"))
        assert known == 1


async def test_what_is_being_worked_on_goes_on_while_the_queue_cannot_be_reached(
    url: str, store: Store, gate: Gate
) -> None:
    gate.open = False
    async with queue(url, store, gate) as dispatcher:
        await dispatcher.submit(await accept(store, "a"), a_thread())
        await gate.until(lambda: gate.started == ["a"])
        first = await listening(store)
        with capture_logs() as lines:
            for _ in range(3):
                await at_once(lambda: execute(store, OTHERS_END))  # which may end its own, too
            await at_once(lambda: listening(store, other_than=first))
        await gate.let_all()
        await gate.until(lambda: gate.ended == ["a"])
        assert gate.started == ["a"], "it was begun once"
    assert [line for line in lines if line["log_level"] == "error"] == []


async def listening(store: Store, *, other_than: int = 0) -> int:
    """The process of the connection that waits for notifications, once there is one."""
    query = (
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
        " AND query LIKE 'LISTEN%' AND state = 'idle' AND pid != :other"
    )
    async with asyncio.timeout(60):
        while True:
            async with store.database.read() as db:
                pid = await db.scalar(sa.text(query), {"other": other_than})
            if pid is not None:
                return int(pid)
            await asyncio.sleep(0.02)
