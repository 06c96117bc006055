"""The contract of every dispatcher: order in a thread, threads in parallel, a bound, stop, resume.

A new dispatcher starts here: add it to ``DISPATCHERS``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bot.core.errors import PlatformUnavailable, StorageUnavailable
from bot.core.messages import RunOptions, Thread
from bot.service.dispatch.attempts import Executor, Timing
from bot.service.dispatch.dispatcher import Dispatcher, LocalDispatcher
from bot.service.dispatch.procrastinate_dispatcher import PostgresDispatcher
from bot.storage.conversations import Conversations
from bot.storage.store import RunRecord, Store, open_store
from tests.fakes import sqlite
from tests.fakes.gate import Gate
from tests.unit.samples import NOW, a_message, a_thread

CONCURRENCY = 3
QUICK = Timing(look=0.05)
SERVING = {"sweep_seconds": 0.05}
NO_TIME = timedelta(0)

Open = Callable[..., AbstractAsyncContextManager[Dispatcher]]


def local(url: str, store: Store, gate: Executor, **options: Any) -> LocalDispatcher:
    return LocalDispatcher(
        store, gate, CONCURRENCY, **{"platforms": ["terminal"], "timing": QUICK, **options}
    )


def postgres(url: str, store: Store, gate: Executor, **options: Any) -> PostgresDispatcher:
    return PostgresDispatcher(
        url, store, gate, CONCURRENCY, **{"platforms": ["terminal"], "timing": QUICK, **options}
    )


# What to open, and on which database.
DISPATCHERS: dict[str, tuple[Open, str]] = {
    "local-sqlite": (local, "sqlite"),
    "local-postgres": (local, "postgres"),
    "postgres": (postgres, "postgres"),
}


@pytest.fixture(params=DISPATCHERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def url(request: pytest.FixtureRequest, name: str, tmp_path: Path) -> str:
    if DISPATCHERS[name][1] == "sqlite":
        return sqlite.migrated(tmp_path)
    lent: str = request.getfixturevalue("postgres_url")
    return lent


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    store = await open_store(url)
    yield store
    await store.close()


@pytest.fixture
def gate(store: Store) -> Gate:
    return Gate(store)


@pytest.fixture
def open_one(name: str, url: str, store: Store) -> Open:
    """Opens a dispatcher: a process of its own, as far as the store can tell."""
    return partial(DISPATCHERS[name][0], url, store)


@pytest.fixture
async def dispatcher(open_one: Open, gate: Gate) -> AsyncIterator[Dispatcher]:
    async with open_one(gate) as dispatcher:
        yield dispatcher


Ask = Callable[[str, Thread], Awaitable[str]]


@pytest.fixture
def ask(store: Store, dispatcher: Dispatcher) -> Ask:
    async def accept_and_submit(text: str, thread: Thread) -> str:
        run_id, _ = await store.accept(
            f"run-{text}",
            a_message(text, thread, event_id=text),
            RunOptions(),
            NOW,
            owner=dispatcher.owner,
        )
        await dispatcher.submit(run_id, thread)
        return run_id

    return accept_and_submit


async def state_of(store: Store, run_id: str) -> str:
    run = await store.run(run_id)
    assert run is not None
    return run.state


async def test_runs_of_one_thread_execute_one_after_another_in_order(gate: Gate, ask: Ask) -> None:
    for text in "abc":
        await ask(text, a_thread())
    for text in "abc":
        await gate.until(lambda: gate.working == 1)
        assert gate.started[-1] == text
        await gate.let(text)
        await gate.until(lambda text=text: text in gate.ended)  # type: ignore[misc]
    assert (gate.started, gate.most) == (["a", "b", "c"], 1)


async def test_threads_execute_in_parallel_up_to_the_bound(gate: Gate, ask: Ask) -> None:
    texts = [str(number) for number in range(8)]
    for text in texts:
        await ask(text, a_thread(text))
    await gate.until(lambda: gate.working == CONCURRENCY)
    await gate.let_all()
    await gate.until(lambda: len(gate.ended) == len(texts))
    assert gate.most == CONCURRENCY


async def test_a_run_submitted_twice_executes_once(
    gate: Gate, ask: Ask, dispatcher: Dispatcher
) -> None:
    run_id = await ask("a", a_thread())
    await dispatcher.submit(run_id, a_thread())
    await gate.let_all()
    await gate.until(lambda: gate.ended == ["a"])
    await dispatcher.submit(run_id, a_thread())
    await dispatcher.wait(run_id)
    assert gate.started == ["a"]


async def test_a_working_run_stops_and_only_then_the_thread_goes_on(
    gate: Gate, ask: Ask, store: Store, dispatcher: Dispatcher
) -> None:
    run_id = await ask("a", a_thread())
    await ask("b", a_thread())
    await gate.until(lambda: gate.working == 1)
    await dispatcher.submit(run_id, a_thread())  # which changes nothing
    await dispatcher.stop(run_id)
    assert gate.stopped == ["a"]
    assert await state_of(store, run_id) == "stopped"
    await gate.until(lambda: gate.started == ["a", "b"])


async def test_a_queued_run_that_is_stopped_ends_at_once_and_the_others_stay_in_order(
    gate: Gate, ask: Ask, store: Store, dispatcher: Dispatcher
) -> None:
    await ask("a", a_thread())
    run_id = await ask("b", a_thread())
    await ask("c", a_thread())
    await gate.until(lambda: gate.working == 1)
    await dispatcher.stop(run_id)
    assert (gate.stopped, gate.ended) == (["b"], ["b"])
    assert await state_of(store, run_id) == "stopped"
    await gate.let_all()
    await gate.until(lambda: len(gate.ended) == 3)
    assert gate.ended == ["b", "a", "c"]


async def test_stopping_or_waiting_for_a_run_that_has_ended_returns_at_once(
    gate: Gate, ask: Ask, store: Store, dispatcher: Dispatcher
) -> None:
    await dispatcher.wait("nobodys")
    run_id = await ask("a", a_thread())
    await gate.let_all()
    await gate.until(lambda: gate.ended == ["a"])
    await dispatcher.wait(run_id)
    for run in (run_id, "nobodys"):
        await dispatcher.stop(run)
        await dispatcher.wait(run)
    assert await state_of(store, run_id) == "answered"


async def test_a_run_waits_for_the_one_before_it_in_another_process(
    gate: Gate, ask: Ask, store: Store, dispatcher: Dispatcher
) -> None:
    elsewhere, _ = await store.accept("run-a", a_message("a"), RunOptions(), NOW)
    await store.claim(elsewhere, "another-host/1/x", datetime.now(UTC), timedelta(seconds=30))
    await ask("b", a_thread())
    await ask("other", a_thread("other"))
    await gate.let_all()
    await gate.until(lambda: gate.ended == ["other"])
    assert "b" not in gate.started
    await store.end(elsewhere, 1, "answered", NOW)
    await gate.until(lambda: gate.ended == ["other", "b"])


async def test_a_run_that_a_dead_process_left_is_done_before_the_next_of_its_thread(
    gate: Gate, ask: Ask, store: Store
) -> None:
    await store.accept("run-a", a_message("a"), RunOptions(), NOW)
    await store.claim("run-a", "another-host/1/x", NOW, timedelta(seconds=30))
    await ask("b", a_thread())
    await gate.let_all()
    await gate.until(lambda: gate.ended == ["a", "b"])


async def test_a_stop_asked_for_by_another_process_is_seen(
    gate: Gate, ask: Ask, store: Store
) -> None:
    await ask("a", a_thread())
    await ask("b", a_thread())
    await gate.until(lambda: gate.working == 1)
    for text in "ba":  # one waits for its turn
        await store.request_stop(f"run-{text}")
        await gate.until(lambda text=text: text in gate.ended)  # type: ignore[misc]
    assert gate.stopped == ["b", "a"]


async def test_unfinished_runs_are_resumed_oldest_first(
    gate: Gate, store: Store, dispatcher: Dispatcher
) -> None:
    for text in "abc":
        await store.accept(f"run-{text}", a_message(text), RunOptions(), NOW)
    await store.claim("run-a", "another-host/1/x", NOW - timedelta(hours=1), timedelta(seconds=30))
    assert await dispatcher.resume() == ["run-a", "run-b", "run-c"]
    await gate.let_all()
    await gate.until(lambda: gate.ended == ["a", "b", "c"])


async def test_a_run_that_another_process_works_on_is_left_to_it(
    gate: Gate, ask: Ask, store: Store, dispatcher: Dispatcher
) -> None:
    run_id, _ = await store.accept("run-a", a_message("a"), RunOptions(), NOW)
    await store.claim(run_id, "another-host/1/x", datetime.now(UTC), timedelta(seconds=30))
    assert await dispatcher.resume() == []
    await dispatcher.submit(run_id, a_thread())
    await gate.let_all()
    await ask("later", a_thread("other"))
    await gate.until(lambda: gate.ended == ["later"])
    assert gate.started == ["later"]


async def test_draining_gives_working_runs_back_and_starts_no_more(
    gate: Gate, ask: Ask, store: Store, dispatcher: Dispatcher
) -> None:
    first = await ask("a", a_thread())
    second = await ask("b", a_thread())
    await gate.until(lambda: gate.working == 1)
    await dispatcher.drain(0.0)
    assert gate.working == 0
    assert gate.ended == []
    free = await store.unfinished(datetime.now(UTC))
    assert [run.id for run in free] == [first, second]


async def test_draining_with_time_lets_working_runs_end(
    gate: Gate, ask: Ask, store: Store, dispatcher: Dispatcher
) -> None:
    texts = [str(number) for number in range(CONCURRENCY)]
    for text in texts:
        await ask(text, a_thread(text))
    await gate.until(lambda: gate.working == CONCURRENCY)
    await ask("next", a_thread("0"))
    await ask("other", a_thread("other"))
    draining = asyncio.create_task(dispatcher.drain(20.0))
    await asyncio.sleep(0)
    await gate.let_all()
    await draining
    assert sorted(gate.ended) == sorted(gate.started) == texts
    left = [run.id for run in await store.unfinished(datetime.now(UTC))]
    assert left == ["run-next", "run-other"]


@pytest.mark.parametrize("texts", ["", "a"])
async def test_nothing_of_it_goes_on_once_it_is_left(
    open_one: Open, store: Store, gate: Gate, texts: str
) -> None:
    gate.open = True
    before = asyncio.all_tasks()
    async with open_one(gate, **SERVING):
        for text in texts:
            await store.accept("run-a", a_message(text), RunOptions(), NOW)
            await gate.until(lambda: gate.ended == ["a"])
    assert asyncio.all_tasks() - before == set()


async def test_a_restart_reaches_the_work_here_before_anybody_looks(
    open_one: Open, store: Store, gate: Gate
) -> None:
    async with open_one(gate, timing=Timing(look=600.0)) as one:
        await store.accept(
            "run-a", a_message("a", event_id="a"), RunOptions(), NOW, owner=one.owner
        )
        await one.submit("run-a", a_thread())
        await gate.until(lambda: gate.working == 1)
        begun = await Conversations(store.database).edit(
            "terminal", "a", "edited", (), datetime.now(UTC), owner=one.owner, lease=NO_TIME
        )
        assert begun is not None
        await one.restart(*begun)
        await gate.let_all()
        await gate.until(lambda: gate.ended == ["edited"])


async def test_a_follow_up_begins_when_its_thread_is_free_and_not_when_somebody_looks(
    name: str, open_one: Open, store: Store, gate: Gate
) -> None:
    seldom = {"poll_seconds": 600.0} if name == "postgres" else {}
    async with open_one(gate, **seldom) as dispatcher:
        for text in "ab":
            run_id, _ = await store.accept(f"run-{text}", a_message(text), RunOptions(), NOW)
            await dispatcher.submit(run_id, a_thread())
        await gate.until(lambda: gate.working == 1)
        await gate.let("a")
        await gate.until(lambda: gate.started == ["a", "b"])
        await gate.let_all()
        await gate.until(lambda: gate.ended == ["a", "b"])


# ---------------------------------------------------------------- beside another process


@pytest.fixture
async def other(open_one: Open, dispatcher: Dispatcher, gate: Gate) -> AsyncIterator[Dispatcher]:
    """A second process; the gate sees what both do."""
    async with open_one(gate) as other:
        yield other


async def test_one_thread_goes_in_order_through_two_processes(
    gate: Gate, ask: Ask, store: Store, other: Dispatcher
) -> None:
    await ask("a", a_thread())
    await store.accept("run-b", a_message("b"), RunOptions(), NOW, owner=other.owner)
    await other.submit("run-b", a_thread())
    await gate.until(lambda: gate.working == 1)
    await gate.let("b")
    await ask("elsewhere", a_thread("other"))
    await gate.let("elsewhere")
    await gate.until(lambda: gate.ended == ["elsewhere"])
    await gate.let("a")
    await gate.until(lambda: gate.ended == ["elsewhere", "a", "b"])


async def test_a_run_submitted_in_two_processes_executes_once(
    gate: Gate, ask: Ask, other: Dispatcher
) -> None:
    run_id = await ask("a", a_thread())
    await other.submit(run_id, a_thread())
    await gate.until(lambda: gate.working == 1)
    await other.submit(run_id, a_thread())
    await gate.let_all()
    await gate.until(lambda: gate.ended == ["a"])
    await ask("later", a_thread())  # behind whatever is left of it
    await gate.until(lambda: gate.ended == ["a", "later"])
    assert gate.started == ["a", "later"]


async def test_another_process_stops_what_works(
    gate: Gate, ask: Ask, store: Store, other: Dispatcher
) -> None:
    run_id = await ask("a", a_thread())
    await gate.until(lambda: gate.working == 1)
    await other.request_stop(run_id)
    await gate.until(lambda: gate.ended == ["a"])
    assert (gate.stopped, await state_of(store, run_id)) == (["a"], "stopped")


async def test_another_process_stops_what_waits_for_its_turn(
    gate: Gate, ask: Ask, store: Store, other: Dispatcher
) -> None:
    await ask("a", a_thread())
    run_id = await ask("b", a_thread())
    await gate.until(lambda: gate.working == 1)
    await other.request_stop(run_id)
    await gate.until(lambda: gate.ended == ["b"])
    assert (gate.stopped, await state_of(store, run_id)) == (["b"], "stopped")
    assert gate.working == 1


@pytest.mark.parametrize("by_the_other", [False, True], ids=["same", "other"])
async def test_a_run_that_begins_anew_ends_its_work_and_is_redone_once(
    gate: Gate,
    ask: Ask,
    store: Store,
    dispatcher: Dispatcher,
    other: Dispatcher,
    by_the_other: bool,
) -> None:
    editing = other if by_the_other else dispatcher
    await ask("a", a_thread())
    await gate.until(lambda: gate.working == 1)
    begun = await Conversations(store.database).edit(
        "terminal",
        "a",
        "edited",
        (),
        datetime.now(UTC),
        owner=editing.owner,
        lease=timedelta(seconds=30),
    )
    assert begun is not None
    await editing.restart(*begun)
    await gate.until(lambda: "edited" in gate.started and gate.working == 1)
    await gate.let_all()
    await gate.until(lambda: gate.ended == ["edited"])
    await ask("later", a_thread())
    await gate.until(lambda: gate.ended == ["edited", "later"])
    assert gate.started == ["a", "edited", "later"]


async def test_an_attempt_that_comes_back_when_its_run_is_anothers_ends_without_a_word(
    open_one: Open, store: Store, gate: Gate
) -> None:
    # Neither renews its lease nor looks, as if it had been suspended.
    async with open_one(gate, timing=Timing(lease=0.0, renew=600.0, look=600.0)) as suspended:
        await store.accept("run-a", a_message("a"), RunOptions(), NOW, owner=suspended.owner)
        await suspended.submit("run-a", a_thread())
        await gate.until(lambda: gate.working == 1)
        elsewhere = "another-host/1/x"
        await store.claim("run-a", elsewhere, datetime.now(UTC), timedelta(seconds=30))
        await gate.let("a")
        await gate.until(lambda: gate.working == 0)
        assert gate.ended == []
        await store.end("run-a", 2, "answered", NOW)
    assert await state_of(store, "run-a") == "answered"


async def test_an_attempt_whose_lease_ran_out_goes_on_if_nobody_took_its_run(
    open_one: Open, store: Store, gate: Gate
) -> None:
    async with open_one(gate, timing=Timing(lease=0.0, renew=600.0, look=600.0)) as late:
        await store.accept("run-a", a_message("a"), RunOptions(), NOW, owner=late.owner)
        await late.submit("run-a", a_thread())
        await gate.let("a")
        await gate.until(lambda: gate.ended == ["a"])
    assert await state_of(store, "run-a") == "answered"


# ---------------------------------------------------------------- failing


class Faulty(Gate):
    """Fails so many times before it works."""

    def __init__(self, store: Store, failures: int, error: Exception) -> None:
        super().__init__(store, open=True)
        self.failures, self.error = failures, error

    async def answer(self, run: RunRecord, stop: asyncio.Event) -> None:
        if len(self.tried) < self.failures:
            await self._tell(lambda: self.tried.append(run.message.text))
            raise self.error
        await super().answer(run, stop)


BROKEN = [StorageUnavailable("The disk is full: free some space."), BrokenPipeError("gone")]


@pytest.mark.parametrize("error", BROKEN)
async def test_a_run_that_cannot_be_ended_is_given_back_and_keeps_its_place(
    open_one: Open, store: Store, error: Exception
) -> None:
    gate = Faulty(store, 100, error)
    async with open_one(gate, timing=replace(QUICK, first_retry=600.0, last_retry=600.0)) as one:
        for text in "ab":
            run_id, _ = await store.accept(f"run-{text}", a_message(text), RunOptions(), NOW)
            await one.submit(run_id, a_thread())
        await gate.until(lambda: gate.tried != [])
    assert "b" not in gate.tried
    assert [run.id for run in await store.unfinished(datetime.now(UTC))] == ["run-a", "run-b"]


class Away(Store):
    """Runs cannot be given back so many times."""

    def __init__(self, store: Store, times: int) -> None:
        super().__init__(store.database)
        self.times = times

    async def release(self, run_id: str, attempt: int) -> None:
        self.times -= 1
        if self.times >= 0:
            raise StorageUnavailable("The database cannot be reached: check that it runs.")
        await super().release(run_id, attempt)


async def test_a_run_that_could_not_be_given_back_is_given_back_later(
    name: str, url: str, store: Store
) -> None:
    away = Away(store, 2)
    gate = Faulty(away, 100, BROKEN[0])
    patient = replace(QUICK, first_retry=600.0, last_retry=600.0)
    async with DISPATCHERS[name][0](url, away, gate, timing=patient) as one:
        run_id, _ = await store.accept("run-a", a_message("a"), RunOptions(), NOW)
        await one.submit(run_id, a_thread())
        await gate.until(lambda: gate.tried != [])
        async with asyncio.timeout(60):
            while not await store.unfinished(datetime.now(UTC)):
                await asyncio.sleep(0.02)
    assert away.times < 0


@pytest.mark.parametrize("error", BROKEN)
async def test_whoever_waits_here_is_told_what_went_wrong(store: Store, error: Exception) -> None:
    waiting = []
    async with LocalDispatcher(store, Faulty(store, 100, error), CONCURRENCY) as dispatcher:
        for text in "ab":
            run_id, _ = await store.accept(f"run-{text}", a_message(text), RunOptions(), NOW)
            await dispatcher.submit(run_id, a_thread())
            waiting.append(asyncio.create_task(dispatcher.wait(run_id)))  # before it can end
        for task in waiting:
            with pytest.raises(type(error)):
                await task


async def test_a_run_that_failed_is_tried_again_while_serving(open_one: Open, store: Store) -> None:
    gate = Faulty(store, 2, PlatformUnavailable("Slack does not answer."))
    async with open_one(gate, timing=replace(QUICK, first_retry=0.01), **SERVING) as dispatcher:
        await store.accept("run-a", a_message("a"), RunOptions(), NOW, owner=dispatcher.owner)
        await dispatcher.submit("run-a", a_thread())
        await gate.until(lambda: gate.ended == ["a"])
    assert gate.tried == ["a", "a"]
    assert await state_of(store, "run-a") == "answered"


async def test_a_run_that_just_failed_is_left_in_peace_for_as_long_as_its_peer_asks(
    open_one: Open, store: Store
) -> None:
    gate = Faulty(store, 1, PlatformUnavailable("Slack is rate limiting.", retry_after=600.0))
    at_once = replace(QUICK, first_retry=0.0, last_retry=0.0)
    async with open_one(gate, timing=at_once) as dispatcher:
        await store.accept("run-a", a_message("a"), RunOptions(), NOW, owner=dispatcher.owner)
        await dispatcher.submit("run-a", a_thread())
        await gate.until(lambda: gate.tried == ["a"])
        async with asyncio.timeout(60):
            while (await dispatcher.condition()).working:  # on the failure
                await asyncio.sleep(0)
        for text in "bc":
            elsewhere = a_thread(text)
            await store.accept(f"run-{text}", a_message(text, elsewhere), RunOptions(), NOW)
            await dispatcher.submit(f"run-{text}", elsewhere)
            await gate.until(lambda text=text: text in gate.ended)  # type: ignore[misc]
            assert await dispatcher.resume() == []
    assert (gate.tried, gate.started) == (["a"], ["b", "c"])
    assert await state_of(store, "run-a") == "running"


async def test_a_run_that_no_queue_knows_is_found_while_serving(
    open_one: Open, store: Store, gate: Gate
) -> None:
    gate.open = True
    async with open_one(gate, **SERVING):
        await store.accept("run-a", a_message("a"), RunOptions(), NOW)
        await gate.until(lambda: gate.ended == ["a"])
    assert await state_of(store, "run-a") == "answered"


# ---------------------------------------------------------------- for whoever watches


async def test_it_tells_how_many_runs_it_works_on(
    name: str, gate: Gate, ask: Ask, dispatcher: Dispatcher
) -> None:
    ids = [await ask(text, a_thread(text)) for text in "ab"]
    await gate.until(lambda: gate.working == 2)
    condition = await dispatcher.condition()
    assert (condition.working, condition.trouble, condition.advice) == (2, "", "")
    assert condition.workers == (1 if name == "postgres" else None)
    await gate.let_all()
    for run_id in ids:
        await dispatcher.wait(run_id)
    async with asyncio.timeout(60):
        while (await dispatcher.condition()).working:
            await asyncio.sleep(0.01)
