"""Attempts at runs: their pauses, who a stop and a loss reach, and how fast they begin."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.core.errors import PlatformUnavailable, RunLost, StorageUnavailable
from bot.core.messages import RunOptions, Thread
from bot.core.posting import still_ours
from bot.service.dispatch import attempts
from bot.service.dispatch.attempts import (
    LATE_SECONDS,
    LONGEST_OF_WORKER,
    LONGEST_SECONDS,
    MOST_AT_ONCE,
    TICK_SECONDS,
    Attempts,
    Job,
    Pace,
    Timing,
)
from bot.storage.conversations import Conversations
from bot.storage.store import RunRecord, Standing, Store, open_store
from tests.fakes import sqlite
from tests.fakes.gate import Gate
from tests.fakes.virtual_time import in_virtual_time
from tests.unit.samples import NOW, a_message, a_thread

NEVER = Timing(renew=600.0, look=600.0)
ELSEWHERE = "another-host/1/x"
MINUTE = timedelta(minutes=1)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await open_store(sqlite.migrated(tmp_path))
    yield store
    await store.close()


@dataclass
class Clock:
    """The clock of attempts, which a test moves on."""

    now: float = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(attempts, "_clock", clock)
    return clock


@dataclass
class Worked:
    """An executor that does with each attempt at a run what a test says."""

    does: Callable[[RunRecord, asyncio.Event], Awaitable[None]]
    seen: list[tuple[int, bool]] = field(default_factory=list)

    async def answer(self, run: RunRecord, stop: asyncio.Event) -> None:
        self.seen.append((run.attempt, stop.is_set()))
        await self.does(run, stop)


async def accepted(store: Store, text: str = "a", thread: Thread | None = None) -> str:
    message = a_message(text, thread, event_id=text)
    run_id, _ = await store.accept(f"run-{text}", message, RunOptions(), NOW)
    return run_id


def at_work(
    store: Store, executor: Gate | Worked, timing: Timing = NEVER, platforms: tuple[str, ...] = ()
) -> Attempts:
    return Attempts(store, executor, frozenset(platforms), timing)


def begun(on: Attempts, run_id: str) -> asyncio.Task[None]:
    job = on.jobs[run_id] = Job(run_id)
    return asyncio.create_task(on.work(job))


async def run_of(store: Store, run_id: str = "run-a") -> RunRecord:
    run = await store.run(run_id)
    assert run is not None
    return run


# ---------------------------------------------------------------- failing


@pytest.mark.parametrize(
    ("failures", "seconds"),
    [(1, 2.0), (2, 4.0), (3, 8.0), (8, 256.0), (9, 300.0), (10_000, 300.0)],
)
def test_the_pause_doubles_with_each_failure_up_to_a_limit(failures: int, seconds: float) -> None:
    assert Timing().pause(failures, OSError("gone")) == seconds


@pytest.mark.parametrize(
    ("asked", "seconds"), [(None, 4.0), (0.0, 4.0), (1.0, 4.0), (9.0, 9.0), (600.0, 600.0)]
)
def test_the_pause_is_as_long_as_a_peer_asks_and_no_shorter_for_it(
    asked: float | None, seconds: float
) -> None:
    error = PlatformUnavailable("Slack is rate limiting.", retry_after=asked)
    assert Timing().pause(2, error) == seconds


async def test_a_run_that_failed_is_left_in_peace_for_its_pause(store: Store, clock: Clock) -> None:
    async def fail(run: RunRecord, stop: asyncio.Event) -> None:
        raise BrokenPipeError("gone")

    on = at_work(store, Worked(fail))
    run_id = await accepted(store)
    for pause in (2.0, 4.0, 8.0):
        assert on.may_try(run_id)
        job = on.jobs[run_id] = Job(run_id)
        with pytest.raises(BrokenPipeError):
            await on.work(job)
        assert (job.ended.is_set(), on.jobs) == (True, {})
        assert isinstance(job.error, BrokenPipeError)
        clock.now += pause - 0.25
        assert not on.may_try(run_id)
        clock.now += 0.25
    assert on.may_try("another")
    assert await store.may_claim(run_id, ELSEWHERE, datetime.now(UTC)), "it was given back"


async def test_a_run_that_ended_has_no_failures(store: Store, clock: Clock) -> None:
    async def fail_once(run: RunRecord, stop: asyncio.Event) -> None:
        if run.attempt == 1:
            raise BrokenPipeError("gone")
        await store.end(run.id, run.attempt, "answered", NOW)

    on = at_work(store, Worked(fail_once), replace(NEVER, first_retry=600.0, last_retry=600.0))
    run_id = await accepted(store)
    with pytest.raises(BrokenPipeError):
        await begun(on, run_id)
    assert not on.may_try(run_id)
    await begun(on, run_id)
    assert on.may_try(run_id)


async def test_a_run_whose_thread_is_free_just_now_is_claimed(store: Store) -> None:
    """The run before it ended between the claim that failed and the look at what is before."""

    class Late(Store):
        claims = 0

        async def claim(
            self, run_id: str, owner: str, now: datetime, lease: timedelta
        ) -> RunRecord | None:
            self.claims += 1
            return None if self.claims == 1 else await super().claim(run_id, owner, now, lease)

    gate = Gate(store, open=True)
    run_id = await accepted(store)
    await begun(at_work(Late(store.database), gate), run_id)
    assert gate.ended == ["a"]


# ---------------------------------------------------------------- stopping


async def test_a_run_that_was_to_stop_before_it_began_is_told_so(store: Store) -> None:
    gate = Gate(store)
    run_id = await accepted(store)
    await store.request_stop(run_id)
    await begun(at_work(store, gate), run_id)
    assert (gate.stopped, (await run_of(store)).state) == (["a"], "stopped")


async def test_a_stop_reaches_the_work_also_while_the_database_is_away(store: Store) -> None:
    class Away(Store):
        async def request_stop(self, run_id: str) -> None:
            raise StorageUnavailable("The database cannot be reached: check that it runs.")

    gate = Gate(store)
    on = at_work(Away(store.database), gate)
    working = begun(on, await accepted(store))
    await gate.until(lambda: gate.working == 1)
    await on.request_stop("run-a")
    await working
    assert gate.stopped == ["a"]


async def test_a_stop_is_for_the_attempt_that_it_reached_and_not_for_the_next(store: Store) -> None:
    """Here the question was edited while its run was being stopped."""

    async def work(run: RunRecord, stop: asyncio.Event) -> None:
        if run.attempt == 1:
            await asyncio.Event().wait()
        await store.end(run.id, run.attempt, "answered", NOW)

    worked = Worked(work)
    on = at_work(store, worked)
    run_id = await accepted(store)
    working = begun(on, run_id)
    async with asyncio.timeout(60):
        while not worked.seen:
            await asyncio.sleep(0.001)
    on.jobs[run_id].stop.set()
    await Conversations(store.database).edit(
        "terminal", "a", "edited", (), datetime.now(UTC), owner=on.owner, lease=MINUTE
    )
    await on.look()
    await working
    assert [is_stopped for _, is_stopped in worked.seen] == [False, False]
    assert (await run_of(store)).state == "answered"


async def test_looking_finds_what_others_stopped_and_what_they_took_over(store: Store) -> None:
    gate = Gate(store)
    on = at_work(store, gate)
    work = {}
    for text in "abc":
        work[text] = begun(on, await accepted(store, text, a_thread(text)))
    await gate.until(lambda: gate.working == 3)
    assert on.working == 3
    await store.request_stop("run-a")
    await store.release("run-b", 1)
    await store.claim("run-b", ELSEWHERE, datetime.now(UTC), MINUTE)
    await on.look()
    await asyncio.gather(work["a"], work["b"])
    assert (gate.stopped, gate.ended, on.working) == (["a"], ["a"], 1)
    await gate.let_all()
    await work["c"]
    assert (gate.ended, on.working) == (["a", "c"], 0)


@pytest.mark.parametrize(("platforms", "ended"), [(("terminal",), ["a"]), (("slack",), [])])
async def test_what_waits_elsewhere_is_stopped_by_who_can_post_where_it_was_asked(
    store: Store, platforms: tuple[str, ...], ended: list[str]
) -> None:
    gate = Gate(store)
    on = at_work(store, gate, platforms=platforms)
    await store.request_stop(await accepted(store))
    await on.look()
    jobs = list(on.jobs.values())
    for job in jobs:
        await job.ended.wait()
    assert gate.ended == ended


async def test_a_stopped_run_that_cannot_be_ended_is_tried_again_after_its_pause(
    store: Store, clock: Clock
) -> None:
    async def fail(run: RunRecord, stop: asyncio.Event) -> None:
        raise BrokenPipeError("gone")

    worked = Worked(fail)
    on = at_work(store, worked, platforms=("terminal",))
    await store.request_stop(await accepted(store))
    for seconds, tried in ((0.0, 1), (1.0, 1), (1.0, 2)):
        clock.now += seconds
        await on.look()
        for job in list(on.jobs.values()):
            await job.ended.wait()
        assert len(worked.seen) == tried


# ---------------------------------------------------------------- holding


async def test_who_is_sure_to_hold_a_run_asks_nobody_and_later_the_database(
    store: Store, clock: Clock
) -> None:
    asked: list[str] = []

    class Asked(Store):
        async def renew(self, owner: str, run_ids: object, until: datetime) -> set[tuple[str, int]]:
            asked.append(owner)
            return await super().renew(owner, run_ids, until)  # type: ignore[arg-type]

    async def work(run: RunRecord, stop: asyncio.Event) -> None:
        for seconds, times in ((0.0, 0), (19.75, 0), (0.25, 1), (19.75, 1), (0.25, 2)):
            clock.now += seconds
            await still_ours()
            assert len(asked) == times
        await store.end(run.id, run.attempt, "answered", NOW)

    await begun(at_work(Asked(store.database), Worked(work)), await accepted(store))
    assert (await run_of(store)).state == "answered"


async def test_who_comes_back_after_the_lease_to_a_run_of_another_is_told_so(
    store: Store, clock: Clock
) -> None:
    lost: list[RunLost] = []

    async def work(run: RunRecord, stop: asyncio.Event) -> None:
        await store.release(run.id, run.attempt)
        await store.claim(run.id, ELSEWHERE, datetime.now(UTC), MINUTE)
        clock.now += 20.0
        for _ in range(2):
            with pytest.raises(RunLost) as raised:
                await still_ours()
            lost.append(raised.value)

    await begun(at_work(store, Worked(work)), await accepted(store))
    assert len(lost) == 2
    assert (await run_of(store)).attempt == 2, "nothing was restarted here"


async def test_leases_are_prolonged_every_so_often(store: Store, clock: Clock) -> None:
    looked = asyncio.Semaphore(0)

    class Watched(Store):
        async def standing(self, run_ids: Collection[str]) -> dict[str, Standing]:
            looked.release()
            return await super().standing(run_ids)

    gate = Gate(store)
    on = at_work(Watched(store.database), gate, Timing(look=0.001, renew=5.0))
    working = begun(on, await accepted(store))
    await gate.until(lambda: gate.working == 1)
    job = on.jobs["run-a"]
    begin = job.sure_until
    on.keep()
    async with asyncio.timeout(60):
        for seconds, later in ((4.75, 0.0), (0.25, 5.0), (4.75, 5.0), (0.25, 10.0)):
            clock.now += seconds
            for _ in range(3):  # the second look begins after the first one's renewing
                await looked.acquire()
            assert job.sure_until == begin + later
    held = datetime.now(UTC) + timedelta(seconds=19)
    assert not await store.may_claim("run-a", ELSEWHERE, held)
    await gate.let_all()
    await working
    await on.aclose()


async def test_a_process_that_ends_breaks_off_what_it_was_ending(store: Store) -> None:
    async def work(run: RunRecord, stop: asyncio.Event) -> None:
        await asyncio.Event().wait()

    worked = Worked(work)
    on = at_work(store, worked)
    run_id = await accepted(store)
    await on.request_stop(run_id)
    async with asyncio.timeout(60):
        while not worked.seen:
            await asyncio.sleep(0.001)
        await on.aclose()
    assert on.jobs == {}
    assert await store.may_claim(run_id, ELSEWHERE, datetime.now(UTC))


async def number_begun(pace: Pace, wanted: int, seconds: float) -> int:
    """The number of runs that have begun after some time."""
    tasks = [asyncio.create_task(pace.begin()) for _ in range(wanted)]
    done, late = await asyncio.wait(tasks, timeout=seconds)
    for task in late:
        task.cancel()
    return len(done)


async def test_a_calm_loop_begins_many_at_once() -> None:
    assert await number_begun(Pace(), MOST_AT_ONCE, 1.0) == MOST_AT_ONCE


async def test_without_any_work_the_next_run_begins_at_once() -> None:
    pace = Pace()
    for _ in range(3 * MOST_AT_ONCE):  # nobody measures: only an idle pace lets these through
        await asyncio.wait_for(pace.begin(), 60.0)
        pace.end()


async def test_waiting_runs_begin_when_the_work_ends() -> None:
    pace = Pace()
    for _ in range(MOST_AT_ONCE):
        await pace.begin()
    waiting = asyncio.create_task(pace.begin())
    await asyncio.sleep(0)
    assert not waiting.done()
    for _ in range(MOST_AT_ONCE):
        pace.end()
    await asyncio.wait_for(waiting, 60.0)


async def test_a_calm_loop_lets_on_who_waits() -> None:
    pace = Pace()
    keeper = asyncio.create_task(pace.keep())
    assert await number_begun(pace, 3 * MOST_AT_ONCE, 20.0) == 3 * MOST_AT_ONCE
    keeper.cancel()


@in_virtual_time
async def test_with_each_calm_tick_as_many_begin_as_may_at_once() -> None:
    pace = Pace()
    keeper = asyncio.create_task(pace.keep())
    assert await number_begun(pace, 9 * MOST_AT_ONCE, 2.5 * TICK_SECONDS) == 3 * MOST_AT_ONCE
    keeper.cancel()


@pytest.mark.parametrize(
    ("longest", "least", "most"), [(LONGEST_SECONDS, 1, 1), (LONGEST_OF_WORKER / 2, 2, 5)]
)
async def test_a_busy_loop_begins_a_run_now_and_then_while_there_is_work(
    longest: float, least: int, most: int
) -> None:
    pace = Pace(longest)
    keeper = asyncio.create_task(pace.keep())

    async def hog() -> None:
        while True:
            time.sleep(TICK_SECONDS + 2 * LATE_SECONDS)  # holds the loop up, as work does
            await asyncio.sleep(0)

    busy = asyncio.create_task(hog())
    await asyncio.sleep(5 * TICK_SECONDS)  # until it was measured
    assert least <= await number_begun(pace, MOST_AT_ONCE, 0.5) <= most
    busy.cancel()
    keeper.cancel()
