"""What every dispatcher keeps to: order in a thread, threads in parallel, a bound, stop, resume.

A new dispatcher starts here: add it to ``DISPATCHERS``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.dispatch.local import LocalDispatcher
from bot.errors import PlatformUnavailable, StorageUnavailable
from bot.messages import RunOptions, Thread
from bot.storage.store import RunRecord, Store, open_store
from tests.unit.samples import NOW, a_message, a_thread

CONCURRENCY = 3


@dataclass
class Gate:
    """An executor whose runs wait for the test: it sees who works and lets them end."""

    store: Store
    started: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    working: int = 0
    most: int = 0
    open: bool = False
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    passes: set[str] = field(default_factory=set)

    async def answer(self, run: RunRecord, stop: asyncio.Event) -> None:
        text = run.message.text
        await self._tell(lambda: self._begin(text))
        try:
            stopping = asyncio.create_task(stop.wait())
            passing = asyncio.create_task(self.until(lambda: self.open or text in self.passes))
            _, late = await asyncio.wait({stopping, passing}, return_when=asyncio.FIRST_COMPLETED)
            for task in late:
                task.cancel()
            if stop.is_set():
                self.stopped.append(text)
        finally:
            self.working -= 1
        state = "stopped" if stop.is_set() else "answered"
        await self.store.end(run.id, run.attempt, state, NOW)
        await self._tell(lambda: self.ended.append(text))

    def _begin(self, text: str) -> None:
        self.started.append(text)
        self.working += 1
        self.most = max(self.most, self.working)

    async def let(self, *texts: str) -> None:
        await self._tell(lambda: self.passes.update(texts))

    async def let_all(self) -> None:
        self.open = True
        await self._tell(lambda: None)

    async def until(self, happened: Callable[[], bool]) -> None:
        async with asyncio.timeout(20), self.changed:
            await self.changed.wait_for(happened)

    async def _tell(self, change: Callable[[], None]) -> None:
        async with self.changed:
            change()
            self.changed.notify_all()


def local(store: Store, gate: Gate) -> LocalDispatcher:
    return LocalDispatcher(store, gate, CONCURRENCY)


DISPATCHERS: dict[str, Callable[[Store, Gate], AbstractAsyncContextManager[LocalDispatcher]]] = {
    "local": local
}


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await open_store(f"sqlite+aiosqlite:///{tmp_path / 'footnote.sqlite'}")
    yield store
    await store.close()


@pytest.fixture
def gate(store: Store) -> Gate:
    return Gate(store)


@pytest.fixture(params=DISPATCHERS)
async def dispatcher(
    request: pytest.FixtureRequest, store: Store, gate: Gate
) -> AsyncIterator[LocalDispatcher]:
    async with DISPATCHERS[request.param](store, gate) as dispatcher:
        yield dispatcher


Ask = Callable[[str, Thread], Awaitable[str]]


@pytest.fixture
def ask(store: Store, dispatcher: LocalDispatcher) -> Ask:
    async def accept_and_submit(text: str, thread: Thread) -> str:
        run_id, _ = await store.accept(f"run-{text}", a_message(text, thread), RunOptions(), NOW)
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
    gate: Gate, ask: Ask, dispatcher: LocalDispatcher
) -> None:
    run_id = await ask("a", a_thread())
    await dispatcher.submit(run_id, a_thread())
    await gate.let_all()
    await gate.until(lambda: gate.ended == ["a"])
    await dispatcher.submit(run_id, a_thread())
    await dispatcher.wait(run_id)
    assert gate.started == ["a"]


async def test_a_working_run_stops_and_only_then_the_thread_goes_on(
    gate: Gate, ask: Ask, store: Store, dispatcher: LocalDispatcher
) -> None:
    run_id = await ask("a", a_thread())
    await ask("b", a_thread())
    await gate.until(lambda: gate.working == 1)
    await dispatcher.stop(run_id)
    assert gate.stopped == ["a"]
    assert await state_of(store, run_id) == "stopped"
    await gate.until(lambda: gate.started == ["a", "b"])


async def test_a_queued_run_that_is_stopped_ends_at_once_and_the_others_stay_in_order(
    gate: Gate, ask: Ask, store: Store, dispatcher: LocalDispatcher
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


async def test_a_run_waits_for_the_one_before_it_in_another_process(
    gate: Gate, ask: Ask, store: Store, dispatcher: LocalDispatcher
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
    run_id = await ask("a", a_thread())
    await gate.until(lambda: gate.working == 1)
    await store.request_stop(run_id)
    await gate.until(lambda: gate.ended == ["a"])
    assert gate.stopped == ["a"]


async def test_unfinished_runs_are_resumed_oldest_first(
    gate: Gate, store: Store, dispatcher: LocalDispatcher
) -> None:
    for text in "abc":
        await store.accept(f"run-{text}", a_message(text), RunOptions(), NOW)
    await store.claim("run-a", "another-host/1/x", NOW - timedelta(hours=1), timedelta(seconds=30))
    assert await dispatcher.resume() == ["run-a", "run-b", "run-c"]
    await gate.let_all()
    await gate.until(lambda: gate.ended == ["a", "b", "c"])


async def test_a_run_that_another_process_works_on_is_left_to_it(
    gate: Gate, store: Store, dispatcher: LocalDispatcher
) -> None:
    run_id, _ = await store.accept("run-a", a_message("a"), RunOptions(), NOW)
    await store.claim(run_id, "another-host/1/x", datetime.now(UTC), timedelta(seconds=30))
    assert await dispatcher.resume() == []
    await dispatcher.submit(run_id, a_thread())
    await dispatcher.wait(run_id)
    assert gate.started == []


async def test_draining_gives_working_runs_back_and_starts_no_more(
    gate: Gate, ask: Ask, store: Store, dispatcher: LocalDispatcher
) -> None:
    first = await ask("a", a_thread())
    second = await ask("b", a_thread())
    await gate.until(lambda: gate.working == 1)
    await dispatcher.drain()
    assert gate.working == 0
    assert gate.ended == []
    free = await store.unfinished(datetime.now(UTC))
    assert [run.id for run in free] == [first, second]


async def test_draining_with_time_lets_working_runs_end(
    gate: Gate, ask: Ask, store: Store, dispatcher: LocalDispatcher
) -> None:
    run_id = await ask("a", a_thread())
    await gate.until(lambda: gate.working == 1)
    draining = asyncio.create_task(dispatcher.drain(20.0))
    await gate.let("a")
    await draining
    assert await state_of(store, run_id) == "answered"


@pytest.mark.parametrize(
    "error", [StorageUnavailable("The disk is full: free some space."), BrokenPipeError("gone")]
)
async def test_a_run_that_cannot_be_ended_is_given_back_and_the_thread_goes_on(
    store: Store, error: Exception
) -> None:
    class Failing:
        async def answer(self, run: RunRecord, stop: asyncio.Event) -> None:
            raise error

    async with LocalDispatcher(store, Failing(), CONCURRENCY) as dispatcher:
        for text in "ab":
            run_id, _ = await store.accept(f"run-{text}", a_message(text), RunOptions(), NOW)
            await dispatcher.submit(run_id, a_thread())
        for run_id in ("run-a", "run-b"):
            with pytest.raises(type(error)):
                await dispatcher.wait(run_id)
        assert [run.id for run in await store.unfinished(datetime.now(UTC))] == ["run-a", "run-b"]


# ---------------------------------------------------------------- serving: what is left is resumed


class Faulty(Gate):
    """Fails so many times before it works."""

    def __init__(self, store: Store, failures: int, error: Exception) -> None:
        super().__init__(store, open=True)
        self.failures, self.error = failures, error
        self.attempts = 0

    async def answer(self, run: RunRecord, stop: asyncio.Event) -> None:
        self.attempts += 1
        if self.attempts <= self.failures:
            raise self.error
        await super().answer(run, stop)


async def test_a_run_that_failed_is_tried_again_while_serving(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.dispatch.local.FIRST_RETRY_SECONDS", 0.0)
    monkeypatch.setattr("bot.dispatch.local.STOP_POLL_SECONDS", 0.01)
    gate = Faulty(store, 2, PlatformUnavailable("Slack does not answer."))
    async with LocalDispatcher(store, gate, CONCURRENCY, sweep_seconds=0.01) as dispatcher:
        await store.accept("run-a", a_message("a"), RunOptions(), NOW, owner=dispatcher.owner)
        await dispatcher.submit("run-a", a_thread())
        await gate.until(lambda: gate.ended == ["a"])
    assert gate.attempts == 3
    assert await state_of(store, "run-a") == "answered"


async def test_a_run_that_just_failed_is_left_in_peace_for_as_long_as_its_peer_asks(
    store: Store,
) -> None:
    error = PlatformUnavailable("Slack is rate limiting.", retry_after=600.0)
    gate = Faulty(store, 1, error)
    async with LocalDispatcher(store, gate, CONCURRENCY) as dispatcher:
        await store.accept("run-a", a_message("a"), RunOptions(), NOW, owner=dispatcher.owner)
        await dispatcher.submit("run-a", a_thread())
        with pytest.raises(PlatformUnavailable):
            await dispatcher.wait("run-a")
        assert await dispatcher.resume() == []
    assert await state_of(store, "run-a") == "running"


async def test_a_run_left_by_another_process_is_found_while_serving(
    store: Store, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.dispatch.local.STOP_POLL_SECONDS", 0.01)
    gate.open = True
    async with LocalDispatcher(store, gate, CONCURRENCY, sweep_seconds=0.01):
        await store.accept("run-a", a_message("a"), RunOptions(), NOW)
        await gate.until(lambda: gate.ended == ["a"])
    assert await state_of(store, "run-a") == "answered"
