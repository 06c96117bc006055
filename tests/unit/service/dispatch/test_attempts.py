"""Attempts at runs: their pauses, who a stop and a loss reach, and how fast they begin."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.core.errors import PlatformUnavailable, RunLost, StorageUnavailable
from bot.core.logs import get_logger
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
from tests.fakes.virtual_time import VirtualTimeLoop, in_virtual_time, now
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

    async def until(self, attempts: int) -> None:
        async with asyncio.timeout(60):
            while len(self.seen) < attempts:
                await asyncio.sleep(0.001)


class Asked(Store):
    """Remembers what it was asked."""

    def __init__(self, store: Store) -> None:
        super().__init__(store.database)
        self.asked: list[str] = []

    def __getattribute__(self, name: str) -> Any:
        if name in ("claim", "renew", "standing", "stopped_in_waiting"):
            self.asked.append(name)
        return super().__getattribute__(name)


async def fail(run: RunRecord, stop: asyncio.Event) -> None:
    raise BrokenPipeError("gone")


async def wait_for_ever(run: RunRecord, stop: asyncio.Event) -> None:
    await asyncio.Event().wait()


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
    late = Late(store.database)
    await begun(at_work(late, gate), await accepted(store))
    assert gate.ended == ["a"]
    assert late.claims == 2, "what has ended is not claimed again"


async def test_a_run_of_another_process_is_left_to_it_and_who_waits_for_it_asks_seldom(
    store: Store,
) -> None:
    gate = Gate(store, open=True)
    asked = Asked(store)
    on = at_work(asked, gate)
    elsewhere = await accepted(store, "a")
    await store.claim(elsewhere, ELSEWHERE, datetime.now(UTC), MINUTE)
    async with asyncio.timeout(60):
        await begun(on, elsewhere)
        behind = begun(on, await accepted(store, "b"))
        for text in "cd":
            await begun(on, await accepted(store, text, a_thread(text)))
    assert (gate.ended, asked.asked) == (["c", "d"], ["claim"] * 4)
    behind.cancel()
    await asyncio.wait({behind})


async def test_a_run_is_given_back_although_its_process_ends_meanwhile(store: Store) -> None:
    releasing, free = asyncio.Event(), asyncio.Event()

    class Slow(Store):
        async def release(self, run_id: str, attempt: int) -> None:
            releasing.set()
            await free.wait()
            await super().release(run_id, attempt)

    working = begun(at_work(Slow(store.database), Worked(fail)), await accepted(store))
    await releasing.wait()
    working.cancel()
    for _ in range(9):
        await asyncio.sleep(0)
    assert not working.done(), "the store might be closed"
    free.set()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert await store.may_claim("run-a", ELSEWHERE, datetime.now(UTC))


async def test_lines_of_the_log_tell_which_attempt_they_are_about(store: Store) -> None:
    async def work(run: RunRecord, stop: asyncio.Event) -> None:
        get_logger().warning("found nothing")
        await store.end(run.id, run.attempt, "answered", NOW)

    with capture_logs() as lines:
        await begun(at_work(store, Worked(work)), await accepted(store))
    told = [(line["run"], line["attempt"]) for line in lines if line["event"] == "found nothing"]
    assert told == [("run-a", 1)]


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
    await worked.until(attempts=1)
    on.jobs[run_id].stop.set()
    await Conversations(store.database).edit(
        "terminal", "a", "edited", (), datetime.now(UTC), owner=on.owner, lease=MINUTE
    )
    await on.look_now(run_id)
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


async def test_a_late_look_is_about_the_attempts_that_it_began_with(store: Store) -> None:
    """Here a run was restarted, and another one stopped, while the database did not answer."""
    looking, free = asyncio.Event(), asyncio.Event()

    class Late(Store):
        async def standing(self, run_ids: Collection[str]) -> dict[str, Standing]:
            if not looking.is_set():
                looking.set()
                await free.wait()
            return await super().standing(run_ids)

    async def work(run: RunRecord, stop: asyncio.Event) -> None:
        await stop.wait()
        await store.end(run.id, run.attempt, "stopped", NOW)

    worked = Worked(work)
    on = at_work(Late(store.database), worked)
    restarted, stopped = [begun(on, await accepted(store, it, a_thread(it))) for it in "ab"]
    await worked.until(attempts=2)
    late = asyncio.create_task(on.look())
    await looking.wait()
    await Conversations(store.database).edit(
        "terminal", "a", "edited", (), datetime.now(UTC), owner=on.owner, lease=MINUTE
    )
    await on.look()
    await worked.until(attempts=3)
    await store.request_stop("run-b")
    free.set()
    await late
    await stopped
    assert (on.jobs["run-a"].attempt, on.jobs["run-a"].lost) == (3, False)
    restarted.cancel()
    await asyncio.wait({restarted})


async def test_looking_asks_for_nothing_without_a_reason(store: Store) -> None:
    gate = Gate(store)
    asked = Asked(store)
    on = at_work(asked, gate)
    await on.look()
    assert asked.asked == []
    working = begun(on, await accepted(store))
    await gate.until(lambda: gate.working == 1)
    await on.look()
    assert asked.asked == ["claim", "standing"]
    await gate.let_all()
    await working


async def test_a_run_that_waits_for_one_which_it_had_to_begin_itself_stops_at_once(
    store: Store,
) -> None:
    """As when a queue has taken up a thread's second question first."""
    gate = Gate(store)
    on = at_work(store, gate, Timing(look=0.001))
    await accepted(store, "a")
    working = begun(on, await accepted(store, "b"))
    await gate.until(lambda: gate.started == ["a"])
    await store.request_stop("run-b")
    async with asyncio.timeout(60):
        await working
    assert gate.stopped == gate.ended == ["b"]
    await gate.let_all()
    await gate.until(lambda: gate.ended == ["b", "a"])
    await on.aclose()


async def test_a_stopped_run_is_ended_once_although_it_is_noticed_twice(store: Store) -> None:
    asked = Asked(store)
    gate = Gate(store)
    on = at_work(asked, gate)
    run_id = await accepted(store)
    await store.request_stop(run_id)
    for _ in range(2):
        on.end_out_of_turn(run_id)
    await on.jobs[run_id].ended.wait()
    assert (gate.ended, asked.asked) == (["a"], ["claim"])


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
    asked = Asked(store)

    async def work(run: RunRecord, stop: asyncio.Event) -> None:
        for seconds, times in ((0.0, 0), (19.75, 0), (0.25, 1), (19.75, 1), (0.25, 2)):
            clock.now += seconds
            await still_ours()
            assert asked.asked.count("renew") == times
        await store.end(run.id, run.attempt, "answered", NOW)

    await begun(at_work(asked, Worked(work)), await accepted(store))
    assert (await run_of(store)).state == "answered"


async def test_who_comes_back_after_the_lease_to_a_run_of_another_is_told_so(
    store: Store, clock: Clock
) -> None:
    async def work(run: RunRecord, stop: asyncio.Event) -> None:
        await store.release(run.id, run.attempt)
        await store.claim(run.id, ELSEWHERE, datetime.now(UTC), MINUTE)
        clock.now += 20.0
        with pytest.raises(RunLost):
            await still_ours()
        await still_ours()

    worked = Worked(work)
    on = at_work(store, worked)
    await begun(on, await accepted(store))
    assert len(worked.seen) == 1
    assert (await run_of(store)).attempt == 2, "nothing was restarted here"
    assert on.may_try("run-a"), "nor has it failed"


async def test_nobody_relies_on_a_lease_that_was_not_renewed_or_is_given_back(
    store: Store, clock: Clock
) -> None:
    within: dict[str, contextvars.Context] = {}

    async def work(run: RunRecord, stop: asyncio.Event) -> None:
        within[run.id] = contextvars.copy_context()
        await asyncio.Event().wait()

    async def still(run_id: str) -> None:
        await asyncio.create_task(still_ours(), context=within[run_id])

    worked = Worked(work)
    on = at_work(store, worked)
    working = [begun(on, await accepted(store, it, a_thread(it))) for it in "ab"]
    await worked.until(attempts=2)
    await store.release("run-b", 1)
    await store.claim("run-b", ELSEWHERE, datetime.now(UTC), MINUTE)
    clock.now += 20.0
    await still("run-a")  # which renews all leases
    with pytest.raises(RunLost):
        await still("run-b")
    for task in working:
        task.cancel()
    await asyncio.gather(*working, return_exceptions=True)
    with pytest.raises(RunLost):
        await still("run-a")


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


@pytest.mark.parametrize("is_lost", [False, True])
async def test_a_process_that_ends_waits_for_its_work_and_begins_nothing_anew(
    store: Store, is_lost: bool
) -> None:
    leaving, may_leave = asyncio.Event(), asyncio.Event()

    async def work(run: RunRecord, stop: asyncio.Event) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            leaving.set()
            await may_leave.wait()

    worked = Worked(work)
    on = at_work(store, worked)
    working = begun(on, await accepted(store))
    await worked.until(attempts=1)
    if is_lost:
        on.jobs["run-a"].lose()
    working.cancel()
    await leaving.wait()
    await accepted(store, "b")
    if not is_lost:
        assert not await store.may_claim("run-a", ELSEWHERE, datetime.now(UTC))
    may_leave.set()
    with pytest.raises(asyncio.CancelledError):
        await working
    assert len(worked.seen) == 1
    assert await store.may_claim("run-a", ELSEWHERE, datetime.now(UTC))


async def test_a_process_that_ends_breaks_off_what_it_was_ending(store: Store) -> None:
    worked = Worked(wait_for_ever)
    on = at_work(store, worked)
    run_id = await accepted(store)
    await on.request_stop(run_id)
    await worked.until(attempts=1)
    async with asyncio.timeout(60):
        await on.aclose()
    assert on.jobs == {}
    assert await store.may_claim(run_id, ELSEWHERE, datetime.now(UTC))


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


@in_virtual_time
async def test_without_any_work_nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    pace = Pace()
    keeper = asyncio.create_task(pace.keep())
    await pace.begin()
    await asyncio.sleep(5 * TICK_SECONDS)
    pace.end()
    await asyncio.sleep(5 * TICK_SECONDS)
    timers: list[float] = []
    call_at = loop.call_at

    def counted(when: float, *rest: Any, **more: Any) -> asyncio.TimerHandle:
        timers.append(when)
        return call_at(when, *rest, **more)

    monkeypatch.setattr(loop, "call_at", counted)
    await asyncio.sleep(60)
    assert len(timers) == 1
    keeper.cancel()


@pytest.mark.parametrize("longest", [LONGEST_SECONDS, LONGEST_OF_WORKER])
@in_virtual_time
async def test_a_busy_loop_begins_a_run_now_and_then_and_more_and_more_once_it_is_calm(
    longest: float,
) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualTimeLoop)
    pace = Pace(longest)
    keeper = asyncio.create_task(pace.keep())
    begun: list[float] = []

    async def begin() -> None:
        await pace.begin()
        begun.append(now())

    waiting = [asyncio.create_task(begin()) for _ in range(5 * MOST_AT_ONCE)]
    late = TICK_SECONDS + 2 * LATE_SECONDS
    for _ in range(int(4 * longest / late)):
        loop.advance(late)  # it is held up, as by work
        for _ in range(5):
            await asyncio.sleep(0)
    assert len(begun) == MOST_AT_ONCE + 3
    of_busy = begun[MOST_AT_ONCE - 1 :]
    assert all(longest < after - before < longest + 2 * late for before, after in pairwise(of_busy))
    await asyncio.sleep(5.5 * TICK_SECONDS)
    calm = [len([*each]) for _, each in groupby(begun[len(of_busy) + MOST_AT_ONCE - 1 :])]
    assert calm == [2, 4, 8, 16, MOST_AT_ONCE]
    for task in (keeper, *waiting):
        task.cancel()
